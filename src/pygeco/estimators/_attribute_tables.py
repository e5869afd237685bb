"""Attributes beside a model's rows or columns: by id, or in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone

from pygeco.bayes.attributes import AttributeValues
from pygeco.estimators._attribute_coding import Group
from pygeco.estimators._attribute_fitting import Wishes
from pygeco.estimators.attributes import Attributes
from pygeco.io.attribute_tables import (
    AttributeTable,
    find_id_column,
    is_distinct,
    is_named_id,
    take_rows,
)
from pygeco.io.column_names import list_names
from pygeco.io.tables import find_positions, make_comparable, parse_ids

MIN_KNOWN_SHARE = 0.5  # of a column's values, for it to hold the model's ids though not called so


class SideAttributes(NamedTuple):
    """Attributes of a model's rows (or columns), in the model's order, then those of others.

    matrix is (count + len(extra_ids), F); a row without attributes is zero, and `known` is False
    there. `extra_ids` are the ids that the model does not have, in the order of the table.
    """

    matrix: Any
    known: NDArray[np.bool_]
    groups: tuple[Group, ...]
    encoder: Attributes
    extra_ids: NDArray[Any]


def align_attributes(
    attributes: Any, ids: NDArray[Any] | None, count: int, *, name: str = "attributes"
) -> SideAttributes:
    """Attributes as a user gives them, beside `count` rows with these sorted ids.

    Parameters
    ----------
    attributes : table, matrix, or pair of Attributes and one of these
        A table with a column of ids, or a table or matrix in the order of the rows. An encoder
        that is fitted codes the table; one that is not is copied and fitted on it.
    ids : array (count,) or None
        The ids of the rows, sorted; None where they are positions.
    count : int
        The number of rows.
    name : str
        What errors call the attributes.

    Returns
    -------
    SideAttributes
    """
    encoder, given = _split_pair(attributes, name)
    table = take_rows(given)
    is_table = isinstance(table, AttributeTable)
    column = _find_ids(encoder, table, ids, name) if is_table else None
    if not encoder.__sklearn_is_fitted__():
        encoder = clone(encoder)
        if isinstance(table, AttributeTable):
            encoder.set_params(id_column=column)
        encoder.fit(table)
    rows = encoder.transform(table)
    if column is None:
        return _in_order(rows, encoder, ids, count, name)
    wanted = table.ids(column)
    _refuse_repeats(wanted, column, name)
    if ids is None:
        return _at_positions(rows, encoder, wanted, count, column, name)
    return _by_id(rows, encoder, wanted, ids, column, name)


def group_values(matrix: Any, known: NDArray[np.bool_], groups: Sequence[Group]) -> AttributeValues:
    """Coded attributes as a fit takes them, in the groups of their encoder."""
    names, sizes = (group.name for group in groups), (group.size for group in groups)
    return AttributeValues(matrix, known, tuple(names), tuple(sizes))


def _split_pair(attributes: Any, name: str) -> tuple[Attributes, Any]:
    if isinstance(attributes, Attributes):
        raise ValueError(f"{name}: an encoder alone has no rows; give (encoder, table).")
    if isinstance(attributes, tuple) and len(attributes) == 2:
        encoder, given = attributes
        if isinstance(encoder, Attributes):
            return encoder, given
    return Attributes(), attributes


def _find_ids(
    encoder: Attributes, table: AttributeTable, ids: NDArray[Any] | None, name: str
) -> str | None:
    """The column of ids: that of the encoder's fit, or as the encoder says, or one that is named
    so, or the only one whose values are distinct and for the most part the model's.
    """
    if encoder.__sklearn_is_fitted__() and encoder.id_column_ in table.columns:
        return encoder.id_column_
    named = Wishes.of(encoder, table.names).kinds
    found = find_id_column(table, encoder.id_column, named)
    if ids is None or encoder.id_column != "auto" or (found is not None and is_named_id(found)):
        return found
    free = [column for column in table.names if column not in named and is_distinct(table, column)]
    fitting = [column for column in free if _share_known(ids, table.ids(column)) > MIN_KNOWN_SHARE]
    if len(fitting) == 1:
        return fitting[0]
    which = "more than one column" if fitting else "no column"
    shown = list_names(fitting or table.names)
    example = (fitting or free or table.names)[0]
    raise ValueError(
        f"{name}: {which} of {shown} has the model's ids, such as {ids[:1].tolist()[0]!r}; say "
        f"which it is with (Attributes(id_column={example!r}), table), or id_column=None where the "
        "lines are in the order of the sorted ids."
    )


def _share_known(ids: NDArray[Any], wanted: NDArray[Any]) -> float:
    """The share of ids that are the model's, as they are or as they are written."""
    if len(ids) and not np.any(make_comparable(ids, wanted)[1]):
        wanted = parse_ids(ids, [str(one) for one in wanted.tolist()])
    return float(np.mean(find_positions(ids, wanted) >= 0)) if len(wanted) else 0.0


