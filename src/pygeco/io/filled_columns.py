"""Filled cells of tables in the types of their columns, of pandas, polars and Arrow."""

from __future__ import annotations

import base64
import decimal
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.low_rank import Array
from pygeco.io.origins import DAY, add_origin, count_per_second
from pygeco.io.plain_texts import with_views_of
from pygeco.io.tables import as_arrow, is_text, pyarrow
from pygeco.io.typed_columns import Field, list_levels

TRUTHS = ("False", "True")
MAX_DIGITS = 400  # of a decimal: float64 has 309 before the point, and decimals of Arrow 76 behind


class Filling(NamedTuple):
    """Cells of a column that replace missing ones: their places, and an Arrow array.

    Where all of them are missing, the column may have a type that holds none of the fit's cells
    (None alone says nothing). `schema` is then that of the fit, and the whole column is replaced.
    """

    rows: NDArray[np.intp]
    cells: Any
    field: Field
    schema: Any = None


def make_filling(rows: NDArray[np.intp], x: Array, field: Field, column: Any) -> Filling:
    """The cells of an Arrow column for numbers in the terms of its field."""
    kind, schema = column.type, None
    if len(rows) == len(column):
        schema = _find_schema(field, kind)
        kind = kind if schema is None else schema.field(0).type
    return Filling(rows, make_cells(x, field, kind), field, schema)


def _find_schema(field: Field, kind: Any) -> Any:
    """The schema of the fit's column where this type cannot hold its cells, else None."""
    pa = pyarrow()
    if field.form:
        schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(field.form)))
        return None if _can_hold(kind, schema.field(0).type) else schema
    if not pa.types.is_null(kind):
        return None
    guess = pa.timestamp("us") if field.step else pa.float64()
    if field.levels:
        guess = pa.bool_() if field.levels == TRUTHS else pa.large_string()
    return pa.schema([(field.name, guess)])


def _can_hold(kind: Any, fitted: Any) -> bool:
    t = pyarrow().types
    if t.is_dictionary(fitted) and not t.is_dictionary(kind):
        return False
    both = [x.value_type if t.is_dictionary(x) else x for x in (kind, fitted)]
    return both[0].equals(both[1]) or all(map(_is_number, both)) or all(map(_is_text, both))


def _is_number(kind: Any) -> bool:
    t = pyarrow().types
    return bool(t.is_integer(kind) or t.is_floating(kind) or t.is_decimal(kind))


def _is_text(kind: Any) -> bool:
    t = pyarrow().types
    return bool(t.is_string(kind) or t.is_large_string(kind) or t.is_string_view(kind))


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
        return pa.array(add_origin(x, field.origin, int(ends.min), int(ends.max))).cast(kind)
    if t.is_temporal(kind):
        return _make_moments(x, field.origin, kind)
    x = x + field.origin
    if t.is_decimal(kind):
        return _make_decimals(x, kind)
    top = float(np.finfo(kind.to_pandas_dtype()).max)
    return pa.array(np.clip(x, -top, top)).cast(kind, safe=False)


