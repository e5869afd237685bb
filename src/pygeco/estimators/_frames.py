"""Predictions for the pairs of a Dask DataFrame: lazy, part by part, made by the workers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.estimators._ids import check_unknown, split_ids
from pygeco.estimators._tables import describe_unknown_id, make_answers, pair_columns
from pygeco.io.protocols import ArrowColumn, ArrowTable, DataFrame, LazyFrame
from pygeco.io.tables import arrange_ids, as_arrow, find_positions, id_array, make_comparable
from pygeco.models import FittedModel

if TYPE_CHECKING:
    from pygeco.estimators._completion_state import _CompletionState


class Pairs(NamedTuple):
    """Some of a part's pairs, and their places in it."""

    places: NDArray[np.int64]
    table: ArrowTable


def predict_frame(model: _CompletionState, X: LazyFrame, std: bool, unknown: str) -> LazyFrame:
    """A lazy frame of pairs with predictions; see `MatrixCompletion.predict`.

    Pairs go to the slabs of their rows and the answers back, once each.
    """
    from pygeco.io.partitioned.frames import exchange_parts

    if model.row_ids_ is None or model.column_ids_ is None:
        raise ValueError("rows: a Dask DataFrame of ids needs a model fitted from a table.")
    check_unknown(unknown)
    at = pair_columns(model, [str(name) for name in X.columns])
    starts, ids = split_ids(model.row_ids_)
    slabs = list(zip(model.model_.row_models(), ids, strict=True))
    names = [f"{name}" for name in X.columns[at]]
    split = partial(_split, at=at, starts=starts)
    answer = partial(_answer, items=model.column_ids_, names=names, std=std, unknown=unknown)
    kind = model.factors_.V.dtype
    new = dict.fromkeys(["prediction", *(["deviation"] if std else [])], np.zeros(0, kind))
    meta = X._meta.iloc[:, at].assign(**new, known=np.zeros(0, bool))
    return exchange_parts(X, slabs, split, answer, partial(_join, at=at), meta)


def _split(frame: DataFrame, at: list[int], starts: NDArray[Any]) -> list[Pairs]:
    """The pairs of each slab; slab t + 1 begins at the id starts[t]."""
    table = as_arrow(frame.iloc[:, at])
    table = table.select(table.column_names[:2])  # without an index
    users = arrange_ids(table.column(0), table.column_names[0])
    asked, possible = make_comparable(starts, id_array(users.ids))
    slab = np.zeros(len(asked), int)
    if np.any(possible):
        slab = np.where(possible, np.searchsorted(starts, asked, side="right"), 0)
    home = slab[users.codes]
    places = [np.flatnonzero(home == t) for t in range(len(starts) + 1)]
    return [Pairs(own, table.take(own)) for own in places]


def _answer(
    pairs: Pairs,
    model: FittedModel,
    ids: NDArray[Any] | ArrowColumn,
    *,
    items: NDArray[Any],
    names: list[str],
    std: bool,
    unknown: str,
) -> dict[str, NDArray[Any]]:
    """Predictions of the pairs whose users are among these ids, if they are anywhere."""
    from pygeco.io.partitioned.ids import locate_ids

    users, wanted = (arrange_ids(pairs.table.column(k), names[k]) for k in (0, 1))
    find = find_positions if isinstance(ids, np.ndarray) else locate_ids  # Arrow's, of a slab
    rows = find(ids, id_array(users.ids))[users.codes]
    cols = find_positions(items, id_array(wanted.ids))[wanted.codes]
    lost = (rows < 0) | (cols < 0)
    if unknown == "error" and lost.any():
        raise ValueError(describe_unknown_id(pairs.table, names, rows, cols))
    found = make_answers(model, rows, cols, std)
    if unknown == "nan":
        found = {name: np.where(lost, np.nan, values) for name, values in found.items()}
    return found | {"known": ~lost}


def _join(
    frame: DataFrame,
    pieces: Sequence[Pairs],
    found: Sequence[dict[str, NDArray[Any]]],
    at: list[int],
) -> DataFrame:
    """The part's pairs with what was found, in their order."""
    places = np.argsort(np.concatenate([piece.places for piece in pieces]), kind="stable")
    columns = {name: np.concatenate([part[name] for part in found])[places] for name in found[0]}
    return frame.iloc[:, at].assign(**columns)