def _refuse_repeats(wanted: NDArray[Any], column: str, name: str) -> None:
    distinct, first, counts = np.unique(wanted, return_index=True, return_counts=True)
    if len(distinct) < len(wanted):
        at = int(np.argmax(counts > 1))
        raise ValueError(
            f"{name}: the id {wanted[[first[at]]].tolist()[0]!r} stands {counts[at]} times in "
            f"column {column!r}; keep one row for each id, or name another column with "
            "Attributes(id_column=…)."
        )


def _in_order(
    rows: Any, encoder: Attributes, ids: NDArray[Any] | None, count: int, name: str
) -> SideAttributes:
    """Rows that are the model's, one after the other."""
    if rows.shape[0] != count:
        raise ValueError(
            f"{name}: have {rows.shape[0]:,} rows and no ids, but the model has {count:,}; give a "
            "row for each, in their order, or a table with a column of ids."
        )
    extra = np.zeros(0, np.int64 if ids is None else ids.dtype)
    return SideAttributes(rows, np.ones(count, bool), encoder.groups_, encoder, extra)


def _at_positions(
    rows: Any, encoder: Attributes, wanted: NDArray[Any], count: int, column: str, name: str
) -> SideAttributes:
    """Ids beside rows that have none: they are positions, or rise as the rows do."""
    whole = wanted.dtype.kind in "iu"
    if whole and np.all((wanted >= 0) & (wanted < count)):
        at = wanted.astype(np.int64)
        return _place(rows, at, count, encoder, np.zeros(0, np.int64))
    if len(wanted) == count and np.all(wanted[1:] > wanted[:-1]):
        return _in_order(rows, encoder, None, count, name)
    side = "columns" if name.startswith("column") else "rows"
    raise ValueError(
        f"{name}: column {column!r} holds ids such as {wanted[[0]].tolist()[0]!r}, but the model's "
        f"{side} are positions from 0 to {count - 1:,}; fit from a table with ids, or leave that "
        "column out and give a line for each in their order."
    )


def _by_id(
    rows: Any,
    encoder: Attributes,
    wanted: NDArray[Any],
    ids: NDArray[Any],
    column: str,
    name: str,
) -> SideAttributes:
    if len(ids) and not np.any(make_comparable(ids, wanted)[1]):
        # Text for numbers, or numbers for text: what they are when written.
        wanted = parse_ids(ids, [str(one) for one in wanted.tolist()])
    at = find_positions(ids, wanted)
    if not np.any(at >= 0):
        first, own = (some[:1].tolist() for some in (wanted, ids))
        raise ValueError(
            f"{name}: none of the ids in column {column!r}, such as {first[0]!r}, is one of the "
            f"model's, such as {own[0]!r}; name the column of ids with Attributes(id_column=…)."
        )
    extra = wanted[at < 0]
    cast = extra.astype(ids.dtype)
    if np.any(cast != extra):
        wrong = extra[[np.argmax(cast != extra)]].tolist()[0]
        raise ValueError(
            f"{name}: the id {wrong!r} in column {column!r} is not of the kind of the model's ids, "
            f"{ids.dtype}."
        )
    at[at < 0] = len(ids) + np.arange(len(extra))
    return _place(rows, at, len(ids) + len(extra), encoder, cast)


def _place(
    rows: Any, at: NDArray[np.int64], total: int, encoder: Attributes, extra: NDArray[Any]
) -> SideAttributes:
    """Row t of the table at place at[t]."""
    known = np.zeros(total, bool)
    known[at] = True
    source = np.full(total, -1, np.int64)
    source[at] = np.arange(len(at))
    counts = np.zeros(total + 1, np.int64)
    counts[1:][at] = np.diff(rows.indptr)
    ordered = rows[source[known]]
    pointers = np.cumsum(counts).astype(ordered.indptr.dtype)
    shape = (total, rows.shape[1])
    matrix = sp.csr_array((ordered.data, ordered.indices, pointers), shape=shape)
    return SideAttributes(matrix, known, encoder.groups_, encoder, extra)
