"""Attributes from files: text with any separator, with or without names, and Parquet or Arrow.

Plain text is read without an extra; the tables are small beside those of ratings.
"""

from __future__ import annotations

import io
import os
import re
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from pygeco.errors import ReadError
from pygeco.io.attribute_arrays import as_array
from pygeco.io.attribute_layouts import find_layout
from pygeco.io.attribute_tables import ID_NAMES
from pygeco.io.column_names import plain_name
from pygeco.io.columns import explain_parse_errors
from pygeco.io.delimited import SNIFFED_LINES, is_number, refuse_comments
from pygeco.io.encodings import decode_text
from pygeco.io.headers import MISSING
from pygeco.io.lending import lend_bytes
from pygeco.io.plain_texts import unpack_codes, with_plain_texts
from pygeco.io.quotes import read_rows
from pygeco.io.separators import find_separator, split_fields
from pygeco.io.sources import MAGICS, PACKED, check_growth, open_source, refuse_wide_text
from pygeco.io.tables import pyarrow
from pygeco.io.text_ids import has_thousands

Table = dict[str, NDArray[Any]]
# A number as it is written: "007" and "1_000" are texts, as a postcode is.
NUMBER = re.compile(r"[-+]?(0|[1-9]\d*)?(\.\d*)?([eE][-+]?\d+)?|[-+]?inf(inity)?", re.IGNORECASE)
JSON = re.compile(rb'\s*(\[\s*)?\{\s*"')
DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?)?")


def read_attributes(source: str | os.PathLike[str] | BinaryIO) -> Table:
    r"""Read a table of attributes from a file, as a dict of columns.

    The file may be CSV, TSV, text separated by ";", "|", spaces or "::" (in UTF-8 or Windows-1252),
    Parquet or Arrow; format and compression are recognized by content, and "-" is standard input.
    Without names in the first line, columns are column1, column2 and so on. MovieLens' users.dat,
    movies.dat, u.user and u.item get names of their own, a column of genres, and one of years from
    the titles.

    Parameters
    ----------
    source : str, path or binary file

    Returns
    -------
    dict of arrays
        Whole numbers, numbers with NaN, times, or texts as objects with None for missing ones.
        `Attributes().fit` takes it from there.

    Examples
    --------
    >>> import io
    >>> from pygeco.data import read_attributes
    >>> table = read_attributes(io.BytesIO(b"user_id,sex,age\n1,F,30\n2,M,\n"))
    >>> {name: column.tolist() for name, column in table.items()}
    {'user_id': [1, 2], 'sex': ['F', 'M'], 'age': [30.0, nan]}
    """
    name, content = _read_bytes(source)
    if content.startswith((b"PAR1", b"ARROW1", b"\xff\xff\xff\xff")):
        with explain_parse_errors(name):
            return _read_arrow(name, content)
    refuse_wide_text(name, content)
    if b"\x00" in content:
        raise ReadError(f"{name} is not text, nor Parquet or Arrow; convert it to one of these.")
    if JSON.match(content):
        raise ReadError(f"{name} is JSON; write the attributes as CSV, Parquet or Arrow.")
    rows, separator = _split_text(name, decode_text(content))
    names = None
    if has_names(rows):
        names = [field or f"column{k + 1}" for k, field in enumerate(rows.pop(0))]
    layout = find_layout(name, names, len(rows[0]) if rows else 0)
    if names is None:
        names = layout.names if layout else [f"column{k + 1}" for k in range(len(rows[0]))]
    if len(set(names)) < len(names):
        twice = next(one for one in names if names.count(one) > 1)
        raise ReadError(f"{name}: two columns are called {twice!r}; rename one.")
    texts = () if layout is None else layout.texts
    table = {}
    for k, one in enumerate(names):
        fields = [row[k] for row in rows]
        fields = fields if separator == "," else with_decimal_points(fields)
        table[one] = parse_column(fields, as_text=one in texts)
    if layout is None:
        return table
    folder = Path(source).parent if isinstance(source, (str, os.PathLike)) else None
    return layout.complete(table, folder)


def _read_bytes(source: str | os.PathLike[str] | BinaryIO) -> tuple[str, bytes]:
    """The name and all bytes of a file, unpacked."""
    if not isinstance(source, (str, os.PathLike)):
        content = source.read()
        if not content.startswith(tuple(MAGICS)):
            return "the file", content
        source = io.BytesIO(content)
    elif (path := Path(source)).is_file():
        content = path.read_bytes()
        if not content.startswith(tuple(MAGICS)):
            return path.name, content
    file = open_source(source)  # which pyarrow unpacks
    with explain_parse_errors(file.name):
        stem, ending = os.path.splitext(file.name)
        return stem if ending in PACKED else file.name, file.whole().read()


