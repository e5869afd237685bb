"""Tables of ratings (any object with the Arrow stream interface): columns, ids, values.

pyarrow is imported when a table is met. Ids may be integers, numbers, text, dates, times or
booleans; a fit keeps them as a sorted NumPy array, text as objects, and others as text.
"""

from __future__ import annotations

import os
import reprlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pygeco.arrays.checks import is_whole
from pygeco.errors import ColumnError, ReadError
from pygeco.io.column_names import list_names
from pygeco.io.exact_ids import cast_exactly
from pygeco.io.plain_texts import refuse_series, unpack_codes, with_plain_texts
from pygeco.io.protocols import ArrowTable
from pygeco.io.written_ids import has_zone, write_id, write_ids

Column = str | int


class Coded(NamedTuple):
    """Cell t belongs to ids[codes[t]]; ids are sorted and each occurs."""

    codes: NDArray[np.int32]
    ids: NDArray[Any]


def is_table(X: Any) -> bool:
    """Whether X speaks the Arrow stream interface, as pandas, polars, pyarrow and DuckDB do."""
    return hasattr(X, "__arrow_c_stream__")


def is_partitioned(X: Any) -> bool:
    """Whether X is for a cluster: a Dask DataFrame, the address of files (a text, a path, or a list
    of them), or what was read of one of these.
    """
    if isinstance(X, (str, os.PathLike)):
        return True
    if isinstance(X, list):
        return bool(X) and all(isinstance(one, (str, os.PathLike)) for one in X)
    return is_frame(X) or hasattr(X, "slabs")


def is_in_files(X: Any) -> bool:
    """Whether X is the address of files, or a list of such."""
    return isinstance(X, (str, os.PathLike)) or (isinstance(X, list) and is_partitioned(X))


def refuse_partitioned(X: Any, name: str = "X", what: str = "cells") -> None:
    """An error where cells are wanted in memory and X is for a cluster."""
    if is_partitioned(X):
        raise ValueError(
            f"{name}: {what} in files or in a Dask DataFrame are read into a table first; "
            f"`geco fit` reads files, {name}.compute() a Dask DataFrame."
        )


def is_frame(X: Any) -> bool:
    """Whether X is a Dask DataFrame."""
    return type(X).__module__.split(".")[0] in ("dask", "dask_expr") and hasattr(X, "npartitions")


def pyarrow() -> Any:
    """pyarrow with what this package uses of it, or a sentence about the extra."""
    try:
        import pyarrow
        import pyarrow.compute
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "tables and files need an extra; run: pip install 'pygeco[files]'", name="pyarrow"
        ) from error
    return pyarrow


def as_arrow(X: object) -> ArrowTable:
    """X as a pyarrow table."""
    pa = pyarrow()
    try:
        return with_plain_texts(X if isinstance(X, pa.Table) else pa.table(refuse_series(X)))
    except pa.ArrowException as error:
        why = f"{str(error).strip().splitlines()[0]}; make columns of one type, as by astype(str)."
        raise ValueError(f"X: the table cannot be read as Arrow columns: {why}") from error
    except OverflowError as error:
        raise ValueError("X: an integer has more than 64 bits; make such ids text.") from error
    except UnicodeEncodeError as error:
        raise ValueError(
            f"X: the text {error.object[:40]!r} has half of a surrogate pair, which is no "
            "character; read it in the encoding that it was written in."
        ) from error


def list_columns(X: Any) -> list[str]:
    """The names of a table's columns, from what pyarrow, pandas, polars and DuckDB call them."""
    return [str(name) for name in getattr(X, "column_names", ()) or getattr(X, "columns", ())]


def find_column(argument: str, given: Column, names: Sequence[str]) -> int:
    """The position of a column given by its name or its position (from 0)."""
    if isinstance(given, str):
        if given in names:
            return list(names).index(given)
        alike = [at for at, name in enumerate(names) if name.lower() == given.lower()]
        if len(alike) == 1:
            return alike[0]
    elif is_whole(given) and 0 <= given < len(names):
        return int(given)
    raise ColumnError(
        f"{argument}: there is no column {given!r}; the columns are {list_names(names)}."
    )


