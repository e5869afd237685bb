"""Descent over both factors at a fixed rank, which a core cannot do: spans move too.

Greedy growth keeps the directions that it once chose. `R(L Rᵀ)` over all L (m, s) and R (n, s) is
not convex, but a step that does not raise it, and the core after it, keep those of Theorem 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
import scipy  # scipy.optimize is imported when used

from pygeco.algorithm.penalties import Penalty, Trace
from pygeco.arrays.kinds import HOST, host, moved
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.arrays.operators import Operator
from pygeco.objectives.base import Objective
from pygeco.objectives.measured import Measured, MeasuredGradient

DESCENT_TOLERANCE = 1e-10
MAX_ITERATIONS = 500


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
        free = Free(ones, objective.intercepts(A)[None, :], np.zeros((1, 1)))
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

    return _descend(evaluate, objective, A, penalty, free.c, tol)


def _descend(
    evaluate: Callable[[LowRank, Array], tuple[float, Operator, Array]],
    objective: Objective,
    A: LowRank,
    penalty: Penalty | None,
    c: Array,
    tol: float,
) -> Refined:
    if not (penalty is None or penalty.quadratic is not None or isinstance(penalty, Trace)):
        return Refined(A, c, 0)
    like, A = A.kind, moved(A, HOST)  # SciPy's descent runs on the host
    symmetric = objective.symmetric
    signs = np.where(np.sum(A.U * A.V, axis=0) < 0, -1.0, 1.0) if symmetric else np.ones(A.rank)
    shapes = [A.U.shape] if symmetric else [A.U.shape, A.V.shape]
    sizes = np.cumsum([np.prod(shape, dtype=int) for shape in shapes])

    def unpack(x: Array) -> tuple[Array, Array, Array]:
        *sides, rest = np.split(x, sizes)
        L = sides[0].reshape(shapes[0])
        R = L * signs if symmetric else sides[1].reshape(shapes[1])
        return L, R, rest.reshape(c.shape)

    def both(x: Array) -> tuple[float, Array]:
        L, R, free = unpack(x)
        there = moved(LowRank.product(L, R), like)
        value, G, slope = evaluate(there, free)
        extra, left, right = _penalty_slopes(penalty, L, R)
        left = left + host(G.matmat(there.V))
        right = right + host(G.rmatmat(there.U))
        parts = [left + right * signs] if symmetric else [left, right]
        return value + extra, np.concatenate([part.reshape(-1) for part in (*parts, slope)])

    root = np.sqrt(np.abs(A.s))
    sides = [A.U * root] if symmetric else [A.U * root * np.where(A.s < 0, -1, 1), A.V * root]
    start = np.concatenate([part.reshape(-1) for part in (*sides, c)])
    found = scipy.optimize.minimize(
        both,
        start,
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": MAX_ITERATIONS, "maxcor": 20, "ftol": tol, "gtol": 0.0},
    )
    L, R, free = unpack(found.x)
    end = _eigenpairs(L, signs) if symmetric else LowRank.product(L, R).svd()
    return Refined(moved(end, like), free, (1 + 2 * A.rank) * int(found.nfev))


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
