"""Linear predictions of several outputs: z = X Aᵀ, for multiclass and multi-target problems."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import scipy  # scipy.sparse is imported when used
from numpy.typing import ArrayLike

from pygeco.arrays.low_rank import Array, LowRank
from pygeco.losses import Loss, Multinomial
from pygeco.objectives import validation
from pygeco.objectives.measured import Measured, Product
from pygeco.objectives.risk import Curvature, Risk

ROWS_AT_ONCE = 8192  # of the coupled design, formed together
ROUNDINGS = 16  # of sums over a sparse X, that hide a smaller curvature about its mean
FLAT = 1e-12  # of a column's mean: deviations up to this are its rounding


class Features(Measured):
    """R(A) = Σₙ wₙ Σ_k ℓ((X Aᵀ)ₙₖ, Yₙₖ) / Σ w. A is outputs × inputs, (K, d).

    The gradient is slopesᵀ X, kept as that product: O(nnz(X) + N K) a vector.

    Parameters
    ----------
    X : array or sparse matrix (N, d)
        The inputs.
    Y : array (N, K) or (N,)
        The outputs; (N,) for one output or, with loss="multinomial", for class labels.
    loss : str or Loss, default="squared"
        A name or an object from `pygeco.losses`.
    sample_weight : array (N,) or None, default=None
        Weights of samples.
    intercept : bool, default=False
        Minimize over a constant b that is added to every row: b is not part of A or its rank, and R
        stays convex and equally smooth. X is then centered, which does not change R, so features
        such as years or prices need not be centered.

    Examples
    --------
    >>> import numpy as np
    >>> from pygeco import Features, Solver, minimize
    >>> X = np.random.default_rng(0).standard_normal((50, 4))
    >>> W = np.outer([1.0, 2.0, 3.0], [1.0, 0.0, 0.0, 1.0])
    >>> path = minimize(Features(X, X @ W.T), 1, Solver(refine=True), random_state=0)
    >>> bool(np.allclose(path.A.to_dense(), W, atol=1e-3))
    True
    """

    def __init__(
        self,
        X: Any,
        Y: ArrayLike,
        loss: str | Loss = "squared",
        *,
        sample_weight: ArrayLike | None = None,
        intercept: bool = False,
    ) -> None:
        self.X = validation.check_matrix("X", X)
        rows, inputs = self.X.shape
        w = validation.check_weights(sample_weight, rows)
        settled, y = validation.prepare_targets("Y", loss, Y, rows, w)
        self.classes = settled.classes if isinstance(settled, Multinomial) else None
        outputs = y.shape[1] if self.classes is None else len(self.classes)
        weights = validation.normalize_weights(w, rows)
        super().__init__((outputs, inputs), Risk(settled, y, weights, intercept=intercept))
        self.center = np.zeros(inputs)
        if intercept:
            self.center = (self.X.T @ weights)[:, 0]
        if intercept and not scipy.sparse.issparse(self.X):
            self.X = subtract_center(self.X, self.center, weights)

    def measure(self, A: LowRank) -> Array:
        return self._forward(A.V * A.s) @ A.U.T

    def pull(self, g: Array) -> tuple[Product, Product]:
        return lambda x: g.T @ self._forward(x), lambda y: self._backward(g @ y)

    def frame(self, U: Array, V: Array) -> FeaturesFrame:
        return FeaturesFrame(self._forward, U, self._forward(V))

    def reach(self) -> float:
        """σ₁(√w X)²: each output adds ‖√w X a_k‖². Without its mean X has no larger one."""
        return validation.find_top_square(validation.scale_rows(np.sqrt(self.risk.weights), self.X))

    def intercepts(self, A: LowRank) -> Array:
        return super().intercepts(A) - (A.U * A.s) @ (A.V.T @ self.center)

    def row_curvature(self, A: LowRank) -> Array:
        """Σₙ hₙ xₙ xₙᵀ (d, d) with h the mean of ℓ″ over the outputs; of many inputs the diagonal.

        O(nnz(X) d) for up to MAX_GRAM_SIZE inputs, else O(nnz(X)).
        """
        at, _ = self.risk.settle(self.measure_checked(A))
        h = self.risk.curvature(at, stiff=True).diagonal.mean(axis=1, keepdims=True)
        bend = validation.find_gram(self.X, h)
        if not scipy.sparse.issparse(self.X):
            return bend
        full = bend.ndim == 2
        half = (self.X.T @ h)[:, 0] - h.sum() / 2 * self.center
        rounding = ROUNDINGS * np.finfo(float).eps * (np.diag(bend) if full else bend)
        if full:
            mean = np.outer(half, self.center)
            return bend - mean - mean.T + np.diag(rounding)
        return np.maximum(bend - 2 * half * self.center, rounding)

    def _forward(self, x: Array) -> Array:
        """X x, of a sparse X without its mean."""
        z = self.X @ x
        return z - self.center @ x if scipy.sparse.issparse(self.X) else z

    def _backward(self, y: Array) -> Array:
        """Xᵀ y, likewise."""
        out = self.X.T @ y
        if scipy.sparse.issparse(self.X):
            out -= np.multiply.outer(self.center, y.sum(axis=0))
        return out


def subtract_center(X: Array, center: Array, weights: Array) -> Array:
    """The deviations from the means, zero in columns that are constant up to rounding."""
    moved = X - center
    spread = np.sqrt((weights * moved**2).sum(axis=0))
    moved[:, spread <= FLAT * np.abs(center)] = 0.0
    return moved


@dataclass(frozen=True, eq=False)
class FeaturesFrame:
    """z = P Bᵀ Uᵀ with P = X V (N, t) computed once: no pass over X until a pair is appended."""

    through: Product  # v ↦ X v
    U: Array
    P: Array

    @property
    def shape(self) -> tuple[int, int]:
        return self.U.shape[1], self.P.shape[1]

    def append(self, u: Array, v: Array) -> Self:
        return replace(
            self, U=np.column_stack([self.U, u]), P=np.column_stack([self.P, self.through(v)])
        )

    def rotate(self, P: Array, Q: Array) -> Self:
        return replace(self, U=self.U @ P, P=self.P @ Q)

    def forward(self, B: Array) -> Array:
        return self.P @ (self.U @ B).T

    def adjoint(self, g: Array) -> Array:
        return (g @ self.U).T @ self.P

    def pack(self, B: Array) -> Array:
        return B.reshape(-1)

    def unpack(self, x: Array) -> Array:
        return x.reshape(self.shape)

    def gram(self, H: Curvature) -> Array:
        """Σ_k u_k u_kᵀ ⊗ Pᵀdiag(h_k)P, less the coupling's. O(N K t² + K s² t² + N s² t²)."""
        (K, s), t = self.U.shape, self.P.shape[1]
        inner = np.stack([(self.P * h[:, None]).T @ self.P for h in H.diagonal.T])
        outer = self.U[:, :, None] * self.U[:, None, :]
        M = (outer.reshape(K, -1).T @ inner.reshape(K, -1)).reshape(s, s, t, t)
        M = M.transpose(0, 2, 1, 3).reshape(s * t, s * t)
        if H.coupling is None:
            return M
        turned = H.coupling @ self.U
        for at in range(0, len(turned), ROWS_AT_ONCE):
            part = slice(at, at + ROWS_AT_ONCE)
            D = (turned[part, :, None] * self.P[part, None, :]).reshape(-1, s * t)
            M = M - D.T @ D
        return M
