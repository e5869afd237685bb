"""Where the prior puts rows that were not fitted, by what is known of them."""

from __future__ import annotations

import numpy as np

from pygeco.arrays.kinds import on, ones, zeros
from pygeco.arrays.low_rank import Array
from pygeco.bayes.attributes import FLOAT, PATTERN, AttributeValues, pattern_sizes, place_table
from pygeco.bayes.effects import Effect
from pygeco.bayes.priors import Gaussian
from pygeco.engines import Cells


def place_rows_by(prior: Gaussian, cells: Cells, values: AttributeValues | None) -> Gaussian:
    """The prior of new rows: a centre for each, by its cells and attributes.

    `cells` are those of the new rows. Of what is not known the fit's mean is taken. Rows without
    cells bear the doubt about the effects of their attributes.
    """
    if not prior.effects:
        return prior
    d = len(prior.centre)
    like = cells.engine.kind
    moves = zeros((cells.groups, d), like, FLOAT)
    doubts = zeros((cells.groups, 1), like, FLOAT)
    for effect in prior.effects:
        both = np.column_stack([effect.coefficients, effect.doubt])
        found = move_rows(effect, both, cells, values)
        if found is not None:
            moves = moves + found[:, :d]
            doubts = doubts + found[:, d:]
    some = cells.counts() > 0
    doubt = np.mean(doubts**2, axis=1) * (1 - some.astype(FLOAT))
    return prior._replace(
        some=some,
        centers=on(prior.centre.astype(FLOAT), moves) + moves,
        ridges=1 / (1 + doubt),
    )


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
