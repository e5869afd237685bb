"""Matrix sensing: z_k = ⟨M_k, A⟩ for given measurement matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np
import scipy  # its parts are imported when used
from numpy.typing import ArrayLike

from pygeco.arrays.low_rank import Array, LowRank
from pygeco.losses import Loss
from pygeco.objectives import bilinear, validation
from pygeco.objectives.measured import Frame, Measured, Product
from pygeco.objectives.risk import Curvature, Risk


class Operators(Protocol):
    """M_1 … M_K, each m × n, as linear maps of a low-rank matrix."""

    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def count(self) -> int: ...
    def measure(self, A: LowRank) -> Array: ...
    def pull(self, g: Array) -> tuple[Product, Product]: ...
    def frame(self, U: Array, V: Array) -> Frame: ...
    def reach(self, weights: Array) -> float: ...


class Sensing(Measured):
    """R(A) = Σ_k w_k ℓ(⟨M_k, A⟩, y_k) / Σ w.

    The gradient Σ g_k M_k is as dense as the operators are.

    Parameters
    ----------
    operators : array (K, m, n), list of sparse matrices, or pair of arrays
        The M_k. A pair (a (K, m), b (K, n)) stands for the rank-one measurements
        z_k = a_kᵀ A b_k, of which nothing m × n is formed.
    y : array (K,)
        What was measured.
    loss : str or Loss, default="squared"
        A name or an object from `pygeco.losses`.
    sample_weight : array (K,) or None, default=None
        Weights of measurements.
    intercept : bool, default=False
        Whether a free constant is added to every prediction.

    Examples
    --------
    >>> import numpy as np
    >>> from pygeco import Sensing, Solver, minimize
    >>> rng = np.random.default_rng(0)
    >>> M, A = rng.standard_normal((40, 4, 3)), np.outer([1.0, 2.0, 3.0, 4.0], [1.0, 0.0, 1.0])
    >>> objective = Sensing(M, np.einsum("kij,ij->k", M, A))
    >>> path = minimize(objective, 1, Solver(refine=True), random_state=0)
    >>> bool(np.allclose(path.A.to_dense(), A, atol=1e-3))
    True
    """

    def __init__(
        self,
        operators: Any,
        y: ArrayLike,
        loss: str | Loss = "squared",
        *,
        sample_weight: ArrayLike | None = None,
        intercept: bool = False,
    ) -> None:
        self.operators = _read_operators(operators)
        count = self.operators.count
        w = validation.check_weights(sample_weight, count)
        settled, targets = validation.prepare_scalar_targets(loss, y, count, w)
        super().__init__(
            self.operators.shape,
            Risk(settled, targets, validation.normalize_weights(w, count), intercept=intercept),
        )

    def measure(self, A: LowRank) -> Array:
        return self.operators.measure(A)

    def pull(self, g: Array) -> tuple[Product, Product]:
        return self.operators.pull(g)

    def frame(self, U: Array, V: Array) -> Frame:
        return self.operators.frame(U, V)

    def reach(self) -> float:
        return self.operators.reach(self.risk.weights)


@dataclass(frozen=True, eq=False)
class Pairs:
    """M_k = a_k b_kᵀ."""

    left: validation.Matrix
    right: validation.Matrix

    @property
    def shape(self) -> tuple[int, int]:
        return self.left.shape[1], self.right.shape[1]

    @property
    def count(self) -> int:
        return self.left.shape[0]

    def measure(self, A: LowRank) -> Array:
        return bilinear.measure(self.left, self.right, A)

    def pull(self, g: Array) -> tuple[Product, Product]:
        return bilinear.pull(self.left, self.right, g)

    def frame(self, U: Array, V: Array) -> Frame:
        return bilinear.BilinearFrame(self.left, self.right, self.left @ U, self.right @ V)

    def reach(self, weights: Array) -> float:
        return bilinear.reach(self.left, self.right, weights)


@dataclass(frozen=True, eq=False)
class Stack:
    """All M_k, dense or sparse. `flat` is (K, m n); the products go through every M_k at once."""

    shape: tuple[int, int]
    flat: validation.Matrix
    right: Product  # v ↦ M_k v for every k, (K, m)
    left: Product  # u ↦ M_kᵀ u for every k, (K, n)

    @property
    def count(self) -> int:
        return self.flat.shape[0]

    def measure(self, A: LowRank) -> Array:
        z = np.zeros(self.count)
        for u, s, v in zip(A.U.T, A.s, A.V.T, strict=True):
            z += s * (self.right(v) @ u)
        return z[:, None]

    def pull(self, g: Array) -> tuple[Product, Product]:
        if scipy.sparse.issparse(self.flat):
            cells = self.flat.tocoo()
            k, at = cells.coords
            G = scipy.sparse.csr_array(
                (g[k, 0] * cells.data, np.divmod(at, self.shape[1])), self.shape
            )
        else:
            G = (g[:, 0] @ self.flat).reshape(self.shape)
        return lambda x: G @ x, lambda y: G.T @ y

    def frame(self, U: Array, V: Array) -> StackFrame:
        D = np.zeros((self.count, U.shape[1], V.shape[1]))
        for t, v in enumerate(V.T):
            D[:, :, t] = self.right(v) @ U
        return StackFrame(self, U, V, D)

    def reach(self, weights: Array) -> float:
        """σ₁(√w flat)²."""
        return validation.find_top_square(validation.scale_rows(np.sqrt(weights), self.flat))


@dataclass(frozen=True, eq=False)
class StackFrame:
    """z_k = ⟨D_k, B⟩ with D_k = Uᵀ M_k V, (K, s, t)."""

    operators: Stack
    U: Array
    V: Array
    D: Array

    @property
    def shape(self) -> tuple[int, int]:
        return self.D.shape[1], self.D.shape[2]

    def append(self, u: Array, v: Array) -> Self:
        K, s, t = self.D.shape
        U, V = np.column_stack([self.U, u]), np.column_stack([self.V, v])
        D = np.empty((K, s + 1, t + 1))
        D[:, :s, :t] = self.D
        D[:, :, t] = self.operators.right(v) @ U
        D[:, s, :t] = self.operators.left(u) @ self.V
        return replace(self, U=U, V=V, D=D)

    def rotate(self, P: Array, Q: Array) -> Self:
        return replace(self, U=self.U @ P, V=self.V @ Q, D=P.T @ self.D @ Q)

    def forward(self, B: Array) -> Array:
        return self._design() @ B.reshape(-1, 1)

    def adjoint(self, g: Array) -> Array:
        return (self._design().T @ g).reshape(self.shape)

    def pack(self, B: Array) -> Array:
        return B.reshape(-1)

    def unpack(self, x: Array) -> Array:
        return x.reshape(self.shape)

    def gram(self, H: Curvature) -> Array:
        """Σ h_k D_k ⊗ D_k. O(K s² t²)."""
        D = self._design()
        return D.T @ (H.diagonal * D)

    def _design(self) -> Array:
        return self.D.reshape(len(self.D), -1)


def _read_operators(given: Any) -> Operators:
    if isinstance(given, tuple):
        if len(given) != 2:
            raise ValueError(f"operators: a tuple must be (a, b), not {len(given)} items.")
        left, right = (validation.check_matrix("operators", part) for part in given)
        if left.shape[0] != right.shape[0]:
            raise ValueError(
                f"operators: {left.shape[0]} left vectors but {right.shape[0]} right ones; "
                "each measurement needs one of both."
            )
        return Pairs(left, right)
    if isinstance(given, Sequence) and any(scipy.sparse.issparse(M) for M in given):
        return _sparse(given)
    dense = np.asarray(given)
    if dense.ndim != 3 or 0 in dense.shape:
        raise ValueError(
            f"operators: expected an array (K, m, n), a list of sparse matrices or a pair (a, b), "
            f"not an array of shape {dense.shape}."
        )
    validation.check_finite("operators", dense)
    cube = np.ascontiguousarray(dense, dtype=float)
    K, m, n = cube.shape
    return Stack((m, n), cube.reshape(K, -1), lambda v: cube @ v, lambda u: u @ cube)


def _sparse(given: Sequence[Any]) -> Stack:
    shapes = {np.shape(M) for M in given}
    if len(shapes) > 1:
        one, other = sorted(shapes)[:2]
        raise ValueError(f"operators: all must have one shape, but {one} and {other} are there.")
    (m, n), K = shapes.pop(), len(given)
    tall = validation.check_matrix(
        "operators", scipy.sparse.vstack([scipy.sparse.csr_array(M) for M in given])
    )
    wide = scipy.sparse.csr_array(scipy.sparse.vstack([scipy.sparse.csr_array(M).T for M in given]))
    return Stack(
        (m, n),
        scipy.sparse.csr_array(tall.reshape(K, m * n)),
        lambda v: (tall @ v).reshape(K, m),
        lambda u: (wide @ u).reshape(K, n),
    )
