"""The trace-norm path: min R(A) + α‖A‖_tr for a falling sequence of α, each with a duality gap.

The dual of the problem is max −R*(Θ) over Θ with σ₁(Θ) ≤ α. At Θ = c ∇R(A), c ≤ α / σ₁(∇R(A)), its
value is, for the squared loss, c (2 − c) R(A) − c ⟨∇R(A), A⟩: no pass over the data beyond the
gradient's own. For other losses with a conjugate a few passes find a good c; without one, R ≥ 0
gives at least c (R(A) − ⟨∇R(A), A⟩) for c ≤ 1. See `Certificate`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pygeco.algorithm.certificates import certify
from pygeco.algorithm.directions import Lanczos
from pygeco.algorithm.path import StepSequence, Stop
from pygeco.algorithm.penalties import Trace
from pygeco.algorithm.run import minimize
from pygeco.algorithm.solver import Solver
from pygeco.algorithm.symmetric import adapt_direction
from pygeco.arrays.blas_threads import one_blas_thread
from pygeco.arrays.checks import check_rank
from pygeco.arrays.kinds import host, moved
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.arrays.streams import Purpose, RandomState, seed_from, stream
from pygeco.objectives.base import Objective
from pygeco.objectives.entries.objective import Entries
from pygeco.objectives.scaled import scale_matrix, scale_objective

RELATIVE_ROUNDING = 16 * np.finfo(float).eps


class TraceStep(NamedTuple):
    """The solution at one α.

    Attributes
    ----------
    alpha : float
        The weight of the trace norm.
    A : LowRank
        The matrix.
    objective : float
        R(A) + α‖A‖_tr.
    gap : float
        The objective exceeds the global minimum by at most this; infinite if nothing is known,
        as for a `Custom` objective that may be negative.
    stop : Stop
        `Stop.OPTIMAL`, or why not.
    error : float
        The root mean squared error on the validation cells, NaN without them.
    seconds : float
        Since the start of the path.
    rank : int
        The rank of A.
    """

    alpha: float
    A: LowRank
    objective: float
    gap: float
    stop: Stop
    error: float
    seconds: float

    @property
    def rank(self) -> int:
        return self.A.rank


@dataclass(frozen=True, eq=False)
class TracePath(StepSequence[TraceStep]):
    """A sequence with one step for each α, the largest first.

    Attributes
    ----------
    steps : tuple of TraceStep
        In order.
    best : TraceStep
        The one with the least validation error.
    """

    steps: tuple[TraceStep, ...]

    @property
    def best(self) -> TraceStep:
        errors = [step.error for step in self.steps]
        if np.isnan(errors).any():
            raise ValueError("validation: no cells were given to trace_path, so none is best.")
        return self.steps[int(np.argmin(errors))]

    def __repr__(self) -> str:
        lines = ["alpha        rank  objective     gap at most   error     stopped"]
        lines += [
            f"{t.alpha:<11.4g}  {t.rank:4d}  {t.objective:<12.6g}  {_gap_words(t):<13} "
            f"{t.error:<8.4g}  {t.stop.name}"
            for t in self.steps
        ]
        return "\n".join(lines)


def _gap_words(step: TraceStep) -> str:
    nothing = np.isinf(step.gap) or step.gap >= step.objective > 0
    return "nothing known" if nothing else f"{step.gap:.4g}"


class Dual(NamedTuple):
    """What the dual says of A.

    Attributes
    ----------
    objective : float
        R(A) + α‖A‖_tr.
    gap : float
        How far above the global minimum it may be.
    sigma : float
        A bound on σ₁(∇R(A)).
    """

    objective: float
    gap: float
    sigma: float


def duality_gap(
    objective: Objective,
    A: LowRank,
    penalty: Trace,
    *,
    tol: float = 1e-7,
    random_state: RandomState = 0,
) -> Dual:
    """Measure R(A) + α‖A‖_tr minus a lower bound on its global minimum.

    The dual point is c ∇R(A) with the best c ≤ α / σ₁ that is known, see `Certificate`; without a
    conjugate of the loss and without R ≥ 0, c = 1 alone, and an infinite gap where σ₁ > α. σ₁ is
    bounded above: with probability at least 0.999 over the random start, and surely when Lanczos
    ends by itself. Two passes for the gradient, Lanczos's, a few for c unless the loss is squared.

    Parameters
    ----------
    objective, A : Objective, LowRank
        R, and the matrix that is judged.
    penalty : Trace
        With α, and γ where the norm is weighted.
    tol : float, default=1e-7
        The relative precision of σ₁.
    random_state : int, Generator or None, default=0
        Of the start of Lanczos.

    Returns
    -------
    Dual
        `objective`, `gap` and `sigma`.

    Examples
    --------
    >>> import numpy as np
    >>> from pygeco import Dense, LowRank, Trace, duality_gap
    >>> found = duality_gap(Dense(np.eye(3)), LowRank.zero((3, 3)), Trace(0.1))
    >>> bool(0 < found.gap < found.objective)
    True
    """
    objective = scale_objective(_to_double(objective), penalty.gamma)
    A = scale_matrix(objective, moved(A, objective.kind)).svd()
    rng = stream(Purpose.TRACE_GAP, seed_from(random_state))
    with one_blas_thread():
        G = objective.gradient(A)
        pair = adapt_direction(Lanczos(tol, 500), objective)(G, rng)
        pair = pair._replace(upper=pair.upper * (1 + RELATIVE_ROUNDING))
        gap = certify(objective, A, G, pair, penalty=penalty, s=A.s).gap(np.inf)
    value = G.value + penalty.value(A.s)
    return Dual(value, gap + RELATIVE_ROUNDING * abs(value), pair.upper)


def trace_path(
    objective: Objective,
    *,
    alphas: ArrayLike | None = None,
    count: int = 20,
    ratio: float = 1e-2,
    rank: int | None = None,
    gamma: float = 0.0,
    validation: tuple[ArrayLike, ArrayLike, ArrayLike] | None = None,
    solver: Solver | None = None,
    random_state: int | np.random.Generator | None = 0,
) -> TracePath:
    """Minimize R(A) + α‖A‖_tr for falling values of α, each from the solution before.

    Any objective will do: `Entries` and `Dense` are fitted by sweeps, the others by descent.
    Everything is computed in float64.

    Parameters
    ----------
    objective : Objective
        R.
    alphas : array or None, default=None
        The weights; None is `count` values that fall from α_max = σ₁(∇R(0)), where A = 0 is
        optimal, to `ratio` α_max.
    count, ratio : int, default=20, and float, default=1e-2
        The number of weights, and the ratio of the last to the first, if `alphas` is None.
    rank : int or None, default=None
        The highest rank. A step that reaches it stops with `Stop.RANK`, others with
        `Stop.OPTIMAL`.
    gamma : float, default=0.0
        Weights the norm, see `Trace`.
    validation : (rows, cols, values) or None, default=None
        Cells that judge each step; `path.best` is the step with the smallest error on them.
    solver : Solver or None, default=None
        Settings of the algorithm, except the correction.
    random_state : int, Generator or None, default=0
        The same seed gives the same bits.

    Returns
    -------
    TracePath
        One step for each α.

    Examples
    --------
    >>> import numpy as np
    >>> from pygeco import Dense, trace_path
    >>> path = trace_path(Dense(np.diag([3.0, 2.0, 1.0])), alphas=[0.5, 0.25])
    >>> [(step.alpha, step.rank) for step in path]
    [(0.5, 1), (0.25, 2)]
    """
    correction = "sweep" if objective.can_sweep else "descent"
    solver = replace(Solver() if solver is None else solver, correction=correction)
    objective = _to_double(objective)
    rank = min(objective.shape) if rank is None else rank
    held = None if validation is None else _check_cells(objective.shape, *validation)
    seed = seed_from(random_state)
    if alphas is None:
        grid = _make_grid(objective, gamma, count, ratio, seed)
    else:
        grid = _check_alphas(alphas)
    began, A, steps = time.perf_counter(), LowRank.zero(objective.shape, objective.kind), []
    for alpha in grid:
        penalty = Trace(float(alpha), gamma)
        path = minimize(objective, rank, solver, penalty=penalty, start=A, random_state=seed)
        A = path.A if len(path) else A
        dual = duality_gap(objective, A, penalty, tol=solver.tol / 10, random_state=seed)
        error = np.nan if held is None else _measure_error(A, *held)
        seconds = time.perf_counter() - began
        found = dual.objective, dual.gap, path.stop, error, seconds
        steps.append(TraceStep(float(alpha), A, *found))
    return TracePath(tuple(steps))


def _make_grid(objective: Objective, gamma: float, count: int, ratio: float, seed: int) -> Array:
    check_rank(count, name="count")
    if not 0 < ratio < 1:
        raise ValueError(f"ratio: must be between 0 and 1, not {ratio!r}.")
    zero = LowRank.zero(objective.shape, objective.kind)
    top = duality_gap(objective, zero, Trace(0.0, gamma), random_state=seed).sigma
    if not top > 0:
        raise ValueError(
            "objective: its gradient at 0 is zero, so A = 0 is optimal for each alpha."
        )
    return top * np.geomspace(1.0, ratio, count)


def _check_alphas(alphas: ArrayLike) -> Array:
    grid = np.atleast_1d(np.asarray(alphas, dtype=float))
    if grid.ndim != 1 or len(grid) == 0 or not (np.isfinite(grid).all() and grid.min() > 0):
        raise ValueError("alphas: expected one or more finite numbers > 0.")
    return np.sort(grid)[::-1]


def _check_cells(
    shape: tuple[int, int], rows: ArrayLike, cols: ArrayLike, values: ArrayLike
) -> tuple[Array, Array, Array]:
    i, j, y = np.asarray(rows), np.asarray(cols), np.asarray(values, dtype=float)
    if not (i.shape == j.shape == y.shape and y.ndim == 1 and len(y)):
        raise ValueError("validation: expected (rows, cols, values) of one length, at least 1.")
    for name, index, size in zip(("row", "column"), (i, j), shape, strict=True):
        if index.dtype.kind not in "iu":
            raise ValueError(f"validation: expected integers as {name}s, not {index.dtype}.")
        wrong = index[(index < 0) | (index >= size)]
        if len(wrong):
            raise ValueError(f"validation: {name} {wrong[0]} is outside 0 … {size - 1}.")
    if not np.isfinite(y).all():
        raise ValueError("validation: has values that are NaN or infinity; drop those cells.")
    return i, j, y


def _measure_error(A: LowRank, rows: Array, cols: Array, values: Array) -> float:
    return float(np.sqrt(np.mean((host(A.entries(rows, cols)) - values) ** 2)))


def _to_double(objective: Objective) -> Objective:
    if not isinstance(objective, Entries) or objective.dtype == np.float64:
        return objective
    return objective.standardize(0.0, 1.0, float)
