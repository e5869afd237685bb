"""The core of any separable loss over observed cells.

The Newton matrix of B ↦ R(U B Vᵀ) is Σ_E w ℓ″ (u_i u_iᵀ) ⊗ (v_j v_jᵀ). Grouped by the shorter
side (columns, say) it is Σ_j G_j ⊗ v_j v_jᵀ with G_j = Σ_{i ∈ E_j} w ℓ″ u_i u_iᵀ: one pass of
|E| s²/2 multiply-adds, then n s⁴/4 for the sum, never |E| s⁴.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from pygeco.arrays.kinds import host, inner, times
from pygeco.arrays.linalg import solve_psd
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.engines.values import Systems
from pygeco.objectives.spans import kronecker


class Grouped(Protocol):
    """What the span needs of an objective over the cells of a matrix, by column or by row."""

    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def total_weight(self) -> float: ...
    def total_loss(self, columns: bool, P: Array, Q: Array) -> float: ...
    def systems(self, columns: bool, P: Array, Q: Array, *, curved: bool = True) -> Systems: ...


@dataclass(frozen=True, eq=False)
class ConvexSpan:
    """R(U B Vᵀ) for any loss. X is the factor of the longer side and Y that of the shorter one;
    `flipped` says that the longer side is the columns. The last system is remembered: a slope
    after a Newton step at the same core costs nothing.
    """

    objective: Grouped
    flipped: bool
    X: Array
    Y: Array
    memory: dict[bytes, Systems] = field(default_factory=dict, repr=False)
    quadratic: bool = False

    @classmethod
    def of(cls, objective: Grouped, A: LowRank) -> ConvexSpan:
        m, n = objective.shape
        flipped = m < n
        return cls(objective, flipped, *((A.V, A.U) if flipped else (A.U, A.V)))

    def append(self, u: Array, v: Array) -> ConvexSpan:
        x, y = (v, u) if self.flipped else (u, v)
        X, Y = np.column_stack([self.X, x]), np.column_stack([self.Y, y])
        return replace(self, X=X, Y=Y, memory={})

    def rotate(self, P: Array, Q: Array) -> ConvexSpan:
        p, q = (Q, P) if self.flipped else (P, Q)
        return replace(self, X=times(self.X, p), Y=times(self.Y, q), memory={})

    def value(self, B: Array) -> float:
        """One pass, O(|E| s)."""
        known = self.memory.get(B.tobytes())
        if known is not None:
            return float(known.values.sum()) / self._total
        return self.objective.total_loss(not self.flipped, self._moved(B), self.X) / self._total

    def slope(self, B: Array) -> Array:
        """One pass, O(|E| s), unless a Newton step was just made here."""
        known = self.memory.get(B.tobytes()) or self._systems(B, curved=False)
        return self._slope(known)

    def newton(self, B: Array, ridge: float) -> Array:
        """One pass, O(|E| s²/2), and a Cholesky of the size of B, or conjugate gradients."""
        local = self._local(B)
        lift = ridge * self._total
        force = -self._total * self._inside(self._slope(local) + ridge * B)
        if force.size > kronecker.MAX_FORMED_UNKNOWNS:
            step = kronecker.conjugate_gradients(local.grams, self.Y, force, lift, rtol=1e-6)
        else:
            K = kronecker.form_curvature(local.grams, self.Y)
            K[np.diag_indices_from(K)] += lift
            step = solve_psd(K, force.reshape(-1)).reshape(force.shape)
        return self._inside(step)

    def model(self, B: Array) -> kronecker.Model:
        """The quadratic model at B. One pass, O(|E| s²/2); its products take none."""
        local = self._local(B)
        at, slope, scale = self.value(B), self._slope(local), 1 / self._total
        if B.size > kronecker.MAX_FORMED_UNKNOWNS:
            bend = kronecker.bound_curvature(local.grams)

            def apply(D: Array) -> Array:
                return scale * self._inside(
                    kronecker.apply_curvature(local.grams, self.Y, self._inside(D))
                )

        else:
            K = kronecker.form_curvature(local.grams, self.Y)
            bend = float(np.linalg.eigvalsh(K)[-1])

            def apply(D: Array) -> Array:
                C = self._inside(D)
                return scale * self._inside((K @ C.reshape(-1)).reshape(C.shape))

        return kronecker.Model(B, at, slope, apply, scale * bend)

    def lipschitz(self) -> float:
        """The curvature at zero, as a first guess: far away the loss may bend more."""
        core = np.zeros((self.X.shape[1], self.Y.shape[1]))
        return kronecker.bound_curvature(self._local(self._inside(core)).grams) / self._total

    def diagonal(self, b: Array) -> tuple[Array, Array]:
        local = self._local(np.diag(b))
        curvature = host(np.einsum("jkl,jk,jl->kl", local.grams, self.Y, self.Y)) / self._total
        return np.diag(self._slope(local)).copy(), curvature

    @property
    def _total(self) -> float:
        return self.objective.total_weight

    def _inside(self, B: Array) -> Array:
        """B with the longer side first, or back."""
        return B.T if self.flipped else B

    def _moved(self, B: Array) -> Array:
        """P with z = ⟨P_j, x_i⟩: the shorter side's factor, times the core."""
        return times(self.Y, self._inside(B).T)

    def _local(self, B: Array) -> Systems:
        """The Newton systems of the shorter side's groups at this core."""
        key = B.tobytes()
        if key not in self.memory:
            self.memory.clear()
            self.memory[key] = self._systems(B, curved=True)
        return self.memory[key]

    def _systems(self, B: Array, *, curved: bool) -> Systems:
        return self.objective.systems(not self.flipped, self._moved(B), self.X, curved=curved)

    def _slope(self, local: Systems) -> Array:
        return self._inside(inner(local.sides, self.Y)) / self._total
