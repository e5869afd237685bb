"""Objectives R(A) = r(𝓜(A)): a loss over linear measurements z = 𝓜(A), and their core problem.

A measurement is described three times, each in a few lines: on a low-rank matrix (`measure`), its
adjoint as an operator (`pull`), and seen from two spans (a `Frame`). Everything else is here.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol, Self

import numpy as np
import scipy.linalg
import scipy.sparse.linalg

from pygeco.factors import Array, LowRank
from pygeco.linalg import solve_psd
from pygeco.objectives.risk import Curvature, Risk

# Up to this many core variables the Hessian is formed and factorised; beyond, conjugate gradients.
DIRECT = 2304

Product = Callable[[Array], Array]


class Frame(Protocol):
    """The measurement seen from two spans, B ↦ z = 𝓜(U B Vᵀ) (N, K), with its adjoint."""

    @property
    def shape(self) -> tuple[int, int]:
        """(s, t), the shape of B."""

    def append(self, u: Array, v: Array) -> Self: ...
    def rotate(self, P: Array, Q: Array) -> Self: ...
    def forward(self, B: Array) -> Array: ...
    def adjoint(self, g: Array) -> Array: ...
    def pack(self, B: Array) -> Array:
        """B as the vector of its free coordinates, an isometry."""

    def unpack(self, x: Array) -> Array: ...
    def gram(self, H: Curvature) -> Array:
        """The matrix of B ↦ adjoint(H.rowwise(forward(B))) in the free coordinates."""


class Measured:
    """R(A) = r(𝓜(A)) for a risk r. Subclasses say what the measurement is."""

    def __init__(self, shape: tuple[int, int], risk: Risk) -> None:
        self.shape = shape
        self.risk = risk

    def measure(self, A: LowRank) -> Array:
        """Z = 𝓜(A), (N, K)."""
        raise NotImplementedError

    def pull(self, g: Array) -> tuple[Product, Product]:
        """Products with 𝓜*(g) and its transpose; both take a vector or several columns."""
        raise NotImplementedError

    def frame(self, U: Array, V: Array) -> Frame:
        """The measurement seen from the spans of U and V."""
        raise NotImplementedError

    def reach(self) -> float:
        """An upper bound on Σ wₙ‖zₙ‖² / ‖A‖²_F over all A."""
        raise NotImplementedError

    @cached_property
    def smoothness(self) -> float:
        """β = L · reach, a bound on the whole curvature and so on the paper's Definition 1."""
        return self.risk.loss.smoothness * self.reach()

    def value(self, A: LowRank) -> float:
        return self.risk.value(self.risk.settle(self.measure(A))[0])

    def gradient(self, A: LowRank) -> MeasuredGradient:
        z = self.measure(A)
        at, _ = self.risk.settle(z)
        g = self.risk.slope(at)
        matvec, rmatvec = self.pull(g)
        inner = float(np.sum(g * z))
        return MeasuredGradient(self.shape, self.risk.value(at), inner, matvec, rmatvec)

    def offset_by(self, offset: Array) -> Self:
        """The same objective with other fixed parts (N, K) of the predictions."""
        moved = copy.copy(self)
        moved.risk = replace(self.risk, offset=offset)
        return moved

    def intercepts(self, A: LowRank) -> Array:
        """The intercepts (K,) that go with A; zeros without `intercept`."""
        return self.risk.settle(self.measure(A))[1]

    def span(self, A: LowRank) -> MeasuredSpan:
        return MeasuredSpan(self.risk, self.frame(A.U, A.V))


@dataclass(frozen=True, eq=False)
class MeasuredGradient:
    """G = 𝓜*(g) as an operator. The products take a vector or several columns at once."""

    shape: tuple[int, int]
    value: float
    inner: float
    matvec: Product
    rmatvec: Product

    def matmat(self, X: Array) -> Array:
        return self.matvec(X)

    def rmatmat(self, Y: Array) -> Array:
        return self.rmatvec(Y)


@dataclass(frozen=True, eq=False)
class MeasuredSpan:
    """B ↦ r(𝓜(U B Vᵀ)), with Newton steps in the free coordinates of B.

    `hint` remembers the last intercepts, from which the next search for them starts.
    """

    risk: Risk
    frame: Frame
    hint: list[Array] = field(default_factory=list)

    @property
    def quadratic(self) -> bool:
        return self.risk.quadratic

    def append(self, u: Array, v: Array) -> Self:
        return replace(self, frame=self.frame.append(u, v), hint=self.hint[:])

    def rotate(self, P: Array, Q: Array) -> Self:
        return replace(self, frame=self.frame.rotate(P, Q), hint=self.hint[:])

    def value(self, B: Array) -> float:
        return self.risk.value(self._at(B))

    def slope(self, B: Array) -> Array:
        return self.frame.adjoint(self.risk.slope(self._at(B)))

    def newton(self, B: Array, ridge: float) -> Array:
        at = self._at(B)
        force = -self.frame.pack(self.frame.adjoint(self.risk.slope(at)) + ridge * B)
        H = self.risk.curvature(at, stiff=True)
        if len(force) > DIRECT:
            return self.frame.unpack(self._conjugate_gradients(H, ridge, force))
        M = self._hessian(H) + ridge * np.eye(len(force))
        return self.frame.unpack(solve_psd(M, force))

    def lipschitz(self) -> float:
        """The curvature at B = 0, where a proximal method begins to look for its step."""
        B = np.zeros(self.frame.shape)
        H = self.risk.curvature(self._at(B), stiff=True)
        size = len(self.frame.pack(B))
        if size <= DIRECT:
            return float(scipy.linalg.eigvalsh(self._hessian(H))[-1])
        operator = self._operator(H, 0.0, size)
        return float(scipy.sparse.linalg.eigsh(operator, 1, v0=np.ones(size), tol=1e-3)[0][0])

    def diagonal(self, b: Array) -> tuple[Array, Array]:
        at = self._at(np.diag(b))
        H = self.risk.curvature(at, stiff=True)
        curvature = np.empty((len(b), len(b)))
        for k, unit in enumerate(np.eye(len(b))):
            dz = self.frame.forward(np.diag(unit))
            curvature[k] = np.diag(self.frame.adjoint(H.act(dz)))
        return np.diag(self.frame.adjoint(self.risk.slope(at))).copy(), curvature

    def _at(self, B: Array) -> Array:
        at, b = self.risk.settle(self.frame.forward(B), self.hint[0] if self.hint else None)
        self.hint[:] = [b]
        return at

    def _hessian(self, H: Curvature) -> Array:
        M = self.frame.gram(H)
        if H.inverse is None:
            return M
        ones = np.eye(len(H.inverse))[:, None, :]
        like = np.ones((len(H.diagonal), 1))
        cross = np.column_stack(
            [self.frame.pack(self.frame.adjoint(H.rowwise(like * one))) for one in ones]
        )
        return M - cross @ H.inverse @ cross.T

    def _operator(
        self, H: Curvature, ridge: float, size: int
    ) -> scipy.sparse.linalg.LinearOperator:
        def apply(x: Array) -> Array:
            dz = self.frame.forward(self.frame.unpack(x))
            return self.frame.pack(self.frame.adjoint(H.act(dz))) + ridge * x

        return scipy.sparse.linalg.LinearOperator((size, size), matvec=apply, dtype=float)

    def _conjugate_gradients(self, H: Curvature, ridge: float, force: Array) -> Array:
        operator = self._operator(H, ridge, len(force))
        return scipy.sparse.linalg.cg(operator, force, rtol=1e-8, maxiter=500)[0]
