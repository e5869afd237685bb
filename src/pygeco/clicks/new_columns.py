"""New columns of a model of clicks, each from the clicks on it and from its attributes.

A column of either family is a function of the clicks on it, given the rows, as a row is one of its
own clicks. The rows of the family are found again from the clicks of the fit: one pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pygeco.algorithm.alternation import frequency_ridges
from pygeco.arrays.kinds import foreign
from pygeco.arrays.low_rank import Array
from pygeco.bayes.attributes import AttributeValues
from pygeco.clicks.empty_rows import fill_empty_rows
from pygeco.clicks.spectral import (
    SpectralFactors,
    Spectrum,
    line_powers,
    make_factors,
    measure_spread,
)
from pygeco.clicks.squares import make_objective, scale_columns
from pygeco.models.folding import Folded
from pygeco.objectives import Entries
from pygeco.objectives.clicks.half_sweep import sweep_rows
from pygeco.objectives.clicks.input import weigh_by_values

if TYPE_CHECKING:
    from pygeco.clicks.model import ClickModel


class Placed(NamedTuple):
    """New columns (k, d) beside the rows (m, d) and columns (n, d) of one family."""

    new: Array
    left: Array
    right: Array


def fold_columns(model: ClickModel, entries: Entries, values: AttributeValues | None) -> Folded:
    """Coordinates in the basis of U; the clicks on new columns are given transposed."""
    if foreign(model.factors.U):
        raise ValueError("X: new columns are placed on the CPU; call to('cpu') first.")
    seen = model.seen
    clicks = Entries(seen.rows(), seen.indices, seen.values, model.shape)
    U, s = model.factors.U.astype(float), model.factors.s.astype(float)
    counts = entries.by_row.counts()
    found = np.zeros((entries.shape[0], len(s)))
    for share, is_there, place in (
        (1 - model.share, model.spectral is not None, _place_spectral),
        (model.share, model.squares is not None, _place_squares),
    ):
        if is_there and entries.size:
            part = place(model, clicks, entries)
            weight = share / measure_spread(part.left, part.right)
            left = fill_empty_rows(part.left, clicks).astype(float)
            found += weight * (part.new @ (left.T @ U))
    if values is not None:
        assert model.column_map is not None
        size = np.where(s > 0, s, 1.0)
        found = model.column_map.move(values, counts, found / size) * s
    return Folded(found.astype(model.factors.U.dtype), np.zeros(len(found), U.dtype))


def _place_spectral(model: ClickModel, clicks: Entries, entries: Entries) -> Placed:
    """With Y = R̃ V, whose squared norms are σ², a column x̃ is at x̃ᵀ Y / σ²."""
    part, settings = model.spectral, model.spectral_settings
    assert part is not None
    assert settings is not None
    powers = -(settings.row_power or 0.0), -(settings.column_power or 0.0)
    down, across = (x.astype(np.float32)[:, None] for x in line_powers(clicks, *powers))
    own = clicks.by_row
    Y = down * own.engine.products(own, own.values, 1.0, across * part.vectors)
    squares = np.maximum(np.sum(Y.astype(float) ** 2, axis=0), np.finfo(float).tiny)
    factors = make_factors(clicks, Spectrum(part.vectors, np.sqrt(squares)), settings)
    new, k = entries.by_row, min(settings.rank or len(squares), len(squares))
    found = new.engine.products(new, new.values, 1.0, down * Y)[:, :k] / squares[:k]
    scale, popular = (
        line_powers(entries, x, 0.0)[0] for x in (powers[1], settings.popularity or 0.0)
    )
    found = scale[:, None] * found
    if settings.fame:
        found = np.column_stack([found, _find_fame(model, clicks, factors, entries)])
    return Placed(popular[:, None] * found, factors.left, factors.right)


def _find_fame(
    model: ClickModel, clicks: Entries, factors: SpectralFactors, entries: Entries
) -> Array:
    """How many rows clicked each new column, in the unit of the last column of the factors."""
    assert model.spectral_settings is not None
    _, popular = line_powers(clicks, 0.0, model.spectral_settings.popularity or 0.0)
    unit = float(factors.right[:, -1].sum() / (clicks.counts()[1] * popular).sum())
    return unit * entries.by_row.counts().astype(float)


def _place_squares(model: ClickModel, clicks: Entries, entries: Entries) -> Placed:
    """The least squares of each column given the rows, before their background."""
    part, settings = model.squares, model.squares_settings
    assert part is not None
    assert settings is not None
    objective = make_objective(clicks, settings)
    assert settings.ridge is not None
    ridges = frequency_ridges(objective, settings.ridge)
    rows = objective.sweep_side(False, part.columns, ridges[0])
    level = line_powers(clicks, 0.0, settings.column_power or 0.0)[1].mean()
    own = objective.background * line_powers(entries, settings.column_power or 0.0, 0.0)[0] / level
    counts = entries.by_row.counts()
    solved = sweep_rows(
        weigh_by_values(entries).by_row,
        rows.factor,
        background=own,
        weights=objective.rho,
        ridge=settings.ridge * (counts + own * float(objective.rho.sum())),
    )
    popular = line_powers(entries, settings.popularity or 0.0, 0.0)[0]
    right = scale_columns(clicks, rows.partner, settings.popularity)
    return Placed(popular[:, None] * (solved.factor @ solved.rotation.T), rows.factor, right)
