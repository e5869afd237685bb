"""Where the prior puts rows that were not fitted, by what is known of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.kinds import on, ones, zeros
from pygeco.arrays.low_rank import Array
from pygeco.bayes.attributes import FLOAT, AttributeValues, pattern_sizes, place_table
from pygeco.bayes.cold import put_cold
from pygeco.bayes.effects import Effect
from pygeco.bayes.priors import Gaussian
from pygeco.bayes.ridge import PATTERN, TABLE
from pygeco.engines import Cells
from pygeco.objectives.entries.half_sweep import Side


class NewRowsPrior(NamedTuple):
    """The prior of new rows, a center for each, and by what its precision is multiplied there."""

    prior: Gaussian
    ridge: Array | None = None


def place_rows_by(
    prior: Gaussian,
    cells: Cells,
    values: AttributeValues | None,
    fitted: NDArray[np.bool_] | None = None,
) -> NewRowsPrior:
    """The prior of new rows, whose cells these are.

    Of what is not known the fit's mean is taken. Where there are attributes, coefficients are known
    to S only, and the covariance of row i is (1 + x_iᵀ S x_i) Λ⁻¹. Rows that were `fitted` lie by
    Λ⁻¹, as they did then: their own cells are in the coefficients, and would count twice.
    """
    if not prior.effects:
        return NewRowsPrior(prior)
    d = len(prior.center)
    is_doubted = any(e.source == TABLE for e in prior.effects)  # else no draws were kept
    columns = [
        np.column_stack([e.coefficients, e.doubt]) if is_doubted else e.coefficients
        for e in prior.effects
    ]
    found = _move_all(prior, columns, cells, values)
    centers = on(prior.center.astype(FLOAT), found) + found[:, :d]
    ridge = 1 / (1 + np.mean(found[:, d:] ** 2, axis=1)) if is_doubted else None
    if ridge is not None and fitted is not None:
        ridge = np.where(on(fitted, ridge), FLOAT(1), ridge)
    return NewRowsPrior(prior._replace(some=cells.counts() > 0, centers=centers), ridge)


def place_cold_rows(
    side: Side, prior: Gaussian, cells: Cells, values: AttributeValues | None
) -> Side:
    """New rows as they were found; those without cells where their attributes put them."""
    cold = prior.cold
    if cold is None:
        return side
    d = len(cold.center)
    both = [np.column_stack([e.coefficients, e.doubt]) for e in cold.effects]
    found = _move_all(cold, both, cells, values, least=d + 1)
    doubt = np.mean(found[:, d:] ** 2, axis=1)
    centers = on(cold.center.astype(FLOAT), found) + found[:, :d]
    return put_cold(side, cold, cells.counts() > 0, centers, doubt)


def _move_all(
    prior: Gaussian,
    columns: Sequence[Array],
    cells: Cells,
    values: AttributeValues | None,
    least: int = 0,
) -> Array:
    """Σ_g (x_ig − x̄_g)ᵀ of columns (F_g, k), one array for each effect of the prior.

    Where there are no effects, k is `least`.
    """
    width = columns[0].shape[1] if columns else least
    out = zeros((cells.groups, width), cells.engine.kind, FLOAT)
    for effect, B in zip(prior.effects, columns, strict=True):
        found = move_rows(effect, B, cells, values)
        if found is not None:
            out = out + found
    return out


def move_rows(
    effect: Effect, B: Array, cells: Cells, values: AttributeValues | None
) -> Array | None:
    """(x_i − x̄)ᵀ B of each row; None where nothing is known of any."""
    if effect.source == PATTERN:
        every = ones(cells.size, cells.values, FLOAT)
        found = cells.engine.products(cells, every, 1.0, B).astype(FLOAT)
        there = (cells.counts() > 0).astype(FLOAT)[:, None]
        return pattern_sizes(cells)[:, None] * found - there * (effect.mean @ B)
    if values is None or effect.name not in values.names:
        return None
    part = values.split()[values.names.index(effect.name)]
    there = on(values.known.astype(FLOAT)[:, None], cells.engine.kind)
    return there * (place_table(part, cells.engine).matmat(B) - effect.mean @ B)
