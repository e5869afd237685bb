"""Columns of tables as numbers, whatever their type, and filled cells in that type again.

A number, a date or a time stands for itself (dates as seconds since 1970), a text, a category or a
truth for the place of its level; NaN is missing, and −1 a level that is not among those known.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.low_rank import Array
from pygeco.io.attribute_columns import Numbers, Texts, read_arrow, sort_levels
from pygeco.io.tables import as_arrow, is_text, pyarrow

TRUTHS = ("False", "True")


class Field(NamedTuple):
    """A column: its name, its kind and why, the texts of its levels, and the values it may have.

    `levels` is empty where cells are numbers, `values` where any number will do; those of levels
    are their places. `is_ordered` says whether values lie on a line. Dates are whole numbers of
    `step` seconds; 0 is any.
    """

    name: str
    kind: str
    note: str
    levels: tuple[str, ...]
    values: Array
    is_ordered: bool
    is_given: bool
    step: float = 0.0


class RawColumn(NamedTuple):
    """A column's cells as numbers, or as places of levels in their own order."""

    values: Array
    levels: tuple[str, ...]
    is_ordered: bool
    is_moment: bool = False
    is_category: bool = False


def take_columns(X: Any) -> tuple[list[str], list[Any]]:
    """Names and Arrow columns of a table of any package, without what pandas says of its index."""
    table = as_arrow(X)
    count = len(X.columns) if hasattr(X, "columns") else len(table.column_names)
    names = [str(name) for name in table.column_names[:count]]  # pandas puts its index behind
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"X: two columns are called {twice!r}; rename one.")
    return names, [table.column(k) for k in range(len(names))]


def read_column(column: Any, name: str) -> RawColumn | None:
    """The cells of an Arrow column; None where they are lists or of another type without order."""
    pa = pyarrow()
    t = pa.types
    if t.is_dictionary(column.type):
        kind = column.type
        if not (t.is_integer(kind.value_type) or t.is_floating(kind.value_type)):
            return _read_dictionary(column)
        own = read_column(column.cast(kind.value_type), name)
        return own and own._replace(is_category=True, is_ordered=bool(kind.ordered))
    if not (is_readable(column.type) or is_text(column)):
        return None
    found = read_arrow(column, name)
    if isinstance(found, Texts):
        codes = np.where(found.codes < 0, np.nan, found.codes)
        return RawColumn(codes, found.levels, False)
    if not isinstance(found, Numbers):
        return None
    return RawColumn(found.values, (), False, bool(t.is_temporal(column.type)))


def is_readable(kind: Any) -> bool:
    """Whether an Arrow type is of numbers, truths, texts, dates or times."""
    t = pyarrow().types
    number = t.is_integer(kind) or t.is_floating(kind) or t.is_decimal(kind) or t.is_boolean(kind)
    moment = t.is_temporal(kind) and not t.is_interval(kind)
    text = t.is_string(kind) or t.is_large_string(kind) or t.is_string_view(kind)
    return bool(number or moment or text or t.is_null(kind))


def _read_dictionary(column: Any) -> RawColumn:
    """A category's own levels, in its own order; what chunks disagree on is sorted."""
    chunks = [column] if not hasattr(column, "chunks") else column.chunks
    lists = [[str(item) for item in chunk.dictionary.to_pylist()] for chunk in chunks]
    wide = [chunk.indices.cast(pyarrow().int64()).fill_null(-1) for chunk in chunks]
    codes = [own.to_numpy(zero_copy_only=False) for own in wide]
    if not lists:
        return RawColumn(np.zeros(0), (), bool(column.type.ordered), is_category=True)
    if any(items != lists[0] for items in lists):
        every = sorted({item for items in lists for item in items})
        place = {item: k for k, item in enumerate(every)}
        maps = [np.array([*(place[item] for item in items), -1]) for items in lists]
        codes = [at[own.astype(np.int64)] for at, own in zip(maps, codes, strict=True)]
        lists = [every]
    found = np.concatenate(codes).astype(np.int64)
    levels = tuple(lists[0])
    if any(not level.strip() for level in levels):  # blank ones are missing
        texts = sort_levels(found, list(levels))
        found, levels = texts.codes, texts.levels
    cells = np.where(found < 0, np.nan, found)
    return RawColumn(cells, levels, bool(column.type.ordered), is_category=True)


def read_cells(column: Any, field: Field) -> Array:
    """A column's cells in the numbers of a field that another table was read by."""
    raw = read_column(column, field.name)
    if raw is None:
        raise ValueError(f"column {field.name!r}: its type has changed to {column.type}.")
    return place_cells(raw, field)


