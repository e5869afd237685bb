"""The matrix K = Σ_j G_j ⊗ y_j y_jᵀ on cores, from its small Grams.

G (n, k, k), Y (n, t); K acts on C (k, t) as Σ_j G_j C y_j y_jᵀ. G and Y are of any kind, cores are
on the host.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy  # its parts are imported when used

from pygeco.arrays.kinds import host, inner, runs, times
from pygeco.arrays.low_rank import Array

GROUPS_AT_ONCE = 8192  # Grams that are multiplied in one product
# Up to this many unknowns the matrix is formed; beyond, it acts through the Grams.
MAX_FORMED_UNKNOWNS = 256


@dataclass(frozen=True, eq=False)
class Model:
    """C ↦ at + ⟨force, C − B⟩ + ⟨C − B, apply(C − B)⟩/2, whose largest curvature is `bend`."""

    B: Array
    at: float
    force: Array
    apply: Callable[[Array], Array]
    bend: float
    quadratic: bool = True

    def value(self, C: Array) -> float:
        D = C - self.B
        return self.at + float(np.sum((self.force + 0.5 * self.apply(D)) * D))

    def slope(self, C: Array) -> Array:
        return self.force + self.apply(C - self.B)

    def lipschitz(self) -> float:
        return self.bend


def form_curvature(grams: Array, Y: Array) -> Array:
    """K on vec(C), (k t, k t). O(n k² t² / 4): both factors are symmetric."""
    k, t = grams.shape[1], Y.shape[1]
    (a, b), (p, q) = np.triu_indices(k), np.triu_indices(t)
    half = np.zeros((len(a), len(p)))
    for part in runs(Y, GROUPS_AT_ONCE):
        half += inner(grams[part][:, a, b], Y[part][:, p] * Y[part][:, q])
    by_gram = np.empty((k, k, len(p)))
    by_gram[a, b] = by_gram[b, a] = half
    K = np.empty((k, t, k, t))
    for at, (c, d) in enumerate(zip(p, q, strict=True)):
        K[:, c, :, d] = K[:, d, :, c] = by_gram[:, :, at]
    return K.reshape(k * t, k * t)


def apply_curvature(grams: Array, Y: Array, C: Array) -> Array:
    """K C through the Grams. O(n k²)."""
    moved = times(Y, C.T)
    return inner(np.matmul(grams, moved[:, :, None])[:, :, 0], Y)


def bound_curvature(grams: Array) -> float:
    """An upper bound on σ₁(K) for orthonormal columns Y: max_j σ₁(G_j)."""
    return float(np.linalg.norm(grams, 2, (1, 2)).max()) if grams.size else 0.0


def conjugate_gradients(
    grams: Array, Y: Array, force: Array, lift: float, rtol: float = 1e-10
) -> Array:
    """(K + lift I)⁻¹ force, preconditioned by the Kronecker product of the mean Grams."""
    traces = np.trace(grams, axis1=1, axis2=2)
    share = float(traces.sum()) or 1.0
    left = host(grams.sum(axis=0))
    left += (lift + 1e-12 * share) * np.eye(len(left))
    right = inner(Y * (traces / share)[:, None], Y)
    right += 1e-12 * np.eye(len(right))
    solve_left, solve_right = scipy.linalg.cho_factor(left), scipy.linalg.cho_factor(right)

    def apply(c: Array) -> Array:
        C = c.reshape(force.shape)
        return (apply_curvature(grams, Y, C) + lift * C).reshape(-1)

    def precondition(c: Array) -> Array:
        half = scipy.linalg.cho_solve(solve_left, c.reshape(force.shape))
        return scipy.linalg.cho_solve(solve_right, half.T).T.reshape(-1)

    from scipy.sparse.linalg import LinearOperator, cg

    square = (force.size, force.size)
    step, _ = cg(
        LinearOperator(square, matvec=apply, dtype=float),
        force.reshape(-1),
        rtol=rtol,
        maxiter=500,
        M=LinearOperator(square, matvec=precondition, dtype=float),
    )
    return step.reshape(force.shape)