def encode_ids(column: Any, name: str) -> Coded:
    """Codes and sorted ids of an Arrow column without missing values."""
    found = arrange_ids(column, name)
    return Coded(found.codes, id_array(found.ids))


def arrange_ids(column: Any, name: str) -> Coded:
    """The same with the ids still in Arrow, where text takes little room."""
    pa = pyarrow()
    column = unpack_codes(column)
    missing = pa.compute.is_null(column, nan_is_null=True)
    if pa.compute.any(missing).as_py():
        at = pa.compute.index(missing, True).as_py()
        raise ValueError(f"column {name!r}: row {at + 1} has no id; remove rows without one.")
    encoded = write_ids(column, name).dictionary_encode().unify_dictionaries()
    if not encoded.num_chunks:
        return Coded(np.zeros(0, np.int32), pa.array([], encoded.type.value_type))
    ids = encoded.chunk(0).dictionary
    order = pa.compute.sort_indices(ids)
    place = np.empty(len(ids), np.int32)
    place[order] = np.arange(len(ids), dtype=np.int32)
    codes = [place[np.asarray(chunk.indices)] for chunk in encoded.chunks]
    return Coded(np.concatenate(codes), ids.take(order))


def join_ids(arrays: Sequence[Any], name: str) -> Any:
    """Arrow arrays one after the other, in the type that holds all of them."""
    pa = pyarrow()
    try:
        schemas = [pa.schema([(name, array.type)]) for array in arrays]
        kind = pa.unify_schemas(schemas, promote_options="permissive").field(0).type
        return pa.chunked_array([array.cast(kind) for array in arrays])
    except pa.ArrowException as error:
        kinds = " and ".join(sorted({str(array.type) for array in arrays}))
        raise ReadError(
            f"column {name!r}: ids are of type {kinds} in different parts; write them alike."
        ) from error


def id_array(dictionary: Any) -> NDArray[Any]:
    """Ids of Arrow as NumPy's; text as objects."""
    t = pyarrow().types
    if t.is_string(dictionary.type):
        return np.array([*dictionary.to_pylist(), None], dtype=object)[:-1]
    return dictionary.to_numpy(zero_copy_only=False)


def take_numbers(column: Any, name: str) -> NDArray[Any]:
    """The values of an Arrow column: float32 as it is, anything else that is a number float64."""
    pa = pyarrow()
    try:
        cast = column if column.type == pa.float32() else as_floats(column)
    except pa.ArrowException as error:
        raise ValueError(describe_non_number(column, name)) from error
    if cast.null_count:
        at = pa.compute.index(pa.compute.is_null(cast), True).as_py()
        raise ValueError(f"column {name!r}: row {at + 1} has no value; remove rows without one.")
    return np.asarray(cast.to_numpy())


def as_floats(column: Any) -> Any:
    """The column in float64, if that changes no whole number; else pyarrow's error."""
    pa = pyarrow()
    try:
        return column.cast(pa.float64())
    except pa.ArrowException:
        if not pa.types.is_integer(column.type):
            raise
        # Arrow refuses all from 2⁵³ on, though many of them are floats, too.
        found = column.cast(pa.float64(), safe=False)
        if not found.cast(column.type, safe=False).equals(column):
            raise
        return found


def describe_non_number(column: Any, name: str) -> str:
    """A sentence about the first value that is not a number."""
    if pyarrow().types.is_integer(column.type):
        return (
            f"column {name!r}: whole numbers beyond 2⁵³ lose their last digits as floats; subtract "
            "what they have in common, or divide them."
        )
    for at, value in enumerate(value for chunk in column.chunks for value in chunk.to_pylist()):
        if value is not None and not is_number(value):
            return (
                f"column {name!r}: expected numbers, but row {at + 1} says {reprlib.repr(value)}; "
                "name the column that holds the ratings, or correct that row."
            )
    return f"column {name!r}: values of type {column.type} are not numbers; convert them."


