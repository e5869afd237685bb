"""The short protocols between an objective and the solver."""

from __future__ import annotations

from typing import Protocol

from pygeco.factors import Array, LowRank


class Gradient(Protocol):
    """G = ∇R(A) as an operator, with what the pass that made it also found."""

    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def value(self) -> float:
        """R(A)."""

    @property
    def inner(self) -> float:
        """⟨G, A⟩: zero after an exact correction, and measured, not assumed."""

    def matvec(self, x: Array) -> Array: ...
    def rmatvec(self, y: Array) -> Array: ...


class Span(Protocol):
    """The small problem B ↦ R(U B Vᵀ). U (m, s), V (n, t), B (s, t)."""

    @property
    def quadratic(self) -> bool:
        """Whether the curvature does not depend on B: one Newton step is then exact."""

    def append(self, u: Array, v: Array) -> Span: ...
    def rotate(self, P: Array, Q: Array) -> Span:
        """The same problem in the bases U P and V Q."""

    def value(self, B: Array) -> float: ...
    def slope(self, B: Array) -> Array: ...
    def newton(self, B: Array, ridge: float) -> Array:
        """The step −(H + ridge I)⁻¹ (slope + ridge B), as a matrix like B."""

    def lipschitz(self) -> float:
        """The largest eigenvalue of the curvature, or an upper bound on it."""

    def diagonal(self, b: Array) -> tuple[Array, Array]:
        """Slope (s,) and curvature (s, s) of b ↦ R(U diag(b) Vᵀ)."""


class Objective(Protocol):
    """A convex smooth R(A)."""

    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def smoothness(self) -> float:
        """β of the paper's Definition 1."""

    def value(self, A: LowRank) -> float: ...
    def gradient(self, A: LowRank) -> Gradient: ...
    def span(self, A: LowRank) -> Span: ...
