"""What is to be chosen for a model of clicks, by held-out clicks or by hand."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Self

import numpy as np


@dataclass(frozen=True)
class _Settings:
    """Numbers, of which None stands for "choose it by held-out clicks"."""

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left to choose by trials of its own."""
        names = (field.name for field in fields(self) if field.name != "fame")
        return all(getattr(self, name) is not None for name in names)

    def with_defaults(self, default: Self) -> Self:
        """The same settings; where there is None, those of `default`."""
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        return replace(default, **{name: x for name, x in own.items() if x is not None})

    def check(self, name: str) -> None:
        """One sentence about the first number that cannot be."""
        for field in fields(self):
            x = getattr(self, field.name)
            if x is None:
                continue
            if field.name == "rank":
                if isinstance(x, bool) or not isinstance(x, (int, np.integer)) or x < 1:
                    raise ValueError(f"{name}: rank must be an integer of at least 1, not {x!r}.")
            elif isinstance(x, bool) or not isinstance(x, (int, float, np.number)):
                raise ValueError(f"{name}: {field.name} must be a number, not {x!r}.")
            elif not np.isfinite(x) or (field.name in ("ridge", "background") and x <= 0):
                least = "above zero" if field.name in ("ridge", "background") else "finite"
                raise ValueError(f"{name}: {field.name} must be {least}, not {x!r}.")
            elif field.name == "fame" and x < 0:
                raise ValueError(f"{name}: fame must be ≥ 0, not {x!r}.")


@dataclass(frozen=True)
class SquaresSettings(_Settings):
    """Weighted squares, fitted in sweeps: each click is a "yes", every cell a weak "no".

    Minimizes Σ_E w (1 − z)² + α Σ_ij ρ_i κ_j z² with ridges that grow with the weight of a row or
    column (Hu, Koren and Volinsky 2008; Rendle and others 2022). Held-out clicks choose each
    setting that is None.

    Parameters
    ----------
    rank : int or None, default=None
        The number of components.
    background : float or None, default=None
        α, the weight of the "no" of each cell.
    ridge : float or None, default=None
        λ; a row of k clicks has the ridge λ (k + α ρ_i Σ κ).
    row_power, column_power : float or None, default=None
        ρ and κ are counts to these powers, scaled to mean 1.
    popularity : float or None, default=None
        Scores are multiplied by the counts of columns to this power.

    Examples
    --------
    >>> from pygeco import SquaresSettings
    >>> SquaresSettings(rank=64).background is None
    True
    """

    rank: int | None = None
    background: float | None = None
    ridge: float | None = None
    row_power: float | None = None
    column_power: float | None = None
    popularity: float | None = None


@dataclass(frozen=True)
class SpectralSettings(_Settings):
    """Leading singular pairs of clicks divided by powers of counts, shrunk by a ridge.

    With R̃ = D_r^−a R D_c^−b ≈ U diag(σ) Vᵀ, a row x of clicks has the scores
    x D_c^−b V diag(f) Vᵀ D_c^q, where f = σ² / (σ² + ridge σ_ref²) and σ_ref is the 256th of σ, or
    the last. Held-out clicks choose each setting that is None.

    Parameters
    ----------
    rank : int or None, default=None
        The number of pairs.
    row_power, column_power : float or None, default=None
        a and b.
    ridge : float or None, default=None
        How strongly weak directions are shrunk.
    popularity : float or None, default=None
        q: scores are multiplied by the counts of columns to this power.
    fame : float or None, default=None
        What each click of a row adds to its scores: the counts of columns, so that rows whose
        clicks say little are given what is popular. As a ratio of standard deviations over all
        cells, to that of the other scores. Zero where every other setting of the fit is given.

    Examples
    --------
    >>> from pygeco import SpectralSettings
    >>> SpectralSettings(rank=256, ridge=3.0).is_complete
    False
    """

    rank: int | None = None
    row_power: float | None = None
    column_power: float | None = None
    ridge: float | None = None
    popularity: float | None = None
    fame: float | None = None


@dataclass(frozen=True)
class AttributeSettings:
    """How much the attributes of rows, or of columns, count; chosen by held-out clicks.

    Parameters
    ----------
    weight : float, default=0.03
        For rows or columns without clicks: 1 / λ of the ridge from attributes to vectors. Zero
        means "not used": a new one is then the mean of all.
    pull : float, default=0.0
        What attributes add to a row or column with k clicks is multiplied by pull / (pull + k).
        Zero leaves those with clicks as they are.
    side : "row" or "column", default="row"
        Whose attributes they are.
    """

    weight: float = 0.03
    pull: float = 0.0
    side: str = "row"


@dataclass(frozen=True)
class GivenAttributes(_Settings):
    """Those of one side as they are given; None is chosen by held-out clicks."""

    weight: float | None = None
    pull: float | None = None

    def start(self, side: str) -> AttributeSettings:
        """What is given, and elsewhere what a search starts from."""
        default = AttributeSettings(side=side)
        weight = default.weight if self.weight is None else float(self.weight)
        return AttributeSettings(weight, default.pull if self.pull is None else self.pull, side)

    def check(self, name: str) -> None:
        super().check(name)
        for part, x in (("weight", self.weight), ("pull", self.pull)):
            if x is not None and x < 0:
                raise ValueError(f"{name}: {part} must be ≥ 0, not {x!r}.")
