"""Quadratic predictions zᵢ = xᵢᵀ A xᵢ with A symmetric: the degree-2 polynomial network."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from pygeco.arrays.checks import check_factors
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.arrays.streams import Purpose, stream
from pygeco.losses import Loss
from pygeco.objectives import bilinear, validation
from pygeco.objectives.measured import Measured, MeasuredSpan, Product
from pygeco.objectives.risk import Risk


class Quadratic(Measured):
    """R(A) = Σᵢ wᵢ ℓ(xᵢᵀ A xᵢ + oᵢ, yᵢ) / Σ w over symmetric A (d, d).

    The gradient Σ gᵢ xᵢxᵢᵀ is symmetric and kept as products with X: O(nnz(X)) a vector. A grows by
    eigenpairs of either sign, u = ±v, and stays symmetric; its core has s(s + 1)/2 variables.

    Parameters
    ----------
    X : array or sparse matrix (N, d)
        The inputs.
    y : array (N,)
        The targets.
    loss : str or Loss, default="squared"
        A name or an object from `pygeco.losses`.
    sample_weight : array (N,) or None, default=None
        Weights of samples.
    offset : array (N,) or None, default=None
        o, what other terms predict.
    intercept : bool, default=False
        Whether a free constant is added to every prediction.

    Examples
    --------
    >>> import numpy as np
    >>> from pygeco import Quadratic, minimize
    >>> X = np.random.default_rng(0).standard_normal((60, 3))
    >>> path = minimize(Quadratic(X, (X[:, 0] + X[:, 1]) ** 2), 3, random_state=0)
    >>> bool(path[-1].objective < 1e-6)
    True
    """

    symmetric = True

    def __init__(
        self,
        X: Any,
        y: ArrayLike,
        loss: str | Loss = "squared",
        *,
        sample_weight: ArrayLike | None = None,
        offset: ArrayLike | None = None,
        intercept: bool = False,
    ) -> None:
        self.X = validation.check_matrix("X", X)
        rows, inputs = self.X.shape
        w = validation.check_weights(sample_weight, rows)
        settled, targets = validation.prepare_scalar_targets(loss, y, rows, w)
        o = validation.check_offsets(offset, rows)
        super().__init__(
            (inputs, inputs),
            Risk(settled, targets, validation.normalize_weights(w, rows), o, intercept),
        )

    def measure(self, A: LowRank) -> Array:
        return bilinear.measure(self.X, self.X, A)

    def pull(self, g: Array) -> tuple[Product, Product]:
        return bilinear.pull(self.X, self.X, g)

    def reach(self) -> float:
        return bilinear.reach(self.X, self.X, self.risk.weights)

    def row_curvature(self, A: LowRank) -> Array | None:
        """Σ h ‖xₙ‖²/d xₙ xₙᵀ (d, d), of many inputs the diagonal: ℓ″ in a row about any other one.

        None for labels, which bend ever less as they are told apart: the ridge is what then counts.
        """
        if not self.risk.loss.regression:
            return None
        at, _ = self.risk.settle(self.measure_checked(A))
        h = self.risk.curvature(at, stiff=True).diagonal
        norms = np.asarray((self.X * self.X).sum(axis=1)).reshape(-1, 1)
        return validation.find_gram(self.X, h * norms / self.shape[0])

    def frame(self, U: Array, V: Array) -> SymmetricFrame:
        return SymmetricFrame(self.X, self.X, self.X @ U, self.X @ V, U, V, U.T @ V)

    def span(self, A: LowRank) -> SymmetricSpan:
        check_factors(A, self.shape)
        x = stream(Purpose.OBJECTIVE_CHECK).standard_normal(self.shape[0])
        there, back = A.matvec(x), A.rmatvec(x)
        if not np.linalg.norm(there - back) <= 1e-8 * np.linalg.norm(there):
            raise ValueError("start: Quadratic needs a symmetric matrix; pass (A + Aᵀ) / 2.")
        return SymmetricSpan(self.risk, self.frame(A.U, A.V))


@dataclass(frozen=True, eq=False)
class SymmetricFrame(bilinear.BilinearFrame):
    """U B Vᵀ = U C Uᵀ with C = B Tᵀ, T = UᵀV orthogonal: the free coordinates are C's.

    The coordinates are C_aa and √2 C_ab (a < b), so that they are an isometry.
    """

    U: Array
    V: Array
    T: Array

    def append(self, u: Array, v: Array) -> Self:
        U, V = np.column_stack([self.U, u]), np.column_stack([self.V, v])
        return replace(super().append(u, v), U=U, V=V, T=U.T @ V)

    def rotate(self, P: Array, Q: Array) -> Self:
        return replace(super().rotate(P, Q), U=self.U @ P, V=self.V @ Q, T=P.T @ self.T @ Q)

    def pack(self, B: Array) -> Array:
        C = self.symmetric(B)
        a, b, scale = self._places()
        return C[a, b] * scale

    def unpack(self, x: Array) -> Array:
        a, b, scale = self._places()
        C = np.empty_like(self.T)
        C[a, b] = C[b, a] = x / scale
        return C @ self.T

    def design(self, rows: slice) -> Array:
        a, b, scale = self._places()
        P = self.P[rows]
        return P[:, a] * P[:, b] * scale

    def symmetric(self, B: Array) -> Array:
        C = B @ self.T.T
        return (C + C.T) / 2

    def _places(self) -> tuple[Any, Any, Array]:
        a, b = np.triu_indices(len(self.T))
        return a, b, np.where(a == b, 1.0, np.sqrt(2))


@dataclass(frozen=True, eq=False)
class SymmetricSpan(MeasuredSpan):
    """The core problem of a symmetric A."""

    frame: SymmetricFrame

    def turn(self, A: LowRank, B: Array) -> tuple[LowRank, Self]:
        """Eigenpairs of the core, V being U with signs, to the last bit.

        Singular vectors would mix the eigenvectors of +λ and −λ.
        """
        values, E = np.linalg.eigh(self.frame.symmetric(B))
        order = np.argsort(-np.abs(values), kind="stable")
        values, E = values[order], E[:, order]
        signs = np.where(values < 0, -1.0, 1.0)
        U, P = A.U @ E, self.frame.P @ E
        V, Q = U * signs, P * signs
        frame = replace(self.frame, P=P, Q=Q, U=U, V=V, T=np.diag(signs))
        return LowRank(U, np.abs(values), V), self.seen_from(frame)
