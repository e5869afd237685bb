"""Columns of tables as numbers, whatever their type.

A number, a date or a time stands for itself (dates as seconds since 1970), a text, a category or a
truth for the place of its level; NaN is missing, and −1 a level that is not among those known.
"""

from __future__ import annotations

import base64
import json
from typing import Any, NamedTuple, cast

import numpy as np

from pygeco.arrays.low_rank import Array
from pygeco.io.attribute_columns import Numbers, Texts, read_arrow, sort_levels
from pygeco.io.origins import find_origin, subtract_origin
from pygeco.io.plain_texts import unpack_codes
from pygeco.io.protocols import ArrowTable
from pygeco.io.tables import as_arrow, is_table, is_text, list_columns, pyarrow


class Field(NamedTuple):
    """A column: its name, its kind and why, the texts of its levels, and the values it may have.

    `levels` is empty where cells are numbers, `values` where any number will do; those of levels
    are their places. `is_ordered` says whether values lie on a line. Dates are whole numbers of
    `step` seconds; 0 is any. Numbers are counted from `origin`, see `origins`. `form` is the type
    in the fit, as `keep_forms` writes it; models of earlier versions have none.
    """

    name: str
    kind: str
    note: str
    levels: tuple[str, ...]
    values: Array
    is_ordered: bool
    is_given: bool
    step: float = 0.0
    form: str = ""
    origin: int = 0


class RawColumn(NamedTuple):
    """A column's cells as numbers from an origin, or as places of levels in their own order.

    Moments are dates and times, among them spans: durations, and times of any day.
    """

    values: Array
    levels: tuple[str, ...]
    is_ordered: bool
    is_moment: bool = False
    is_category: bool = False
    origin: int = 0
    is_span: bool = False


def make_dense(X: Any) -> Any:
    """A table whose columns of pandas are all dense.

    Refuses what cannot be read twice, and columns that cannot be told apart.
    """
    if type(X).__name__ == "LazyFrame":
        raise ValueError("X: a LazyFrame has no cells yet; give X.collect().")
    if not is_table(X):
        return X
    if not hasattr(X, "columns"):
        raise ValueError(
            f"X: a {type(X).__name__} is no table that can be read twice; give one, such as that "
            "of X.read_all()."
        )
    check_twins(list_columns(X))
    if type(X).__module__.partition(".")[0] == "pandas":
        sparse = [k for k, kind in enumerate(X.dtypes) if hasattr(kind, "fill_value")]
        if sparse:
            X = X.copy(deep=False)
        for k in sparse:
            X.isetitem(k, X.iloc[:, k].sparse.to_dense())
    return X


def read_table(X: Any) -> ArrowTable:
    """A table of any package in Arrow, without what pandas says of its index."""
    table: Any = as_arrow(X)
    count = len(X.columns) if hasattr(X, "columns") else len(table.column_names)
    found: Any = table.select(list(range(count)))  # pandas puts its index behind
    names = list_columns(X) if hasattr(X, "columns") else list_columns(found)
    if names != found.column_names:  # pandas may call a column by several names
        found = found.rename_columns(names)
    check_twins(names)
    return cast(ArrowTable, found)


def check_twins(names: list[str]) -> None:
    """Refuse two columns of one name."""
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"X: two columns are called {twice!r}; rename one.")


def take_columns(X: Any) -> tuple[list[str], list[Any]]:
    """Names and Arrow columns of a table of any package."""
    table = read_table(X)
    names = [str(name) for name in table.column_names]
    return names, [table.column(k) for k in range(len(names))]


def keep_forms(table: Any) -> list[str]:
    """The type of each column, and what pandas or polars say of it, as texts: Arrow schemas."""
    pa = pyarrow()
    said = json.loads((table.schema.metadata or {}).get(b"pandas", "{}"))
    own = {one["field_name"]: one for one in said.get("columns", ())}
    forms = []
    for field in table.schema:
        kind = field.type
        if pa.types.is_dictionary(kind) and isinstance(kind.value_type, pa.BaseExtensionType):
            # Arrow does not read such types again.
            field = field.with_type(pa.dictionary(kind.index_type, pa.null(), kind.ordered))
        schema = pa.schema([field])
        if field.name in own:
            one = {"columns": [own[field.name]], "index_columns": [], "column_indexes": []}
            schema = schema.with_metadata({"pandas": json.dumps(one)})
        forms.append(base64.b64encode(schema.serialize()).decode())
    return forms


def read_column(column: Any, name: str, origin: int | None = None) -> RawColumn | None:
    """The cells of an Arrow column; None where they are lists or of another type without order.

    Without an origin, the cells say where they are counted from.
    """
    pa = pyarrow()
    t = pa.types
    if t.is_dictionary(column.type):
        kind = column.type
        if not (t.is_integer(kind.value_type) or t.is_floating(kind.value_type)):
            return _read_dictionary(column)
        own = read_column(unpack_codes(column), name, origin)
        return own and own._replace(is_category=True, is_ordered=bool(kind.ordered))
    if not (is_readable(column.type) or is_text(column)):
        return None
    origin = find_origin(column) if origin is None else origin
    is_moment = bool(t.is_temporal(column.type))
    is_span = bool(t.is_duration(column.type) or t.is_time(column.type))
    if origin and (is_moment or t.is_integer(column.type)):
        values = subtract_origin(column, origin)
        return RawColumn(values, (), False, is_moment, origin=origin, is_span=is_span)
    found = read_arrow(column, name)
    if isinstance(found, Texts):
        codes = np.where(found.codes < 0, np.nan, found.codes)
        return RawColumn(codes, found.levels, False)
    if not isinstance(found, Numbers):
        return None
    values = found.values - origin
    return RawColumn(values, (), False, is_moment, origin=origin, is_span=is_span)


def is_readable(kind: Any) -> bool:
    """Whether an Arrow type is of numbers, truths, texts, dates or times."""
    t = pyarrow().types
    number = t.is_integer(kind) or t.is_floating(kind) or t.is_decimal(kind) or t.is_boolean(kind)
    moment = t.is_temporal(kind) and not t.is_interval(kind)
    text = t.is_string(kind) or t.is_large_string(kind) or t.is_string_view(kind)
    return bool(number or moment or text or t.is_null(kind))


def list_levels(dictionary: Any) -> list[str]:
    """The levels of a category as texts; those of pandas, such as intervals, as it writes them."""
    is_foreign = isinstance(dictionary.type, pyarrow().BaseExtensionType)
    items = dictionary.to_pandas() if is_foreign else dictionary.to_pylist()
    return [str(item) for item in items]


def _read_dictionary(column: Any) -> RawColumn:
    """A category's own levels, in its own order; what chunks disagree on is sorted."""
    chunks = [column] if not hasattr(column, "chunks") else column.chunks
    lists = [list_levels(chunk.dictionary) for chunk in chunks]
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
    raw = read_column(column, field.name, field.origin)
    if raw is None:
        raise ValueError(f"column {field.name!r}: its type has changed to {column.type}.")
    check_finite(raw.values, field.name)
    return place_cells(raw, field)


def check_finite(x: Array, name: str) -> None:
    """Refuse infinity, which says nothing of other cells."""
    if np.isinf(x).any():
        raise ValueError(f"column {name!r}: holds infinity; correct it, or make it missing.")


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