def is_number(value: Any) -> bool:
    """Whether Arrow takes a value for a number as well as Python, which knows 1_000 and ٣, too."""
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return not isinstance(value, str) or (value.isascii() and "_" not in value)


def find_positions(ids: Any, wanted: ArrayLike) -> NDArray[np.int64]:
    """Where each wanted id is among the sorted ids; −1 for one that is not.

    Ids that are on a cluster find them there.
    """
    if hasattr(ids, "positions"):
        return ids.positions(wanted)
    asked, possible = make_comparable(ids, wanted)
    if not len(ids) or not np.any(possible):
        return np.full(asked.shape, -1, np.int64)
    at = np.minimum(np.searchsorted(ids, asked), len(ids) - 1)
    known = possible & np.asarray(ids[at] == asked, dtype=bool)
    return np.where(known, at, -1)


def find_unsorted(ids: NDArray[Any], wanted: ArrayLike) -> NDArray[np.int64]:
    """The same among ids in any order."""
    order = np.argsort(ids, kind="stable")
    place = find_positions(ids[order], wanted)
    return np.where(place >= 0, order[np.maximum(place, 0)], -1)


def make_comparable(ids: NDArray[Any], wanted: ArrayLike) -> tuple[NDArray[Any], Any]:
    """The wanted ids in a type that compares exactly with `ids`, and which of them can be there."""
    if ids.dtype.kind == "O":
        asked = np.asarray(wanted, dtype=object)
        texts = np.array([*map(write_id, asked.flat)], dtype=object).reshape(asked.shape)
        known = np.array([text is not None for text in texts.flat], bool).reshape(asked.shape)
        return np.where(known, texts, ""), known
    asked = np.asarray(wanted)
    if ids.dtype.kind == "M" and asked.dtype.kind == "O":
        if any(map(has_zone, asked.flat)):
            return asked, False  # which NumPy would take for others
        try:
            asked = np.asarray(wanted, dtype="M8")  # dates and times of Python's
        except (TypeError, ValueError):
            return asked, False
    if ids.dtype.kind in "iu" and asked.dtype.kind == "O":  # some have more than 64 bits
        inside = np.array([_is_within(x, ids.dtype) for x in asked.flat], bool).reshape(asked.shape)
        return np.where(inside, asked, 0).astype(ids.dtype), inside
    kinds = {ids.dtype.kind, asked.dtype.kind}
    if len(kinds) == 2 and kinds <= set("iuf"):  # their common type is not exact
        return cast_exactly(asked, ids.dtype)
    return asked, np.full(asked.shape, _kind(asked) == _kind(ids))


def _is_within(one: Any, kind: np.dtype[Any]) -> bool:
    return is_whole(one) and np.iinfo(kind).min <= one <= np.iinfo(kind).max


def _kind(array: NDArray[Any]) -> str:
    return "n" if array.dtype.kind in "iuf" else array.dtype.kind


def is_text(column: Any) -> bool:
    """Whether an Arrow column holds strings."""
    types = pyarrow().types
    return bool(types.is_string(column.type) or types.is_large_string(column.type))


def parse_ids(ids: NDArray[Any], texts: Sequence[str]) -> NDArray[Any]:
    """Ids written as text, in the type of the model's own; one that cannot be stays unknown."""
    if ids.dtype.kind == "O":
        return np.array([*texts, None], dtype=object)[:-1]
    try:
        if ids.dtype.kind == "b":
            return np.array([{"true": True, "false": False}[text.lower()] for text in texts])
        if ids.dtype.kind != "M" or not any(map(has_zone, texts)):
            return np.array(list(texts), dtype=ids.dtype)
        return np.array(list(texts), dtype=str)
    except (KeyError, ValueError, OverflowError):
        return np.array(list(texts), dtype=str)
