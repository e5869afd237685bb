"""The short protocols between an objective and the solver."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, cast, runtime_checkable

from pygeco.arrays.low_rank import Array, LowRank


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


class OfCells:
    """What gradients over cells share: shape and kind of the objective, vectors as one column."""

    objective: Any

    @property
    def shape(self) -> tuple[int, int]:
        return cast("tuple[int, int]", self.objective.shape)

    @property
    def kind(self) -> Array:
        return cast("Array", self.objective.kind)

    if TYPE_CHECKING:

        def matmat(self, X: Array) -> Array: ...
        def rmatmat(self, Y: Array) -> Array: ...

    def matvec(self, x: Array) -> Array:
        return self.matmat(x[:, None])[:, 0]

    def rmatvec(self, y: Array) -> Array:
        return self.rmatmat(y[:, None])[:, 0]


class Smooth(Protocol):
    """A convex smooth function of a small matrix B."""

    @property
    def quadratic(self) -> bool:
        """Whether the curvature does not depend on B: one Newton step is then exact."""

    def value(self, B: Array) -> float: ...
    def slope(self, B: Array) -> Array: ...
    def lipschitz(self) -> float:
        """The largest eigenvalue of the curvature, or an upper bound on it; where the curvature
        depends on B, a first guess.
        """


class Span(Smooth, Protocol):
    """The small problem B ↦ R(U B Vᵀ). U (m, s), V (n, t), B (s, t)."""

    def append(self, u: Array, v: Array) -> Span: ...
    def rotate(self, P: Array, Q: Array) -> Span:
        """The same problem in the bases U P and V Q."""

    def newton(self, B: Array, ridge: float) -> Array:
        """The step −(H + ridge I)⁻¹ (slope + ridge B), as a matrix like B."""

    def diagonal(self, b: Array) -> tuple[Array, Array]:
        """Slope (s,) and curvature (s, s) of b ↦ R(U diag(b) Vᵀ)."""


@runtime_checkable
class Modelled(Protocol):
    """A span that can give its quadratic model: minimised instead of R, it spares passes."""

    def model(self, B: Array) -> Smooth:
        """C ↦ R + ⟨slope, C − B⟩ + ⟨C − B, H (C − B)⟩/2, all at B."""


@runtime_checkable
class Turning(Protocol):
    """A span with steps 7 and 8 of its own: a symmetric A keeps eigenpairs, u = ±v."""

    def turn(self, A: LowRank, B: Array) -> tuple[LowRank, Span]:
        """U B Vᵀ with its factors turned to those of B, s ≥ 0 and largest first, and its span."""


class Objective(Protocol):
    """A convex smooth R(A). One that offers `half_sweep`, see `Sweepable`, can be swept.

    What it may also say, for sharper certificates: `nonnegative`, that R ≥ 0; `squared`, that R is
    a weighted sum of squares; `dual(A)`, for a loss with a conjugate the function of a scale c
    that is r*(c g) − c ⟨g, z⟩, R(A) = r(z) a function of measurements z and g its slope there.
    """

    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def smoothness(self) -> float:
        """β of the paper's Definition 1."""

    def value(self, A: LowRank) -> float: ...
    def gradient(self, A: LowRank) -> Gradient: ...
    def span(self, A: LowRank) -> Span: ...


class Sweepable(Objective, Protocol):
    """An objective that can be minimised over one whole factor."""

    def half_sweep(
        self, fixed: Array, start: Array, *, side: str, ridge: float | Array = 0.0
    ) -> Array:
        """Argmin_W R(A) + Σ ridge_j ‖w_j‖², A = fixed Wᵀ; for side="row", A = W fixedᵀ."""
