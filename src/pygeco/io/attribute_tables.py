"""Tables of attributes from any package, and which of their columns holds the ids."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np
import scipy  # its parts are imported when used
from numpy.typing import NDArray

from pygeco.io.attribute_arrays import as_array, read_array
from pygeco.io.attribute_columns import Column, Numbers, Texts, read_arrow
from pygeco.io.column_names import ID_ENDINGS, PEOPLE, THINGS, join_words, plain_name
from pygeco.io.plain_texts import name_intervals
from pygeco.io.protocols import ArrowColumn
from pygeco.io.tables import as_arrow, encode_ids, find_column, is_frame, is_table, pyarrow

MIN_DISTINCT_ROWS = 10  # fewer may differ by chance, and are neither ids nor identifiers
# Names that say "id", of somebody, of something, or alone; "postcode" and "page number" do not.
PLAIN_IDS = {"id", "ids", "uid", "iid", "uuid", "key", "index", "idx", "rowid", "identifier"}
SUBJECTS = (*PEOPLE, *THINGS)
ID_NAMES = PLAIN_IDS | set(join_words(SUBJECTS, PLAIN_IDS))
SUBJECT_NAMES = set(join_words(SUBJECTS, ID_ENDINGS))


class AttributeTable(NamedTuple):
    """The columns of a table by name, as Arrow or NumPy has them, and its number of rows."""

    columns: dict[str, Any]
    rows: int

    @property
    def names(self) -> list[str]:
        return list(self.columns)

    def read(self, name: str, *, as_text: bool = False) -> Column:
        """A column as numbers, texts or lists."""
        raw = self.columns[name]
        if isinstance(raw, np.ndarray):
            return read_array(raw, name, as_text=as_text)
        return read_arrow(raw, name)

    def ids(self, name: str) -> NDArray[Any]:
        """A column of ids, row by row; text as objects. A row without one is refused."""
        raw = self.columns[name]
        if not isinstance(raw, np.ndarray):
            found = encode_ids(raw, name)
            return found.ids[found.codes]
        if raw.dtype.kind in "biuM":
            return raw
        column = self.read(name)
        if isinstance(column, Texts):
            if len(column.codes) and column.codes.min() < 0:
                _refuse_gap(name, column.codes < 0)
            return np.array([*column.levels, None], object)[column.codes]
        if isinstance(column, Numbers):
            if np.isnan(column.values).any():
                _refuse_gap(name, np.isnan(column.values))
            return np.asarray(raw.tolist()) if raw.dtype.kind == "O" else raw
        raise ValueError(f"column {name!r}: lists cannot be ids; name another in id_column=.")


def _refuse_gap(name: str, gaps: NDArray[np.bool_]) -> None:
    row = int(np.argmax(gaps)) + 1
    raise ValueError(f"column {name!r}: row {row} has no id; remove rows without one.")


def take_rows(X: Any) -> Any:
    """X as an `AttributeTable` if it is a table or a dict of columns, else as it is: a matrix."""
    refuse_other_forms(X)
    return read_attribute_table(X) if _has_columns(X) else X


def _has_columns(X: Any) -> bool:
    is_mapping = isinstance(X, Mapping) and not scipy.sparse.issparse(
        X
    )  # a matrix by keys is one, too
    return isinstance(X, AttributeTable) or is_mapping or is_table(X)


def read_attribute_table(X: Any) -> AttributeTable:
    """The columns of a table of any package, or of a dict."""
    if isinstance(X, AttributeTable):
        return X
    columns: dict[str, NDArray[Any] | ArrowColumn]
    if isinstance(X, Mapping):
        columns = {str(name): as_array(values, str(name)) for name, values in X.items()}
        names, sizes = [str(name) for name in X], {k: len(v) for k, v in columns.items()}
        rows = next(iter(sizes.values()), 0)
    else:
        table = as_arrow(name_intervals(X))
        names = [str(name) for name in table.column_names]
        columns = {n: table.column(k) for k, n in enumerate(names) if not _is_index(n)}
        names = [name for name in names if not _is_index(name)]
        rows, sizes = table.num_rows, {}
        index = getattr(X, "index", None)  # of pandas: one with a name is a column like others
        called = getattr(index, "name", None)
        if isinstance(called, str) and called not in names:
            columns = {called: as_array(index, called), **columns}
    if len(columns) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"X: two columns are called {twice!r}; rename one.")
    odd = next((name for name, size in sizes.items() if size != rows), None)
    if odd is not None:
        raise ValueError(
            f"X: column {odd!r} has {sizes[odd]:,} rows, but {names[0]!r} has {rows:,}."
        )
    return AttributeTable(columns, rows)


def refuse_other_forms(X: Any) -> None:
    """A sentence about what is neither a table nor a matrix, though it may look like one."""
    if isinstance(X, (str, os.PathLike)):
        raise ValueError(
            f"X: {os.fspath(X)!r} is a text, not a table; read a file with "
            "pygeco.data.read_attributes."
        )
    if hasattr(X, "collect") or is_frame(X):  # of polars' lazy frames and of Dask's
        raise ValueError(
            f"X: a lazy {type(X).__name__} has no rows yet; call its collect() or compute()."
        )
    if hasattr(X, "to_frame"):
        raise ValueError("X: is one column; give a table, such as its to_frame().")


def _is_index(name: str) -> bool:
    """Whether this is how pandas tells Arrow of an index without a name."""
    return name.startswith("__index_level_")


def find_id_column(
    table: AttributeTable, given: str | int | None, attributes: Collection[str] = ()
) -> str | None:
    """The name of the column of ids: the one given, or with "auto" the one that looks like it,
    unless it is among those that a user calls attributes.

    That is one whose name says so ("id", "user_id", "movieId"); else the first column if it has
    another whole number or text in each row, and is called by what the rows are ("user", "item")
    or has so many rows that this is no chance.
    """
    if given is None or not table.columns:
        return None
    if given != "auto":
        return table.names[find_column("id_column", given, table.names)]
    free = [name for name in table.names if name not in attributes]
    named = [name for name in free if plain_name(name) in ID_NAMES]
    if named:
        return next((name for name in named if is_distinct(table, name)), named[0])
    first = table.names[0]
    if first in attributes:
        return None
    is_called_so = plain_name(first) in SUBJECT_NAMES
    is_clear = is_called_so or (len(table.columns) > 1 and table.rows >= MIN_DISTINCT_ROWS)
    return first if is_clear and is_distinct(table, first) else None


def is_named_id(name: str) -> bool:
    """Whether a column's name says that it holds ids, or what the rows are."""
    return plain_name(name) in ID_NAMES | SUBJECT_NAMES


def is_distinct(table: AttributeTable, name: str) -> bool:
    """Whether a column has another text or whole number in each row."""
    try:
        column = table.read(name)
    except ValueError:
        return False
    if isinstance(column, Texts):
        return len(column.levels) == table.rows
    if not isinstance(column, Numbers) or not _holds_integers(table.columns[name]):
        return False
    return _count_integers(table.columns[name]) == table.rows


def _count_integers(raw: Any) -> int:
    """How many different ones there are: as integers, for floats know no digits beyond 2⁵³."""
    if not isinstance(raw, np.ndarray):
        return int(pyarrow().compute.count_distinct(raw, mode="only_valid").as_py())
    return len(
        {x for x in raw.tolist() if x is not None} if raw.dtype == object else np.unique(raw)
    )


def _holds_integers(raw: Any) -> bool:
    """Whether these are whole numbers by their type: dates and measured numbers are no ids."""
    if not isinstance(raw, np.ndarray):
        return bool(pyarrow().types.is_integer(raw.type))
    whole = (int, np.integer)
    return raw.dtype.kind in "iu" or all(isinstance(x, whole) for x in raw if x is not None)
