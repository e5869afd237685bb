"""The core of the squared loss over observed cells, without ever spending |E| s⁴.

With A = U B Vᵀ the Newton matrix is Σ_E w (u_i u_iᵀ) ⊗ (v_j v_jᵀ). Grouped by the shorter side
(columns, say) it is Σ_j G_j ⊗ v_j v_jᵀ with the small Grams G_j = Σ_{i ∈ E_j} w u_i u_iᵀ. A new
pair costs |E| s for the new row of each Gram and n s³ for the sum; a change of basis rotates
everything without a pass over the data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import scipy  # its parts are imported when used

from pygeco.arrays.kinds import contiguous, host, inner, times
from pygeco.arrays.linalg import solve_psd
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.objectives.spans import kronecker

# Up to this many columns the s⁴ tensor is kept and factorized; beyond, conjugate gradients.
MAX_FORMED_COLUMNS = 48

Product = Callable[[Array], Array]


class Squares(Protocol):
    """What the span needs of a weighted sum of squares over cells, by column or by row."""

    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def total_weight(self) -> float: ...
    @property
    def value_at_zero(self) -> float: ...
    def group_moments(self, columns: bool, Q: Array) -> tuple[Array, Array]: ...
    def cross_moments(self, columns: bool, Q: Array, q: Array) -> Array: ...
    def target_products(self, flipped: bool) -> tuple[Product, Product]: ...


@dataclass(frozen=True, eq=False)
class QuadraticSpan:
    """R(U B Vᵀ) = (Σ w y² − 2⟨b, B⟩ + ⟨B, H B⟩) / Σ w.

    X is the factor of the longer side and Y that of the shorter one; `flipped` says that the
    longer side is the columns. grams (len(Y), k, k); H[k, l, p, q] = Σ_j G_j[k, l] Y_jp Y_jq.
    X, Y and the Grams are where the data are; H and b are on the host.
    A change of basis moves H and b at once; X, Y and the Grams wait in `turn_x` and `turn_y`
    until a pair is appended. The two sides may have different numbers of columns.
    """

    objective: Squares
    flipped: bool
    X: Array
    Y: Array
    grams: Array
    turn_x: Array
    turn_y: Array
    H: Array | None
    b: Array
    quadratic: bool = True

    @classmethod
    def of(cls, objective: Squares, A: LowRank) -> QuadraticSpan:
        """The problem over the columns of A in one pass: |E| s²/2 multiply-adds."""
        m, n = objective.shape
        flipped = m < n
        X, Y = (A.V, A.U) if flipped else (A.U, A.V)
        grams, sides = objective.group_moments(not flipped, X)
        k, t = X.shape[1], Y.shape[1]
        H = None
        if k <= MAX_FORMED_COLUMNS:
            H = kronecker.form_curvature(grams, Y).reshape(k, t, k, t).transpose(0, 2, 1, 3)
        eyes = np.eye(k), np.eye(t)
        return cls(objective, flipped, X, Y, grams, *eyes, H, b=inner(sides, Y))

    def append(self, u: Array, v: Array) -> QuadraticSpan:
        """The problem with one more pair: |E| s for the Grams, two products, n s³ for the sum."""
        x, y = (v, u) if self.flipped else (u, v)
        old = self._turned()
        s = old.X.shape[1]
        X, Y = np.column_stack([old.X, x]), np.column_stack([old.Y, y])
        x = contiguous(x)
        fresh = self.objective.cross_moments(not self.flipped, X, x)
        grams: Array = np.empty_like(fresh, shape=(len(Y), s + 1, s + 1))
        grams[:, :s, :s] = old.grams
        grams[:, s, :] = fresh
        grams[:, :, s] = fresh
        return replace(
            self,
            X=X,
            Y=Y,
            grams=grams,
            turn_x=np.eye(X.shape[1]),
            turn_y=np.eye(Y.shape[1]),
            H=None if self.H is None or s >= MAX_FORMED_COLUMNS else old._grown(fresh, Y),
            b=old._projected(X, Y, x, y),
        )

    def rotate(self, P: Array, Q: Array) -> QuadraticSpan:
        p, q = (Q, P) if self.flipped else (P, Q)
        H = None if self.H is None else _turn(_turn(self.H, p).transpose(2, 3, 0, 1), q)
        return replace(
            self,
            turn_x=self.turn_x @ p,
            turn_y=self.turn_y @ q,
            H=None if H is None else H.transpose(2, 3, 0, 1),
            b=p.T @ self.b @ q,
        )

    def value(self, B: Array) -> float:
        C = self._inside(B)
        squares = self.objective.value_at_zero * self._total
        return (squares + float(np.sum((self._product(C) - 2 * self.b) * C))) / self._total

    def slope(self, B: Array) -> Array:
        C = self._inside(B)
        return self._inside((2 / self._total) * (self._product(C) - self.b))

    def newton(self, B: Array, ridge: float) -> Array:
        """One Cholesky of the size of B, or conjugate gradients where that is large."""
        lift = 0.5 * ridge * self._total
        C = self._inside(B)
        force = self.b - self._product(C) - lift * C
        if self.H is None:
            old = self._turned()
            return self._inside(kronecker.conjugate_gradients(old.grams, old.Y, force, lift))
        M = self._matrix() + lift * np.eye(force.size)
        return self._inside(solve_psd(M, force.reshape(-1)).reshape(force.shape))

    def lipschitz(self) -> float:
        if self.H is None:
            return 2 * kronecker.bound_curvature(self._turned().grams) / self._total
        return 2 * float(scipy.linalg.eigvalsh(self._matrix())[-1]) / self._total

    def diagonal(self, b: Array) -> tuple[Array, Array]:
        if self.H is None:
            turned = self._turned()
            H = host(np.einsum("jkl,jk,jl->kl", turned.grams, turned.Y, turned.Y))
        else:
            H = np.einsum("klkl->kl", self.H)
        H = H * (2 / self._total)
        return H @ b - (2 / self._total) * np.diag(self.b), H

    @property
    def _total(self) -> float:
        return self.objective.total_weight

    def _inside(self, B: Array) -> Array:
        """B with the longer side first, or back."""
        return B.T if self.flipped else B

    def _matrix(self) -> Array:
        """The Newton matrix on vec(B), up to 2 / Σ w."""
        assert self.H is not None
        return self.H.transpose(0, 2, 1, 3).reshape(self.b.size, self.b.size)

    def _product(self, C: Array) -> Array:
        """H C. O(s⁴), or O(n s²) through the Grams."""
        if self.H is not None:
            return (self._matrix() @ C.reshape(-1)).reshape(C.shape)
        turned = self.turn_x @ C @ self.turn_y.T
        return self.turn_x.T @ kronecker.apply_curvature(self.grams, self.Y, turned) @ self.turn_y

    def _turned(self) -> QuadraticSpan:
        """The same problem with X, Y and the Grams in the present bases. O(n s³)."""
        k, s = self.turn_x.shape
        eye_x, eye_y = np.eye(s), np.eye(self.turn_y.shape[1])
        if np.array_equal(self.turn_x, eye_x) and np.array_equal(self.turn_y, eye_y):
            return self
        halfway = times(self.grams.reshape(-1, k), self.turn_x).reshape(-1, k, s).swapaxes(1, 2)
        return replace(
            self,
            X=times(self.X, self.turn_x),
            Y=times(self.Y, self.turn_y),
            grams=times(halfway.reshape(-1, k), self.turn_x).reshape(-1, s, s),
            turn_x=eye_x,
            turn_y=eye_y,
        )

    def _grown(self, fresh: Array, Y: Array) -> Array:
        """The tensor with one more column on both sides."""
        s, n = self.X.shape[1], len(Y)
        H = np.empty((s + 1,) * 4)
        if self.H is not None:
            H[:s, :s, :s, :s] = self.H
        last = inner(self.grams.reshape(n, s * s), Y * Y[:, s:]).reshape(s, s, s + 1)
        H[:s, :s, s, :] = last
        H[:s, :s, :, s] = last
        outer = (Y[:, :, None] * Y[:, None, :]).reshape(n, -1)
        border = inner(fresh, outer).reshape(s + 1, s + 1, s + 1)
        H[s, :, :, :] = border
        H[:, s, :, :] = border
        return H

    def _projected(self, X: Array, Y: Array, x: Array, y: Array) -> Array:
        """Xᵀ S Y, S the weighted targets; only the new row and column need a pass."""
        s = self.X.shape[1]
        b = np.empty((s + 1, s + 1))
        b[:s, :s] = self.b
        to_long, to_short = self.objective.target_products(self.flipped)
        b[:, s] = inner(X, to_long(y))
        b[s, :] = inner(Y, to_short(x))
        return b


def _turn(H: Array, p: Array) -> Array:
    """pᵀ H[:, :, c, d] p for every c, d: the first two axes in a new basis."""
    a, k = p.shape
    tail = H.shape[2:]
    once = (p.T @ H.reshape(a, -1)).reshape(k, a, *tail)
    return np.matmul(p.T, once.reshape(k, a, -1)).reshape(k, k, *tail)
