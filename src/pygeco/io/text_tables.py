"""Tables of numbers in text: separator, names, decimal commas; and matrices of ratings."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

from pygeco.errors import ReadError
from pygeco.io.column_names import find_role
from pygeco.io.columns import shorten_floats
from pygeco.io.delimited import is_number, read_head_lines
from pygeco.io.encodings import find_encoding, make_recoder
from pygeco.io.headers import has_names
from pygeco.io.quotes import LastLine
from pygeco.io.recoding import Change, SpaceSqueezer, open_changed
from pygeco.io.separators import ALIGNED, find_separator, split_fields
from pygeco.io.sources import Source
from pygeco.io.tables import pyarrow
from pygeco.io.text_cells import type_texts
from pygeco.io.text_ids import narrow_ids

Texts = Any  # an Arrow table of texts


class TextTable(NamedTuple):
    """A table in text: its columns in their types, whether the first line names them, and the text
    of every cell. Numbers with decimal commas have points there.
    """

    table: Any
    named: bool
    texts: Texts


def read_text_table(file: Source) -> TextTable:
    """The table in a text."""
    pa = pyarrow()
    lines = read_head_lines(file)
    if not lines or not file.head.lstrip(b"\xef\xbb\xbf").splitlines()[0].strip():
        raise ReadError(f"{file.name} starts with an empty line; give a table with columns.")
    separator = find_separator(lines)
    if separator == "::":
        raise ReadError(f"{file.name} is separated by '::'; separate its columns by commas.")
    rows = [split_fields(line, separator or ",") for line in lines]
    named = has_names(rows)
    texts = _read_texts(file, separator, max(map(len, rows)))
    if named:
        names = [column[0].as_py() for column in texts.columns]
        texts = texts.slice(1).rename_columns(names)
    comma = _has_decimal_commas(rows, separator)
    typed = [type_texts(column, comma=comma) for column in texts.columns]
    written = [
        pa.compute.replace_substring(column, ",", ".")
        if comma and pa.types.is_floating(found.type)
        else column
        for column, found in zip(texts.columns, typed, strict=True)
    ]
    # All at once: to put one column into a table takes time for each of the others.
    table, texts = (pa.table(columns, names=texts.column_names) for columns in (typed, written))
    return TextTable(table, named, texts)


def _read_texts(file: Source, separator: str | None, width: int) -> Texts:
    """Every cell, of a first line with names too, as the text that it is."""
    from pyarrow import csv

    pa = pyarrow()
    with file.file() as raw:  # the head may end inside the first line
        width = max(width, raw.readline().count((separator or ",").encode()) + 1)
    for is_odd in (False, True):
        last = LastLine()
        changes: list[Change] = [make_recoder(find_encoding(file))] if is_odd else []
        changes += [SpaceSqueezer()] * (separator == ALIGNED)
        try:
            with open_changed(file, changes) as stream, last.follow(stream) as followed:
                table = csv.read_csv(
                    stream if separator is None else followed,  # a column takes any line
                    csv.ReadOptions(autogenerate_column_names=True),
                    csv.ParseOptions(
                        delimiter=(separator or ",")[0],
                        newlines_in_values=True,
                        invalid_row_handler=last.judge,
                        ignore_empty_lines=separator is not None,  # else they are missing cells
                    ),
                    csv.ConvertOptions(column_types={f"f{k}": pa.string() for k in range(width)}),
                )
        except pa.ArrowInvalid as error:
            if is_odd or "UTF8" not in str(error):
                raise
            continue
        if separator is not None:
            last.check(file.name, table.num_rows)
        return table
    raise AssertionError("every byte is a sign of Windows-1252")


def read_matrix_cells(file: Source) -> tuple[Any, str]:
    """The cells with a value as a table of user, item and rating, and what was found, in words.

    Users are counted from 1, or are the first column where it holds text or is called so, or has a
    name, or none, beside numbers; items are counted from 1, or are the names of the columns.
    """
    pa = pyarrow()
    table, named, texts = read_text_table(file)
    names = table.column_names if named else [str(k + 1) for k in range(table.num_columns)]
    users = pa.array(np.arange(1, table.num_rows + 1))
    if _is_text(table, 0) or (named and _names_users(names)):
        users = narrow_ids(texts.column(0)).combine_chunks()
        table, names = table.select(range(1, len(names))), names[1:]
    wrong = [names[k] for k in range(len(names)) if _is_text(table, k)]
    if wrong:
        raise ReadError(
            f"{file.name}: column {wrong[0]!r} holds text, not ratings; remove it, or do not read "
            "the file as a matrix."
        )
    columns = [column.cast(pa.float64()).to_numpy() for column in table.columns]
    values = np.column_stack([np.asarray(column, np.float64) for column in columns])
    rows, cols = np.nonzero(~np.isnan(values))
    if not len(rows):
        raise ReadError(f"{file.name} has no cell with a value; give another file.")
    items = narrow_ids(pa.chunked_array([pa.array(names)])).combine_chunks()
    cells = pa.table(
        {
            "user": users.take(pa.array(rows)),
            "item": items.take(pa.array(cols)),
            "rating": shorten_floats(values[rows, cols]),
        }
    )
    said = f"{'with' if named else 'without'} a header"
    return cells, (
        f"{file.name} (a matrix, {said}): {len(values):,} rows are users, {len(names):,} columns "
        f"are items; {len(rows):,} cells have a value."
    )


def _names_users(names: list[str]) -> bool:
    """Whether the first of these names of columns is that of users, and the others are of items."""
    if names[0] == "" or find_role(names[:1], "user") is not None:
        return True
    return len(names) > 1 and not is_number(names[0]) and all(map(is_number, names[1:]))


def _has_decimal_commas(rows: list[list[str]], separator: str | None) -> bool:
    """Whether numbers have a decimal comma, and none has a point."""
    fields = [field for row in rows for field in row]
    comma = any(re.fullmatch(r"[-+]?\d+,\d+", field) for field in fields)
    point = any(re.fullmatch(r"[-+]?\d*\.\d+", field) for field in fields)
    return separator not in (None, ",") and comma and not point


def _is_text(table: Any, k: int) -> bool:
    types, kind = pyarrow().types, table.schema.field(k).type
    return not (types.is_integer(kind) or types.is_floating(kind) or types.is_null(kind))