def place_cells(raw: RawColumn, field: Field) -> Array:
    """The same of a column that has been read."""
    if bool(raw.levels) != bool(field.levels) and not np.isnan(raw.values).all():
        was = "texts" if field.levels else "numbers"
        raise ValueError(f"column {field.name!r}: held {was} in the fit, and does no longer.")
    if raw.levels == field.levels or not raw.levels:
        return raw.values
    place = {level: k for k, level in enumerate(field.levels)}
    at = np.array([*(place.get(level, -1) for level in raw.levels), np.nan], float)
    return at[np.where(np.isnan(raw.values), len(raw.levels), raw.values).astype(np.int64)]


def make_cells(x: Array, field: Field, kind: Any) -> Any:
    """An Arrow array of the type of a column's cells (of a category that of its levels)."""
    pa = pyarrow()
    t = pa.types
    kind = kind.value_type if t.is_dictionary(kind) else kind
    if field.levels:
        texts = [field.levels[int(place)] for place in x]
        if t.is_boolean(kind):
            return pa.array([text == TRUTHS[1] for text in texts], kind)
        return pa.array(texts, pa.large_string())
    if field.step:
        x = np.rint(x / field.step) * field.step
    if t.is_integer(kind):
        ends = np.iinfo(kind.to_pandas_dtype())
        top = min(float(ends.max), 2.0**63 - 1024)
        return pa.array(np.clip(np.rint(x), float(ends.min), top).astype(np.int64)).cast(kind)
    if t.is_temporal(kind):
        return _make_moments(x, kind)
    if t.is_decimal(kind):
        return pa.array([format(number, f".{kind.scale}f") for number in x]).cast(kind)
    return pa.array(x).cast(kind, safe=False)


def _make_moments(seconds: Array, kind: Any) -> Any:
    pa = pyarrow()
    t = pa.types
    if t.is_date32(kind):
        return pa.array(np.rint(seconds / 86_400).astype(np.int32)).cast(kind)
    unit = getattr(kind, "unit", "ms")
    counts = np.rint(seconds * {"s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9}[unit]).astype(np.int64)
    short = t.is_time32(kind)
    return pa.array(counts.astype(np.int32) if short else counts).cast(kind)


def fill_columns(X: Any, filled: dict[str, tuple[NDArray[np.intp], Any]]) -> Any:
    """The table with cells replaced: by column, places and an Arrow array. X stays as it is.

    A table of pandas or polars is one again, of the same types; any other becomes one of Arrow.
    """
    package = type(X).__module__.partition(".")[0]
    if package == "pandas":
        return _fill_pandas(X, filled)
    if package == "polars":
        return _fill_polars(X, filled)
    table: Any = as_arrow(X)
    for name, (rows, cells) in filled.items():
        k = table.column_names.index(name)
        table = table.set_column(k, table.field(k), _fill_arrow(table.column(k), rows, cells))
    return table


def _fill_pandas(X: Any, filled: dict[str, tuple[NDArray[np.intp], Any]]) -> Any:
    out = X.copy(deep=False)
    for k, name in enumerate(X.columns):
        if str(name) in filled:
            rows, cells = filled[str(name)]
            column = X.iloc[:, k]
            if _is_plain(column):
                values = column.to_numpy(copy=True)
                values[rows] = cells.to_numpy(zero_copy_only=False)
                out.isetitem(k, values)
            else:
                column = column.copy()
                column.iloc[rows] = list(cells.to_pandas())
                out.isetitem(k, column)
    return out


def _is_plain(column: Any) -> bool:
    return isinstance(column.dtype, np.dtype) and column.dtype.kind in "fiu"


def _fill_polars(X: Any, filled: dict[str, tuple[NDArray[np.intp], Any]]) -> Any:
    import polars

    new = []
    for name, (rows, cells) in filled.items():
        own = X[name]
        text = is_text(cells)
        found = polars.Series(cells.to_pylist()) if text else polars.from_arrow(cells)
        new.append(own.clone().scatter(rows, found.cast(own.dtype)))
    return X.with_columns(new)


def _fill_arrow(column: Any, rows: NDArray[np.intp], cells: Any) -> Any:
    pa = pyarrow()
    kind = column.type
    is_category = pa.types.is_dictionary(kind)
    plain = column.cast(kind.value_type) if is_category else column
    both = pa.concat_arrays([plain.combine_chunks(), cells.cast(plain.type)])
    source = np.arange(len(column))
    source[rows] = len(column) + np.arange(len(rows))
    found = both.take(pa.array(source))
    if is_category:
        found = found.dictionary_encode().cast(kind, safe=False)
    return found


def append_truths(X: Any, columns: dict[str, NDArray[np.bool_]]) -> Any:
    """The table with columns of yes and no behind its own."""
    package = type(X).__module__.partition(".")[0]
    if package == "pandas":
        return X.assign(**columns)
    if package == "polars":
        import polars

        return X.with_columns([polars.Series(name, truths) for name, truths in columns.items()])
    for name, truths in columns.items():
        X = X.append_column(name, pyarrow().array(truths))
    return X
