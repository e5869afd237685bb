"""Ids to positions and back: one rule for those that were not fitted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pygeco.errors import UnknownIdWarning
from pygeco.errors.telling import warn_caller
from pygeco.errors.visible_text import quote_id
from pygeco.estimators._input import check_cell_index
from pygeco.io.column_names import find_role, list_names
from pygeco.io.tables import as_arrow, encode_ids, find_positions, list_columns, make_comparable

if TYPE_CHECKING:
    from pygeco.arrays.container import Blocks, Texts
    from pygeco.estimators._completion_state import _CompletionState
    from pygeco.io.partitioned.ids import RowIds

    Ids = NDArray[Any] | RowIds  # at hand, or with the rows on a cluster

UNKNOWN = ("mean", "nan", "error")


def check_unknown(unknown: str) -> None:
    if unknown not in UNKNOWN:
        raise ValueError(f"unknown: expected one of {UNKNOWN}, not {unknown!r}.")


def check_kind(name: str, ids: Ids, wanted: NDArray[Any], at: NDArray[np.int64]) -> None:
    """An error where no id is known because they are of another kind: text for numbers, say."""
    if not isinstance(ids, np.ndarray) or not wanted.size or np.any(at >= 0):
        return
    if not np.any(make_comparable(ids, wanted)[1]):
        # One id that is no number makes those beside it texts, too.
        odd = (one for one in wanted.flat if isinstance(one, str) and not one.isdecimal())
        raise ValueError(
            f"{name}: none of its ids, such as {quote_id(next(odd, wanted.flat[0]))} "
            f"({wanted.dtype}), was fitted; the model knows ids such as {quote_id(ids[0])} "
            f"({ids.dtype})."
        )


def find_ids(
    model: _CompletionState, name: str, given: ArrayLike, side: int, unknown: str
) -> NDArray[Any]:
    """Positions from ids where the model was fitted from a table, else from positions.

    An id that was not fitted is −1, of which a warning tells, or an error, as `unknown` says.
    """
    check_unknown(unknown)
    ids = (model.row_ids_, model.column_ids_)[side]
    if ids is None or unknown == "error":
        return find_index(model, name, given, side)
    at = find_positions(ids, given)
    lost = np.asarray(given, dtype=object)[at < 0] if at.ndim else np.asarray(given)[None][at < 0]
    if lost.size:
        check_kind(name, ids, np.asarray(given).reshape(-1), at)
        warn_caller(
            f"{name}: {lost.size:,} of {at.size:,} ids, such as {lost.reshape(-1)[0]!s}, were not "
            f"fitted; they {'count as the average' if unknown == 'mean' else 'have no answer'} "
            "(pass unknown='error' to refuse them).",
            UnknownIdWarning,
        )
    return at


def find_index(model: _CompletionState, name: str, given: ArrayLike, side: int) -> NDArray[Any]:
    """The same, and an error where an id was not fitted."""
    ids = (model.row_ids_, model.column_ids_)[side]
    if ids is None:
        return check_cell_index(name, given, model.factors_.shape[side])
    at = find_positions(ids, given)
    if np.any(at < 0):
        wrong = np.asarray(given, dtype=object)[at < 0].flat[0] if at.ndim else given
        raise ValueError(
            f"{name}: the id {quote_id(wrong)} was not fitted; the model knows {len(ids):,} ids "
            f"such as {quote_id(ids[0])} and {quote_id(ids[-1])}."
        )
    return at


def find_row_ids(model: _CompletionState, X: object) -> NDArray[Any]:
    """The ids of rows in a table: its column named as in the fit or as usual, or its only one."""
    names = list_columns(X)
    if model.table_columns_ is None:
        raise ValueError("rows: a table of ids needs a model fitted from a table.")
    own = model.table_columns_[0]
    at = names.index(own) if own in names else None
    at = find_role(names, "user") if at is None else at
    if at is None and len(names) > 1:
        raise ValueError(
            f"rows: expected a column {own!r} of ids, as in the fit, not {list_names(names)}."
        )
    found = encode_ids(as_arrow(X).column(at or 0), names[at or 0])
    return found.ids[found.codes]


def take_ids(ids: NDArray[Any] | None, at: NDArray[Any]) -> NDArray[Any]:
    """Ids of positions; the positions themselves where there are no ids.

    At −1, where there is nothing, stands what is an id least often; the score says so for certain.
    """
    if ids is None:
        return at
    nothing: dict[str, Any] = {"O": None, "M": np.datetime64("NaT", "s"), "f": np.nan, "b": False}
    if ids.dtype.kind == "u":
        nothing["u"] = np.iinfo(ids.dtype).max
    found = ids[np.maximum(at, 0)]
    if np.any(at < 0):
        found[at < 0] = nothing.get(ids.dtype.kind, -1)
    return found


def gather_ids(ids: Ids | None) -> NDArray[Any] | None:
    """Ids of rows, from the cluster to this process if they are there."""
    return ids if ids is None or isinstance(ids, np.ndarray) else ids.get()


def split_ids(ids: Ids) -> tuple[NDArray[Any], tuple[object, ...]]:
    """The first ids of all slabs but the first, and the ids of each: one slab on this machine."""
    if isinstance(ids, np.ndarray):
        return ids[:0], (ids,)
    return ids.starts, ids.futures


def ids_for_file(ids: Ids | None) -> NDArray[Any] | Blocks | Texts | None:
    """Ids of rows as a file takes them, slab after slab."""
    return ids if ids is None or isinstance(ids, np.ndarray) else ids.blocks()


def name_sides(names: tuple[str, ...] | None) -> tuple[str, str]:
    """What rows and columns are called in the table of the fit."""
    return (names[0], names[1]) if names else ("row", "column")
