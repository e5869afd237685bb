"""A model of clicks with attributes: lines moved by them, and new lines placed by them alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pygeco.arrays.kinds import contiguous, foreign, host, on, zeros
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.bayes.attributes import AttributeValues
from pygeco.clicks.attributes import AttributeMap, Told, fit_map
from pygeco.clicks.settings import AttributeSettings
from pygeco.models.seen import Positions, append_empty_rows
from pygeco.objectives.entries.biases import Biases

if TYPE_CHECKING:
    from pygeco.clicks.model import ClickModel

Wishes = tuple[AttributeSettings | None, AttributeSettings | None]


def inform(model: ClickModel, told: Told, wishes: Wishes) -> ClickModel:
    """The model of clicks with what attributes say, by these settings."""
    if all(values is None for values in told):
        return model
    counts, lines = model.counts(), (host(model.factors.left), host(model.factors.V))
    maps: list[AttributeMap | None] = []
    moved: list[Array] = []
    for values, wish, own, X in zip(told, wishes, counts, lines, strict=True):
        said = None
        if values is not None:
            said = fit_map(values, own, X, wish or AttributeSettings())
        maps.append(said)
        moved.append(X if said is None or values is None else move_lines(said, values, own, X))
    model = replace(
        model,
        row_attributes=told[0],
        column_attributes=told[1],
        row_map=maps[0],
        column_map=maps[1],
    )
    is_same = all(one is other for one, other in zip(moved, lines, strict=True))
    return model if is_same else _set_factors(model, moved[0], moved[1])


def move_lines(
    said: AttributeMap, values: AttributeValues, counts: Positions, lines: Array
) -> Array:
    """Fitted lines, moved by their attributes; the very same where these change nothing."""
    lonely = bool(np.any((counts == 0) & values.known))
    if said.is_silent or not (said.settings.pull > 0 or lonely):
        return lines
    return said.move(values, counts, lines)


def _set_factors(model: ClickModel, left: Array, right: Array) -> ClickModel:
    """The model with `left` `right`ᵀ for its matrix; all that speaks of the old V is turned."""
    like, dtype = model.factors.V, model.factors.V.dtype
    found = LowRank(left.astype(float), np.ones(left.shape[1]), right.astype(float)).svd()
    turn = right.T.astype(float) @ found.V
    back = np.linalg.pinv(turn).T
    spectral, squares = model.spectral, model.squares
    if spectral is not None:
        encoder = host(spectral.encoder).astype(float) @ turn
        spectral = spectral._replace(encoder=on(contiguous(encoder, dtype), like))
    if squares is not None:
        wheel = host(squares.turn).astype(float) @ turn
        squares = squares._replace(turn=on(contiguous(wheel, dtype), squares.turn))
    parts = (contiguous(found.U, dtype), found.s.astype(dtype), contiguous(found.V, dtype))
    return replace(
        model,
        factors=LowRank(*(on(part, like) for part in parts)),
        spectral=spectral,
        squares=squares,
        row_map=None if model.row_map is None else model.row_map.turn(turn),
        column_map=None if model.column_map is None else model.column_map.turn(back),
    )


def add_lines(
    model: ClickModel, rows: AttributeValues | None, columns: AttributeValues | None
) -> ClickModel:
    """The model with more rows and columns after its own, each where its attributes put it.

    It is for lists and scores: what folds in other rows stays that of the fit.
    """
    if foreign(model.factors.U):
        raise ValueError("new_rows: are placed on the CPU; call to('cpu') first.")
    left, right = model.factors.left, model.factors.V
    if rows is not None:
        assert model.row_map is not None
        left = np.concatenate([left, model.row_map.place(rows).astype(left.dtype)])
    if columns is not None:
        assert model.column_map is not None
        right = np.concatenate([right, model.column_map.place(columns).astype(right.dtype)])
    more = len(left) - model.shape[0]
    seen, held = (append_empty_rows(cells, more) for cells in (model.seen, model.held_out))
    assert seen is not None
    return replace(
        model,
        factors=LowRank(left, np.ones(left.shape[1], left.dtype), right),
        biases=Biases(0.0, *(zeros(len(side), side, side.dtype) for side in (left, right))),
        seen=seen,
        held_out=held,
    )
