"""Tables of numbers in text: separator, names, decimal commas; and matrices of ratings."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from pygeco.errors import ReadError
from pygeco.io.column_names import find_role
from pygeco.io.columns import shorten_floats
from pygeco.io.delimited import find_separator, is_number, read_head_lines, split_fields
from pygeco.io.recoding import encode_latin, open_changed
from pygeco.io.sources import Source
from pygeco.io.tables import pyarrow
from pygeco.io.text_ids import narrow_ids

MISSING = ["", "NA", "N/A", "NaN", "nan", "NAN", "null", "NULL", "None", "?", "-"]
YEARS = range(1000, 3000)
MIN_YEARS = 3  # in a row, one after the other, to be names of columns


def read_text_table(file: Source, *, first_is_text: bool = False) -> tuple[Any, bool]:
    """The table in a text, and whether its first line names the columns."""
    from pyarrow import csv

    lines = read_head_lines(file)
    if not lines or not file.head.lstrip(b"\xef\xbb\xbf").splitlines()[0].strip():
        raise ReadError(f"{file.name} starts with an empty line; give a table with columns.")
    separator = find_separator(lines) or ","
    if separator == "::":
        raise ReadError(f"{file.name} is separated by '::'; separate its columns by commas.")
    rows = [split_fields(line, separator) for line in lines]
    named = has_names(rows[0])
    texts = {rows[0][0] if named else "f0": pyarrow().string()} if first_is_text else {}
    for changes in ([], [encode_latin]):
        with open_changed(file, changes) as stream:
            table = csv.read_csv(
                stream,
                csv.ReadOptions(autogenerate_column_names=not named),
                csv.ParseOptions(delimiter=separator, newlines_in_values=b'"' in file.head),
                csv.ConvertOptions(
                    null_values=MISSING, decimal_point=_point(rows, separator), column_types=texts
                ),
            )
        if not any(pyarrow().types.is_binary(column.type) for column in table.columns):
            break  # pyarrow makes bytes of text that is not UTF-8
    return table, named


def has_names(first: list[str]) -> bool:
    """Whether these fields are names: no number is among them, or all numbers are names.

    Those are 0, 1, 2, … after an empty field, as a frame counts its columns, and years one after
    the other.
    """
    numbers = [field for field in first if field not in MISSING and is_number(field)]
    texts = [field for field in first if field not in MISSING and not is_number(field)]
    if not numbers:
        return bool(texts)
    if first[0] == "" and numbers == first[1:] == [str(k) for k in range(len(first) - 1)]:
        return True
    whole = [int(field) for field in numbers if field.isdecimal()]
    in_turn = whole == list(range(whole[0], whole[0] + len(numbers))) if whole else False
    years = in_turn and len(whole) >= MIN_YEARS and whole[0] in YEARS
    return years and (bool(texts) or first[0] == "")


def read_matrix_cells(file: Source) -> tuple[Any, str]:
    """The cells with a value as a table of user, item and rating, and what was found, in words.

    Users are counted from 1, or are the first column where it holds text or is called so; items
    are counted from 1, or are the names of the columns.
    """
    pa = pyarrow()
    table, named = read_text_table(file)
    names = table.column_names if named else [str(k + 1) for k in range(table.num_columns)]
    users = pa.array(np.arange(1, table.num_rows + 1))
    called_so = named and (names[0] == "" or find_role(names[:1], "user") is not None)
    if called_so or _is_text(table, 0):
        users = narrow_ids(read_text_table(file, first_is_text=True)[0].column(0)).combine_chunks()
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


def _point(rows: list[list[str]], separator: str) -> str:
    """The decimal sign: a comma where numbers have one and none has a point."""
    fields = [field for row in rows for field in row]
    comma = any(re.fullmatch(r"[-+]?\d+,\d+", field) for field in fields)
    point = any(re.fullmatch(r"[-+]?\d*\.\d+", field) for field in fields)
    return "," if separator != "," and comma and not point else "."


def _is_text(table: Any, k: int) -> bool:
    types, kind = pyarrow().types, table.schema.field(k).type
    return not (types.is_integer(kind) or types.is_floating(kind) or types.is_null(kind))