def _make_moments(seconds: Array, origin: int, kind: Any) -> Any:
    """Times; those of a day stay within it."""
    pa = pyarrow()
    t = pa.types
    if t.is_date32(kind):
        ends = np.iinfo(np.int32)
        days = add_origin(seconds / DAY, origin // DAY, int(ends.min), int(ends.max))
        return pa.array(days.astype(np.int32)).cast(kind)
    unit, is_time = count_per_second(kind), t.is_time(kind)
    low, high = (0, DAY * unit - 1) if is_time else (1 - (1 << 63), (1 << 63) - 1)
    counts = add_origin(seconds * float(unit), origin * unit, low, high)
    return pa.array(counts.astype(np.int32) if t.is_time32(kind) else counts).cast(kind)


def _make_decimals(x: Array, kind: Any) -> Any:
    """Decimals; those that have too many digits for the type are its largest."""
    top = decimal.Decimal(10**kind.precision - 1).scaleb(-kind.scale)
    one = decimal.Decimal(1).scaleb(-kind.scale)
    with decimal.localcontext(prec=MAX_DIGITS):
        cells = [
            min(max(decimal.Decimal(number).quantize(one), -top), top) for number in x.tolist()
        ]
    return pyarrow().array(cells, kind)


def fill_columns(X: Any, filled: dict[str, Filling]) -> Any:
    """The table with cells replaced, by column. X stays as it is.

    A table of pandas or polars is one again, of the same types; any other becomes one of Arrow.
    """
    package = type(X).__module__.partition(".")[0]
    if package == "pandas":
        return _fill_pandas(X, filled)
    if package == "polars":
        return _fill_polars(X, filled)
    table: Any = as_arrow(X)
    names, fields, columns = table.column_names, list(table.schema), table.columns
    for name, filling in filled.items():
        k = names.index(name)
        if filling.schema is None:
            columns[k] = _fill_arrow(columns[k], filling)
        else:
            fields[k], columns[k] = filling.schema.field(0), _make_column(filling)
    table = pyarrow().table(columns, schema=pyarrow().schema(fields, table.schema.metadata))
    return with_views_of(X, table)


def _fill_pandas(X: Any, filled: dict[str, Filling]) -> Any:
    out = X.copy(deep=False)
    for k, name in enumerate(X.columns):
        if str(name) in filled:
            filling = filled[str(name)]
            column = X.iloc[:, k]
            if filling.schema is not None:
                out.isetitem(k, _make_table(filling).to_pandas().iloc[:, 0].array)
            elif hasattr(column, "cat") and hasattr(column.dtype, "categories"):
                out.isetitem(k, _fill_categories(column, filling))
            elif hasattr(column.dtype, "pyarrow_dtype"):
                own = pyarrow().chunked_array([pyarrow().array(column.array)])
                out.isetitem(k, type(column.array)(_fill_arrow(own, filling)))
            elif _is_plain(column):
                values = column.to_numpy(copy=True)
                values[filling.rows] = filling.cells.to_numpy(zero_copy_only=False)
                out.isetitem(k, values)
            else:
                column = column.copy()
                column.iloc[filling.rows] = list(filling.cells.to_pandas())
                out.isetitem(k, column)
    return out


def _is_plain(column: Any) -> bool:
    return isinstance(column.dtype, np.dtype) and column.dtype.kind in "fiu"


def _fill_categories(column: Any, filling: Filling) -> Any:
    """A category of pandas, by the codes of its levels."""
    own, is_ordered = column.cat.categories, bool(column.cat.ordered)
    levels, moved, places = extend_levels(pyarrow().array(own), filling, is_ordered=is_ordered)
    if len(levels) > len(own):
        own = levels.to_pandas().astype(own.dtype)
    codes = np.append(moved, -1)[column.cat.codes.to_numpy()]
    codes[filling.rows] = places
    return type(column.array).from_codes(codes, own, ordered=is_ordered)


def _fill_polars(X: Any, filled: dict[str, Filling]) -> Any:
    import polars

    new = []
    for name, filling in filled.items():
        if filling.schema is not None:
            new.append(
                polars.DataFrame(polars.from_arrow(_make_table(filling))).to_series().alias(name)
            )
            continue
        own, cells = X[name], filling.cells
        if isinstance(own.dtype, polars.Enum):
            levels = pyarrow().array(own.dtype.categories.to_list(), cells.type)
            levels = extend_levels(levels, filling, is_ordered=True)[0]
            own = own.cast(polars.Enum(levels.to_pylist()))
        found = polars.Series(cells.to_pylist()) if is_text(cells) else polars.from_arrow(cells)
        new.append(own.clone().scatter(filling.rows, found.cast(own.dtype)))
    return X.with_columns(new)


def _fill_arrow(column: Any, filling: Filling) -> Any:
    pa = pyarrow()
    kind = column.type
    if pa.types.is_dictionary(kind):
        whole = column.unify_dictionaries().combine_chunks()
        levels, moved, places = extend_levels(whole.dictionary, filling, is_ordered=kind.ordered)
        codes = whole.indices.cast(pa.int64()).fill_null(-1).to_numpy()
        codes = np.append(moved, -1)[codes]
        codes[filling.rows] = places
        return _make_dictionary(codes, levels, kind)
    both = pa.concat_arrays([column.combine_chunks(), filling.cells.cast(kind)])
    source = np.arange(len(column))
    source[filling.rows] = len(column) + np.arange(len(filling.rows))
    return both.take(pa.array(source))


def _make_dictionary(codes: NDArray[np.intp], levels: Any, kind: Any) -> Any:
    pa = pyarrow()
    indices = pa.array(codes, mask=codes < 0).cast(kind.index_type)
    return pa.DictionaryArray.from_arrays(indices, levels, ordered=kind.ordered)


def _make_table(filling: Filling) -> Any:
    return pyarrow().table([_make_column(filling)], schema=filling.schema)


def _make_column(filling: Filling) -> Any:
    """A whole column of the fit's type."""
    pa = pyarrow()
    kind, field = filling.schema.field(0).type, filling.field
    if not pa.types.is_dictionary(kind):
        return filling.cells.cast(kind)
    if field.levels and not _is_text(kind.value_type):
        raise ValueError(
            f"column {field.name!r}: is missing in all rows, without the categories of the fit; "
            "give it these."
        )
    levels = pa.array(field.levels) if field.levels else make_cells(field.values, field, kind)
    levels, _, places = extend_levels(levels, filling, is_ordered=kind.ordered)
    return _make_dictionary(places, levels.cast(kind.value_type), kind)


def extend_levels(
    levels: Any, filling: Filling, *, is_ordered: bool
) -> tuple[Any, NDArray[np.intp], NDArray[np.intp]]:
    """The levels of a category (an Arrow array) with those of its new cells that it lacks.

    These stand where the fit has them, or behind. Also the places of its own levels, and of cells.
    """
    pa = pyarrow()
    coded = filling.cells.dictionary_encode()
    own, wanted = list_levels(levels), list_levels(coded.dictionary)
    known = set(own)
    lacking = [k for k, text in enumerate(wanted) if text not in known]
    texts = own + [wanted[k] for k in lacking]
    order = np.arange(len(texts))
    if lacking:
        found = _order_levels(texts, len(own), filling.field)
        if (found is None and is_ordered) or _is_text(levels.type) != is_text(coded.dictionary):
            raise ValueError(
                f"column {filling.field.name!r}: a missing cell is to get {texts[len(own)]!r}, "
                "which is none of its categories; give it those of the fit."
            )
        order = order if found is None else found
        more = coded.dictionary.take(pa.array(lacking)).cast(levels.type)
        levels = pa.concat_arrays([levels, more]).take(pa.array(order))
    place = {texts[k]: t for t, k in enumerate(order.tolist())}
    moved = np.array([place[text] for text in own], np.intp)
    places = np.array([place[text] for text in wanted], np.intp)
    return levels, moved, places[coded.indices.to_numpy()]


def _order_levels(texts: list[str], count: int, field: Field) -> NDArray[np.intp] | None:
    """Levels as the fit has them, numbers rising; None where the first `count` are not so."""
    ranks = {level: float(k) for k, level in enumerate(field.levels)}
    if any(text not in ranks for text in texts) and field.levels:
        return None
    keys = [ranks[text] if field.levels else float(text) for text in texts]
    return np.argsort(keys) if keys[:count] == sorted(keys[:count]) else None


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