def _split_text(name: str, text: str) -> tuple[list[list[str]], str]:
    """The fields of each line that is not blank, and what stands between them."""
    lines = [line for line in re.split(r"\r\n|\r|\n", text) if line.strip()]
    if not lines:
        raise ReadError(f"{name} is empty; give a file with attributes.")
    refuse_comments(name, lines[:SNIFFED_LINES])
    separator = find_separator(lines[:SNIFFED_LINES])
    if separator is None:
        raise ReadError(
            f"{name} has one column only, beginning {lines[0][:40]!r}; separate the columns by "
            "commas, tabs, semicolons or '::'."
        )
    if len(separator) > 1:
        rows = [split_fields(line, separator) for line in lines]
    else:
        with explain_parse_errors(name):
            rows = read_rows(name, text, separator)
            rows = [row for row in rows if any(field.strip() for field in row)]
    rows = [[field.strip() for field in row] for row in rows]
    width = len(rows[0])
    odd = next((k for k, row in enumerate(rows) if len(row) != width), None)
    if odd is not None:
        raise ReadError(
            f"{name}: line {odd + 1} has {len(rows[odd])} field(s) where the first has {width}; "
            "correct it."
        )
    return rows, separator


def has_names(rows: list[list[str]]) -> bool:
    """Whether the first line names the columns.

    None of its fields is a number then, and one of them is called as ids are, or stands above
    numbers, or none of them is found again below itself.
    """
    first, rest = rows[0], rows[1:]
    if any(is_number(field) for field in first) or not any(first):
        return False
    if any(plain_name(field) in ID_NAMES for field in first):
        return True
    below = [[row[k] for row in rest] for k in range(len(first))]
    for name, column in zip(first, below, strict=True):
        known = [field for field in column if field not in MISSING]
        if name not in MISSING and known and all(is_number(field) for field in known):
            return True
    return not any(field in column for field, column in zip(first, below, strict=True) if field)


def parse_column(fields: list[str], *, as_text: bool = False) -> NDArray[Any]:
    """Texts as whole numbers, numbers, times, or what they are.

    Numbers may be missing in the usual words; of texts only blank ones are.
    """
    known = [field for field in fields if field not in MISSING]
    if known and not as_text:
        if all(re.fullmatch(r"-?(0|[1-9]\d{0,17})", field) for field in known):
            if len(known) == len(fields):
                return np.array([int(field) for field in fields], np.int64)
            return _floats(fields)
        if all(_is_plain_number(field) for field in known):
            return _floats(fields)
        if all(DATE.fullmatch(field) for field in known):
            try:
                return np.array(["NaT" if f in MISSING else f for f in fields], "M8[us]")
            except ValueError:
                pass  # the 31st of February
    texts = np.empty(len(fields), object)
    for k, field in enumerate(fields):
        texts[k] = field or None
    return texts


def with_decimal_points(fields: list[str]) -> list[str]:
    """Numbers with a decimal comma as others write them, if all of a column have one or none."""
    known = [field for field in fields if field not in MISSING]
    if not all(re.fullmatch(r"[-+]?\d+(,\d+)?", field) for field in known) or has_thousands(known):
        return fields
    return [field.replace(",", ".") for field in fields]


def _is_plain_number(field: str) -> bool:
    return bool(NUMBER.fullmatch(field)) and is_number(field)


def _floats(fields: list[str]) -> NDArray[np.float64]:
    return np.array([np.nan if field in MISSING else float(field) for field in fields])


def _read_arrow(name: str, content: bytes) -> Table:
    pa = pyarrow()
    if content.startswith(b"PAR1"):
        from pyarrow.parquet import ParquetFile

        whole = ParquetFile(pa.BufferReader(lend_bytes(content)))
        cells = whole.metadata.num_rows * whole.metadata.num_columns
        check_growth(name, len(content), 8 * cells)
        table = whole.read()
    else:
        opener = pa.ipc.open_file if content.startswith(b"ARROW1") else pa.ipc.open_stream
        table = opener(pa.BufferReader(content)).read_all()
    table.validate(full=True)
    if len(set(table.column_names)) < table.num_columns:
        raise ReadError(f"{name}: two columns have the same name; rename one.")
    table = with_plain_texts(table)
    return {str(one): _as_array(table.column(one)) for one in table.column_names}


def _as_array(column: Any) -> NDArray[Any]:
    types = pyarrow().types
    column = unpack_codes(column)
    if types.is_nested(column.type):
        return as_array(column.to_pylist(), "lists")
    return np.asarray(column.to_numpy())
