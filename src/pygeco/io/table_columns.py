"""What stands in the way of a table's columns: what cannot be filled, what should not count."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pygeco.arrays.low_rank import Array
from pygeco.io.delimited import is_number
from pygeco.io.headers import MISSING
from pygeco.io.matrices import AnyTable, Table
from pygeco.io.tables import is_text, pyarrow

MIN_COUNTED = 5  # known cells that count the rows, for a row number: fewer may do so by chance
MIN_NUMBERS = 0.5  # of the distinct texts of a column, for its other texts to be strays


class Columns(NamedTuple):
    """Columns of numbers that have none, that count the rows, that are whole; and of the others
    their missing cells, and a stray text where they hold numbers for the most part.
    """

    empty: list[str]
    row_numbers: list[str]
    whole: list[str]
    missing_elsewhere: dict[str, int]
    strays: dict[str, str]


def inspect_columns(table: Table) -> Columns:
    """Look at every column of a table once."""
    numbers = {name: table.values[:, k] for k, name in enumerate(table.names)}
    others = {name: table.arrow.column(name) for name in table.others}
    empty = [name for name, x in numbers.items() if np.isnan(x).all()]
    strays = {name: find_stray(column) for name, column in others.items()}
    return Columns(
        empty,
        [name for name, x in numbers.items() if counts_rows(x)],
        [name for name, x in numbers.items() if name not in empty and has_whole_numbers(x)],
        {name: count_missing(column) for name, column in others.items()},
        {name: stray for name, stray in strays.items() if stray is not None},
    )


def counts_rows(x: Array) -> bool:
    """Whether the known cells are 0, 1, 2, … or the like, row by row."""
    at = np.flatnonzero(~np.isnan(x))
    steps = x[at] - at
    return (
        len(at) >= MIN_COUNTED and bool(np.all(steps == steps[0])) and float(x[at[0]]).is_integer()
    )


def has_whole_numbers(x: Array) -> bool:
    """Whether every known cell is a whole number."""
    known = x[~np.isnan(x)]
    return bool(np.all(known == np.round(known)))


def count_missing(column: Any) -> int:
    """Nulls, and in a column of text what a text file calls missing."""
    absent = int(column.null_count)
    if is_text(column):
        import pyarrow.compute as pc

        names = pyarrow().array(MISSING, column.type)
        absent += int(pc.sum(pc.is_in(column, value_set=names)).as_py() or 0)
    return absent


def has_number_names(whole: AnyTable) -> bool:
    """Whether the first line of a text, nothing but numbers, was taken for names."""
    names = whole.arrow.column_names if whole.named and whole.texts is not None else []
    names = [name for name in names if name]
    return bool(names) and all(map(is_number, names))


def clear_missing(table: Any) -> Any:
    """An Arrow table in which texts that say "missing", such as NA or ?, are missing."""
    import pyarrow.compute as pc

    for k, column in enumerate(table.columns):
        if is_text(column):
            names = pyarrow().array(MISSING, column.type)
            gone = pc.is_in(column, value_set=names)
            if pc.any(gone).as_py():
                cleared = pc.if_else(gone, None, column)
                table = table.set_column(k, table.field(k), cleared)
    return table


def find_stray(column: Any) -> str | None:
    """A text among the numbers of a column, or None where it is no column of numbers."""
    if not is_text(column):
        return None
    texts = [text for text in column.unique().to_pylist() if text not in (None, *MISSING)]
    strays = [text for text in texts if not is_number(text)]
    return strays[0] if strays and len(strays) < MIN_NUMBERS * len(texts) else None
