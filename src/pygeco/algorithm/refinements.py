"""Descent over both factors at a fixed rank, which a core cannot do: spans move too.

Greedy growth keeps the directions that it once chose. `R(L Rᵀ)` over all L (m, s) and R (n, s) is
not convex, but a step that does not raise it, and the core after it, keep those of Theorem 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
import scipy  # scipy.optimize is imported when used

from pygeco.algorithm.coordinates import (
    NO_EASE,
    Ease,
    find_ease,
    find_linear_ease,
    split_evenly,
    weigh_components,
)
from pygeco.algorithm.last_steps import settle_slope
from pygeco.algorithm.penalties import Penalty, Trace
from pygeco.arrays.kinds import HOST, host, moved
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.arrays.operators import Operator
from pygeco.objectives.base import Objective
from pygeco.objectives.measured import Measured, MeasuredGradient
from pygeco.objectives.risk import Risk

DESCENT_TOLERANCE = 1e-10
MAX_ITERATIONS = 500
MAX_LAST_SHARE = 4  # of the calls of a descent, for its last steps


class Linear(Protocol):
    """A dense or sparse matrix: its product and its transpose."""

    @property
    def T(self) -> Linear: ...
    def __matmul__(self, other: Array, /) -> Array: ...


class Free(NamedTuple):
    """A linear part F c that is fitted with A but does not count in its rank: z = 𝓜(A) + F c.

    F (N, q), c (q, K), and ridge ‖c‖² with a weight for each row of c.
    """

    F: Linear
    c: Array
    ridge: Array


class Refined(NamedTuple):
    """Where a descent ended, and how many passes over the data it took."""

    A: LowRank
    c: Array
    passes: int


def refine(
    objective: Objective, A: LowRank, penalty: Penalty | None, tol: float = DESCENT_TOLERANCE
) -> Refined:
    """A local minimum of R + h over both factors, started at A. L-BFGS, one gradient a step.

    Stops once a step lowers the objective by less than `tol` of it.
    Intercepts move along. A penalty other than the ridge and the trace norm leaves A as it is.
    """
    if isinstance(objective, Measured) and objective.risk.intercept:
        ones = np.ones((len(objective.risk.weights), 1))
        b = objective.risk.settle(objective.measure(A))[1]
        free = Free(ones, b[None, :], np.zeros((1, 1)))
        return refine_jointly(objective, A, penalty, free, tol)

    def evaluate(A: LowRank, c: Array) -> tuple[float, Operator, Array]:
        G = objective.gradient(A)
        return G.value, G, c

    return _descend(evaluate, objective, A, penalty, np.zeros((0, 0)), tol)


def refine_jointly(
    objective: Measured,
    A: LowRank,
    penalty: Penalty | None,
    free: Free,
    tol: float = DESCENT_TOLERANCE,
) -> Refined:
    """The same over both factors and c; the objective's own intercepts are left to F.

    Stops once a step lowers the objective by less than `tol` of it.
    """
    risk, F = objective.risk, free.F

    def evaluate(A: LowRank, c: Array) -> tuple[float, Operator, Array]:
        at = objective.measure(A) + risk.offset + F @ c
        g = risk.slope(at)
        value = risk.value(at) + float(np.sum(free.ridge * c * c))
        G = MeasuredGradient(objective.shape, value, 0.0, *objective.pull(g))
        return value, G, F.T @ g + 2 * free.ridge * c

    z = objective.measure(A)
    at = z + risk.offset + F @ free.c
    h = risk.curvature(at, stiff=True).diagonal.mean(axis=1, keepdims=True)
    units = Units(
        _find_move(risk, at),
        float(np.linalg.norm(np.sqrt(risk.weights) * z)),
        find_linear_ease(F, h, free.ridge),
    )
    return _descend(evaluate, objective, A, penalty, free.c, tol, units)


class Units(NamedTuple):
    """How far predictions are to move, roughly, how large those of A are that is begun with, and
    the coordinates of c.
    """

    move: float
    size: float
    linear: Ease = NO_EASE


def _find_move(risk: Risk, at: Array) -> float:
    """|ℓ′| by ℓ″: of squares the mean residual."""
    bend = float(risk.curvature(at, stiff=True).diagonal.sum())
    move = float(np.abs(risk.slope(at)).sum()) / bend if bend > 0 else 0.0
    return move if 0 < move < np.inf else 1.0


def promise_decrease(
    objective: Measured, A: LowRank, penalty: Penalty | None, *, whole: bool
) -> float:
    """About how much R + h falls by one Newton step of Aᵀu for each u of A, or of the `whole` A."""
    G, ease = objective.gradient(A), find_ease(objective, A, penalty)
    U = np.eye(A.shape[0]) if whole else A.U
    slope = G.rmatmat(U)
    if penalty is not None and penalty.quadratic is not None:
        slope = slope + 2 * penalty.quadratic * ((A.V * A.s) @ (A.U.T @ U))
    return 0.5 * float(np.sum(ease.transpose(slope) ** 2))


def _descend(
    evaluate: Callable[[LowRank, Array], tuple[float, Operator, Array]],
    objective: Objective,
    A: LowRank,
    penalty: Penalty | None,
    c: Array,
    tol: float,
    units: Units | None = None,
) -> Refined:
    if not (penalty is None or penalty.quadratic is not None or isinstance(penalty, Trace)):
        return Refined(A, c, 0)
    ease = find_ease(objective, A, penalty)
    like, A = A.kind, moved(A, HOST)  # SciPy's descent runs on the host
    symmetric = objective.symmetric
    signs = np.where(np.sum(A.U * A.V, axis=0) < 0, -1.0, 1.0) if symmetric else np.ones(A.rank)
    sides = split_evenly(A, ease, symmetric=symmetric)
    linear = NO_EASE if units is None else units.linear
    # A symmetric A has no such shares: squares of both signs would run off beside each other.
    shares = np.ones(A.rank) if symmetric else weigh_components(sides[0], penalty)
    sizes = np.cumsum([side.size for side in sides])

    def unpack(x: Array) -> tuple[Array, Array, Array]:
        *flat, rest = np.split(x, sizes)
        L, *R = (x.reshape(y.shape) / shares for x, y in zip(flat, sides, strict=True))
        last = ease.apply(R[0] if R else L)
        return last if symmetric else L, last * signs, linear.apply(rest.reshape(c.shape))

    def both(x: Array) -> tuple[float, Array]:
        L, R, free = unpack(x)
        there = moved(LowRank.product(L, R), like)
        value, G, slope = evaluate(there, free)
        extra, left, right = _penalty_slopes(penalty, L, R)
        left = left + host(G.matmat(there.V))
        right = right + host(G.rmatmat(there.U))
        parts = (
            [ease.transpose(left + right * signs)] if symmetric else [left, ease.transpose(right)]
        )
        parts = [*(part / shares for part in parts), linear.transpose(slope)]
        return value + extra, np.concatenate([part.reshape(-1) for part in parts])

    begun = [*(side * shares for side in sides), linear.invert(c)]
    start = np.concatenate([part.reshape(-1) for part in begun])
    lengths = np.repeat(_find_lengths(sides[0], units), [sizes[-1], c.size])
    # Cells are many, and their fits need no more digits than values have.
    exact = isinstance(objective, Measured) and tol <= DESCENT_TOLERANCE
    found, calls = _minimize_in_units(both, start, lengths, tol, exact=exact)
    L, R, free = unpack(found)
    end = _eigenpairs(L, signs) if symmetric else LowRank.product(L, R).svd()
    return Refined(moved(end, like), free, (1 + 2 * A.rank) * (1 + calls))


def _find_lengths(side: Array, units: Units | None) -> tuple[float, float]:
    """How far the numbers of the factors are to move, and those of c, in their coordinates."""
    own = float(np.linalg.norm(np.sum(side**2, axis=0))) or 1.0  # of A
    if units is None:
        return np.sqrt(own), own
    further = own * units.move / (units.size or own)  # of A: each factor from nothing, or from A
    bend = float(units.linear.units.max())  # of the intercept, whose column is the largest
    return min(np.sqrt(further), further / np.sqrt(own)), bend * units.move


def _minimize_in_units(
    both: Callable[[Array], tuple[float, Array]],
    start: Array,
    units: Array,
    tol: float,
    *,
    exact: bool,
) -> tuple[Array, int]:
    """L-BFGS on numbers and values near one, and its calls: SciPy's `ftol` is a share of values
    above one alone, and its first step is of length one. `exact`: with Newton's last steps.
    """
    size = abs(both(start)[0]) or 1.0

    def scaled(x: Array) -> tuple[float, Array]:
        value, slope = both(units * x)
        return value / size, units * slope / size

    found = scipy.optimize.minimize(
        scaled,
        start / units,
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": MAX_ITERATIONS, "maxcor": 20, "ftol": tol, "gtol": 0.0},
    )
    calls = int(found.nfev)
    if not exact or found.nit >= MAX_ITERATIONS:
        return units * found.x, calls
    last = settle_slope(scaled, found.x, MAX_LAST_SHARE * calls)
    return units * last.x, calls + last.calls


def _penalty_slopes(penalty: Penalty | None, L: Array, R: Array) -> tuple[float, Array, Array]:
    """h(L Rᵀ) and its slopes; the trace norm as min ½(‖L‖² + ‖R‖²) over all factorizations."""
    if penalty is None:
        return 0.0, 0 * L, 0 * R
    if isinstance(penalty, Trace):
        half = 0.5 * penalty.alpha
        return half * float(np.sum(L * L) + np.sum(R * R)), 2 * half * L, 2 * half * R
    alpha = penalty.quadratic or 0.0
    left, right = L.T @ L, R.T @ R
    return alpha * float(np.sum(left * right)), 2 * alpha * L @ right, 2 * alpha * R @ left


def _eigenpairs(L: Array, signs: Array) -> LowRank:
    """L diag(signs) Lᵀ with orthonormal U, V = ±U and s ≥ 0, largest first."""
    Q, T = np.linalg.qr(L)
    values, E = np.linalg.eigh((T * signs) @ T.T)
    order = np.argsort(-np.abs(values), kind="stable")
    U = Q @ E[:, order]
    return LowRank(U, np.abs(values[order]), U * np.where(values[order] < 0, -1.0, 1.0))
