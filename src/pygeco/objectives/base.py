"""The short protocols between an objective and the solver."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from pygeco.arrays.checks import check_lines, check_sides
from pygeco.arrays.kinds import HOST
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.arrays.operators import Operator
from pygeco.arrays.short_repr import show_size
from pygeco.objectives.islands import Islands


class Gradient(Operator, Protocol):
    """G = ∇R(A) as an operator, with other results of the same pass over the data.

    Attributes
    ----------
    shape : tuple of two ints
        Of A.
    value : float
        R(A).
    inner : float
        ⟨G, A⟩: zero after an exact correction, and measured, not assumed.
    """

    if TYPE_CHECKING:  # properties, or attributes

        @property
        def value(self) -> float:
            """R(A)."""

        @property
        def inner(self) -> float:
            """⟨G, A⟩: zero after an exact correction, and measured, not assumed."""


class OfCells(Operator, Protocol):
    """What gradients over cells share: shape and kind of the objective."""

    objective: Objective

    @property
    def shape(self) -> tuple[int, int]:
        return self.objective.shape

    @property
    def kind(self) -> Array:
        return self.objective.kind

    def check(self, columns: bool, x: Any, axes: int) -> Array:
        """What is multiplied: the rows of x, or its numbers, go with those of the matrix for
        products with Gᵀ (`columns`), else with its columns. Kernels read it unasked.
        """
        name = ("y" if columns else "x") if axes == 1 else ("Y" if columns else "X")
        return check_lines(name, x, self.shape[not columns], axes)


def check_sweep(shape: tuple[int, int], side: str, fixed: Array, start: Array) -> None:
    """Raise unless these are what a half-sweep takes, see `Objective.half_sweep`."""
    if side not in ("row", "column"):
        raise ValueError(f"side: unknown name {side!r}; use 'row' or 'column'.")
    check_sides(("start", "fixed"), start, fixed, shape if side == "row" else shape[::-1])


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
    """The small problem B ↦ R(U B Vᵀ). U (m, s), V (n, t), B (s, t).

    Attributes
    ----------
    quadratic : bool
        Whether the curvature does not depend on B: one Newton step is then exact.
    """

    def append(self, u: Array, v: Array) -> Span: ...
    def rotate(self, P: Array, Q: Array) -> Span:
        """The same problem in the bases U P and V Q."""

    def newton(self, B: Array, ridge: float) -> Array:
        """The step −(H + ridge I)⁻¹ (slope + ridge B), as a matrix like B."""

    def diagonal(self, b: Array) -> tuple[Array, Array]:
        """Slope (s,) and curvature (s, s) of b ↦ R(U diag(b) Vᵀ)."""


@runtime_checkable
class Modeled(Protocol):
    """A span that can give its quadratic model: minimized instead of R, it spares passes."""

    def model(self, B: Array) -> Smooth:
        """C ↦ R + ⟨slope, C − B⟩ + ⟨C − B, H (C − B)⟩/2, all at B."""


@runtime_checkable
class Turning(Protocol):
    """A span with steps 7 and 8 of its own: a symmetric A keeps eigenpairs, u = ±v."""

    def turn(self, A: LowRank, B: Array) -> tuple[LowRank, Span]:
        """U B Vᵀ with its factors turned to those of B, s ≥ 0 and largest first, and its span."""


class Objective(Protocol):
    """A convex smooth R(A): derive from it, and override what differs from the defaults.

    Every objective has `shape`, `smoothness`, `value`, `gradient` and `span`. Everything else is
    optional; the algorithm asks whether an objective has it.

    Attributes
    ----------
    shape : tuple of two ints
        Of A.
    smoothness : float
        β of the paper's Definition 1; infinite if unknown.
    symmetric, can_sweep, nonnegative, squared : bool
        Whether A must be symmetric, whether there is a `half_sweep`, whether R ≥ 0 is certain, and
        whether R is a weighted sum of squares.
    kind : array
        An array of the type that the factors of A should have.
    """

    if TYPE_CHECKING:  # properties, or attributes

        @property
        def shape(self) -> tuple[int, int]: ...

        @property
        def smoothness(self) -> float:
            """β of the paper's Definition 1; infinite where nobody knows."""

    def __repr__(self) -> str:
        loss = getattr(self, "loss", None)
        ending = "" if loss is None else f", {loss!r}"
        return f"{type(self).__name__}({show_size(self.shape)}{ending})"

    @property
    def symmetric(self) -> bool:
        """Whether only symmetric A count: pairs are then u = ±v."""
        return False

    @property
    def can_sweep(self) -> bool:
        """Whether `half_sweep` is there."""
        return False

    @property
    def nonnegative(self) -> bool:
        """Whether R ≥ 0 for sure, which a proof of optimality needs."""
        return False

    @property
    def squared(self) -> bool:
        """Whether R is a weighted sum of squares: certificates then have a closed form."""
        return False

    @property
    def dtype(self) -> np.dtype[Any]:
        """The precision of the numbers that passes make: certificates allow for its rounding."""
        return np.dtype(float)

    @property
    def kind(self) -> Array:
        """An array of the kind that factors of A are to be; its engine runs the passes."""
        return HOST

    @property
    def islands(self) -> Islands | None:
        """Rows and columns that share no known cell with others; None: there are no such, or
        nobody knows.
        """
        return None

    def value(self, A: LowRank) -> float:
        """R(A), without forming A."""
        raise NotImplementedError(_needs(self, "value(A)"))

    def gradient(self, A: LowRank) -> Gradient:
        """∇R(A), an operator, never dense."""
        raise NotImplementedError(_needs(self, "gradient(A)"))

    def span(self, A: LowRank) -> Span:
        """The small problem over the spans of A."""
        raise NotImplementedError(_needs(self, "span(A)"))

    def slack(self, A: LowRank) -> Callable[[float], float] | None:
        """c ↦ r(z) + r*(c g) − c ⟨g, z⟩ ≥ 0, for R(A) = r(z) a function of measurements z with a
        conjugate, g its slope there; None: not known. It sharpens certificates, and they are as
        good as its digits.
        """
        return None

    def counts(self) -> tuple[Array, Array] | None:
        """How much each row and each column is seen, for weighted norms; None: not counted."""
        return None

    def default_correction(self, *, penalized: bool, rank: int) -> str:
        """What `Solver(correction="auto")` stands for; `penalized`: whether anything holds a row
        that has few cells.
        """
        return "core"

    def half_sweep(
        self, fixed: Array, start: Array, *, side: str, ridge: float | Array = 0.0
    ) -> Array:
        """Argmin_W R(A) + Σ ridge_j ‖w_j‖², A = fixed Wᵀ; for side="row", A = W fixedᵀ."""
        raise ValueError(
            f"correction: {type(self).__name__} cannot be swept; use correction='core'."
        )


def _needs(objective: object, method: str) -> str:
    return f"objective: {type(objective).__name__} has no `{method}`; write one."
