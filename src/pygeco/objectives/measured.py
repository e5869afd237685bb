"""Objectives R(A) = r(𝓜(A)): a loss over linear measurements z = 𝓜(A), and their core problem.

A measurement is described three times, each in a few lines: on a low-rank matrix (`measure`), its
adjoint as an operator (`pull`), and seen from two spans (a `Frame`). Everything else is here.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from pygeco.arrays.checks import check_factors, check_shape
from pygeco.arrays.linalg import solve_psd
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.arrays.operators import Operator
from pygeco.arrays.streams import Purpose, stream
from pygeco.losses.duals import Slack
from pygeco.objectives.base import Objective
from pygeco.objectives.risk import Curvature, Risk
from pygeco.objectives.spans.kronecker import Model

# Up to this many core variables the Hessian is formed and factorized; beyond, conjugate gradients.
MAX_FORMED_UNKNOWNS = 2304

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


class Measured(Objective):
    """R(A) = r(𝓜(A)) for a risk r. Subclasses say what the measurement is."""

    shape: tuple[int, int]

    def __init__(self, shape: tuple[int, int], risk: Risk) -> None:
        self.shape = shape
        self.risk = risk

    def measure(self, A: LowRank) -> Array:
        """Z = 𝓜(A), (N, K)."""
        raise NotImplementedError

    def measure_checked(self, A: LowRank) -> Array:
        """The same of an A that is first looked at."""
        check_factors(A, self.shape)
        return self.measure(A)

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
        return self.risk.value(self.risk.settle(self.measure_checked(A))[0])

    @property
    def nonnegative(self) -> bool:
        """Whether R ≥ 0 for sure."""
        return self.risk.loss.nonnegative

    @property
    def squared(self) -> bool:
        """Whether R is a weighted sum of squares."""
        return self.risk.quadratic

    def slack(self, A: LowRank) -> Callable[[float], float] | None:
        """c ↦ Σ w (ℓ + ℓ*(c ℓ′) − c ℓ′ z), for certificates: the slopes at the best intercepts sum
        to zero, and so do their multiples.
        """
        if not self.risk.loss.has_conjugate:
            return None
        at, _ = self.risk.settle(self.measure_checked(A))
        return lambda scale: replace(self.risk, loss=Slack(self.risk.loss, scale)).value(at)

    def gradient(self, A: LowRank) -> MeasuredGradient:
        z = self.measure_checked(A)
        at, _ = self.risk.settle(z)
        g = self.risk.slope(at)
        inner = float(np.sum(g * z))
        return MeasuredGradient(self.shape, self.risk.value(at), inner, *self.pull(g))

    def offset_by(self, offset: Array) -> Self:
        """The same objective with other fixed parts (N, K) of the predictions."""
        moved = copy.copy(self)
        moved.risk = replace(self.risk, offset=offset)
        return moved

    def intercepts(self, A: LowRank) -> Array:
        """The intercepts (K,) that go with A; zeros without `intercept`."""
        return self.risk.settle(self.measure_checked(A))[1]

    def row_curvature(self, A: LowRank) -> Array | None:
        """How R bends in a row of A, about: (n, n), or a diagonal (n,). None where it is even."""
        return None

    def span(self, A: LowRank) -> MeasuredSpan:
        check_shape(A, self.shape)
        return MeasuredSpan(self.risk, self.frame(A.U, A.V))


@dataclass(frozen=True, eq=False)
class MeasuredGradient(Operator):
    """G = 𝓜*(g) as an operator. The products take a vector or several columns at once."""

    shape: tuple[int, int]
    value: float
    inner: float
    forward: Product
    backward: Product

    def matvec(self, x: Array) -> Array:
        return self.forward(x)

    def rmatvec(self, y: Array) -> Array:
        return self.backward(y)

    def matmat(self, X: Array) -> Array:
        return self.forward(X)

    def rmatmat(self, Y: Array) -> Array:
        return self.backward(Y)


class Settled(NamedTuple):
    """What the last evaluation found: the predictions at a core, and their intercepts."""

    core: bytes
    at: Array
    intercepts: Array


@dataclass(frozen=True, eq=False)
class MeasuredSpan:
    """B ↦ r(𝓜(U B Vᵀ)), with Newton steps in the free coordinates of B.

    The last evaluation is remembered: a slope after a value at the same core measures nothing,
    and the search for intercepts starts at the last ones.
    """

    risk: Risk
    frame: Frame
    memory: list[Settled] = field(default_factory=list, repr=False)

    @property
    def quadratic(self) -> bool:
        return self.risk.quadratic

    def append(self, u: Array, v: Array) -> Self:
        return self.seen_from(self.frame.append(u, v))

    def rotate(self, P: Array, Q: Array) -> Self:
        return self.seen_from(self.frame.rotate(P, Q))

    def seen_from(self, frame: Frame) -> Self:
        """The same problem in other spans."""
        return replace(self, frame=frame, memory=[old._replace(core=b"") for old in self.memory])

    def value(self, B: Array) -> float:
        return self.risk.value(self._at(B))

    def slope(self, B: Array) -> Array:
        return self.frame.adjoint(self.risk.slope(self._at(B)))

    def newton(self, B: Array, ridge: float) -> Array:
        """A Cholesky of the number of free coordinates, or conjugate gradients."""
        force = -self.frame.pack(self.slope(B) + ridge * B)
        H = self.risk.curvature(self._at(B), stiff=True)
        if len(force) > MAX_FORMED_UNKNOWNS:
            from scipy.sparse.linalg import cg

            operator = self._operator(H, len(force), ridge)
            return self.frame.unpack(cg(operator, force, rtol=1e-6, maxiter=500)[0])
        M = self._hessian(H)
        M[np.diag_indices_from(M)] += ridge
        return self.frame.unpack(solve_psd(M, force))

    def model(self, B: Array) -> Model:
        """The quadratic model at B; its products measure nothing where the Hessian is formed."""
        H, size = self.risk.curvature(self._at(B), stiff=True), len(self.frame.pack(B))
        M: Any = self._hessian(H) if size <= MAX_FORMED_UNKNOWNS else self._operator(H, size)

        def apply(D: Array) -> Array:
            return self.frame.unpack(M @ self.frame.pack(D))

        return Model(B, self.value(B), self.slope(B), apply, _largest(M))

    def lipschitz(self) -> float:
        """The curvature at zero, as a first guess: far away the loss may bend more."""
        B = np.zeros(self.frame.shape)
        H, size = self.risk.curvature(self._at(B), stiff=True), len(self.frame.pack(B))
        return _largest(
            self._hessian(H) if size <= MAX_FORMED_UNKNOWNS else self._operator(H, size)
        )

    def diagonal(self, b: Array) -> tuple[Array, Array]:
        B = np.diag(b)
        H = self.risk.curvature(self._at(B), stiff=True)
        curvature = np.empty(B.shape)
        for k, unit in enumerate(np.eye(len(b))):
            dz = self.frame.forward(np.diag(unit))
            curvature[k] = np.diag(self.frame.adjoint(H.act(dz)))
        return np.diag(self.slope(B)).copy(), curvature

    def _at(self, B: Array) -> Array:
        core, last = B.tobytes(), self.memory[0] if self.memory else None
        if last is None or last.core != core:
            start = None if last is None else last.intercepts
            last = Settled(core, *self.risk.settle(self.frame.forward(B), start))
            self.memory[:] = [last]
        return last.at

    def _hessian(self, H: Curvature) -> Array:
        """The curvature in the free coordinates: the frame's, less what the intercepts take up."""
        M = self.frame.gram(H)
        if H.inverse is None:
            return M
        rows = np.ones((len(H.diagonal), 1))
        cross = np.column_stack(
            [
                self.frame.pack(self.frame.adjoint(H.rowwise(rows * e)))
                for e in np.eye(len(H.inverse))
            ]
        )
        return M - cross @ H.inverse @ cross.T

    def _operator(self, H: Curvature, size: int, ridge: float = 0.0) -> Any:
        from scipy.sparse.linalg import LinearOperator

        def apply(x: Array) -> Array:
            dz = self.frame.forward(self.frame.unpack(x))
            return self.frame.pack(self.frame.adjoint(H.act(dz))) + ridge * x

        return LinearOperator((size, size), matvec=apply, dtype=float)


def _largest(M: Any) -> float:
    """The largest eigenvalue of a positive semidefinite matrix or operator."""
    if isinstance(M, np.ndarray):
        return float(np.linalg.eigvalsh(M)[-1])
    from scipy.sparse.linalg import eigsh

    start = stream(Purpose.SMOOTHNESS).standard_normal(M.shape[0])
    return float(eigsh(M, 1, v0=start, tol=1e-3, return_eigenvectors=False)[0]) * 1.01
