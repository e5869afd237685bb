"""Soft-Impute, and its form by alternating least squares.

R. Mazumder, T. Hastie and R. Tibshirani, "Spectral regularization algorithms for learning large
incomplete matrices", JMLR 11 (2010), Algorithm 1. T. Hastie, R. Mazumder, J. D. Lee and R. Zadeh,
"Matrix completion and low-rank SVD via fast alternating least squares", JMLR 16 (2015),
Algorithm 3.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from pygeco.algorithm.directions import Lanczos
from pygeco.algorithm.path import Path, Stop
from pygeco.arrays.checks import check_rank
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.arrays.operators import Operator
from pygeco.arrays.streams import RandomState
from pygeco.objectives.base import Objective
from pygeco.rivals.base import Callback, Iterate, Iterates, follow
from pygeco.rivals.singular import Triplets, distance, shrink, step_back


class Form(Protocol):
    """How A moves at one α: a start, sweeps until it rests, and what is handed out."""

    def start(self, A: LowRank, alpha: float, rng: np.random.Generator) -> LowRank: ...
    def sweep(self, A: LowRank, alpha: float, rng: np.random.Generator) -> Triplets: ...
    def clean(self, A: LowRank, alpha: float) -> LowRank: ...


def soft_impute(
    objective: Objective,
    rank: int,
    alphas: ArrayLike | None = None,
    *,
    als: bool = False,
    max_iter: int = 500,
    tol: float = 1e-5,
    random_state: RandomState = None,
    callback: Callback | None = None,
) -> Path:
    """Minimize R(A) + α‖A‖_tr for each α, the largest first, each from the last solution.

    A ← D_{α/β}(A − ∇R(A)/β): for the squared loss, unknown cells are filled from A and singular
    values lowered; the papers' λ is α|E|/2.

    Parameters
    ----------
    objective : Objective
        R.
    rank : int
        The highest rank; where it binds, the solution is not the convex optimum.
    alphas : array or None, default=None
        The weights; None is ten that fall from σ₁(∇R(0))/2 to a hundredth of that.
    als : bool, default=False
        Ridge regressions for V and for U, of `rank` columns, stand for D, and no singular vectors
        are sought.
    max_iter : int, default=500
        The most of them at one α.
    tol : float, default=1e-5
        An α ends when ‖A′ − A‖_F ≤ `tol` ‖A‖_F.
    random_state : int, Generator or None, default=None
        The same seed gives the same bits.
    callback : callable or None, default=None
        Called with each `Step`; if it returns true, the run stops.

    Returns
    -------
    Path
        One step an α.
    """
    rank = check_rank(rank, objective.shape)
    grid = None if alphas is None else np.sort(np.atleast_1d(np.asarray(alphas, float)))[::-1]
    if grid is not None and not (grid.ndim == 1 and len(grid) and np.all(grid > 0)):
        raise ValueError("alphas: expected one or more numbers > 0.")
    if not np.isfinite(objective.smoothness):
        raise ValueError(
            "objective: Soft-Impute steps by 1/β, and the smoothness β of this one is not known; "
            "use pygeco.minimize with Trace."
        )
    form: Form = Alternating(objective, rank) if als else Shrinking(objective, rank)

    def algorithm(rng: np.random.Generator) -> Iterates:
        return _soft_impute(objective, form, grid, max_iter, tol, rng)

    return follow(objective, algorithm, random_state, callback)


def _soft_impute(
    objective: Objective,
    form: Form,
    grid: Array | None,
    max_iter: int,
    tol: float,
    rng: np.random.Generator,
) -> Iterates:
    A, stop = LowRank.zero(objective.shape), Stop.CONVERGED
    if grid is None:
        top = Lanczos(0.01)(objective.gradient(A), rng).sigma
        grid = np.geomspace(0.5, 0.005, 10 if top > 0 else 0) * top
    for alpha in grid.tolist():
        A, passes = form.start(A, alpha, rng), 0
        for _ in range(max_iter):
            before, (A, more) = A, form.sweep(A, alpha, rng)
            passes += 2 + more
            if distance(A, before) <= tol * np.linalg.norm(A.s):
                break
        else:
            stop = Stop.ITERATIONS
        solution = form.clean(A, alpha)
        size = float(solution.s.sum())
        yield Iterate(solution, objective.gradient(solution), passes + 2, trace_norm=size)
    return stop


@dataclass(frozen=True, eq=False)
class Shrinking:
    """Soft-Impute proper: the filled matrix, its leading singular values lowered."""

    objective: Objective
    rank: int

    def start(self, A: LowRank, alpha: float, rng: np.random.Generator) -> LowRank:
        return A

    def sweep(self, A: LowRank, alpha: float, rng: np.random.Generator) -> Triplets:
        beta = self.objective.smoothness
        filled = step_back(A, self.objective.gradient(A), beta)
        return shrink(filled, alpha / beta, A.rank + 2, self.rank, rng)

    def clean(self, A: LowRank, alpha: float) -> LowRank:
        return A


@dataclass(frozen=True, eq=False)
class Alternating:
    """softImpute-ALS: with A = U diag(s) Vᵀ and X the filled matrix, Vᵀ ← diag(s/(s + λ)) UᵀX
    for orthonormal U, then U likewise, orthonormal again by an SVD after each.
    """

    objective: Objective
    rank: int

    def start(self, A: LowRank, alpha: float, rng: np.random.Generator) -> LowRank:
        """`rank` columns: those of A, and random ones; all with weight enough to grow again."""
        least = 0.1 * alpha / self.objective.smoothness
        extra = self.rank - A.rank
        sides = (
            np.linalg.qr(np.column_stack([Q, rng.standard_normal((len(Q), extra))]))[0]
            for Q in (A.U, A.V)
        )
        U, V = sides
        U[:, : A.rank], V[:, : A.rank] = A.U, A.V  # QR may have turned their signs
        return LowRank(U, np.maximum(np.append(A.s, np.zeros(extra)), least), V)

    def sweep(self, A: LowRank, alpha: float, rng: np.random.Generator) -> Triplets:
        A = LowRank.product(A.U, self._filled(A).rmatmat(A.U) * self._share(A, alpha)).svd()
        A = LowRank.product(self._filled(A).matmat(A.V) * self._share(A, alpha), A.V).svd()
        return Triplets(A, 4)

    def clean(self, A: LowRank, alpha: float) -> LowRank:
        """The filled matrix on the span of V, its singular values lowered by λ (step 5)."""
        A = LowRank.product(self._filled(A).matmat(A.V), A.V).svd()
        lowered = A.s - alpha / self.objective.smoothness
        return LowRank(A.U, lowered, A.V).truncate(int(np.count_nonzero(lowered > 0)))

    def _filled(self, A: LowRank) -> Operator:
        return step_back(A, self.objective.gradient(A), self.objective.smoothness)

    def _share(self, A: LowRank, alpha: float) -> Array:
        return A.s / (A.s + alpha / self.objective.smoothness)
