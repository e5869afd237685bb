"""Ratings in blocks: a line `item:`, then a line `user,rating,date` for each of its ratings."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from pygeco.errors import ReadError
from pygeco.io.recoding import UNIT
from pygeco.io.sources import Source
from pygeco.io.tables import pyarrow

BLOCK_BYTES = 1 << 24  # of text that are taken apart at once
NAMES = ["user", "item", "rating", "date"]
_START = re.compile(rb"(?:\s*[^\s,;:]+:[ \t]*\r?\n)+[^\n:,]+,[^\n,]+(,[^\n,]*)?(\r?\n|$)")


def is_in_blocks(head: bytes) -> bool:
    """Whether a text begins with the number of an item, or of several, and a rating."""
    return _START.match(head) is not None


def list_block_columns(head: bytes) -> list[str]:
    """The names of what each rating has; the date may be missing."""
    found = _START.match(head)
    return NAMES if found is not None and found[1] else NAMES[:3]


def read_blocks(file: Source) -> Any:
    """All ratings of a file in blocks, as a table; ids are whole numbers where all are."""
    from pyarrow import csv as arrow_csv

    pa = pyarrow()
    names = list_block_columns(file.head)
    parts: list[Any] = []
    item = None
    with file.stream() as stream:
        batches = arrow_csv.open_csv(
            stream,
            read_options=arrow_csv.ReadOptions(column_names=["line"], block_size=BLOCK_BYTES),
            parse_options=arrow_csv.ParseOptions(delimiter=UNIT.decode(), quote_char=False),
            convert_options=arrow_csv.ConvertOptions(column_types={"line": pa.string()}),
        )
        for batch in batches:
            lines = pa.compute.utf8_trim_whitespace(batch.column(0))
            part, item = _take_apart(file.name, lines, item, names)
            parts.append(part)
    table = pa.concat_tables(parts)
    for k in range(2):
        table = table.set_column(k, names[k], _as_numbers(table.column(k)))
    return table


def _take_apart(name: str, lines: Any, item: Any, names: list[str]) -> tuple[Any, Any]:
    """The ratings among some lines, and the item of the last; `item` is that of the first."""
    pa = pyarrow()
    is_head = pa.compute.ends_with(lines, ":")
    heads = pa.compute.utf8_rtrim(lines.filter(is_head), ":")
    known = pa.concat_arrays([pa.array([item], pa.string()), heads])
    is_rating = ~is_head.to_numpy(zero_copy_only=False)
    block = np.cumsum(~is_rating)[is_rating]
    rows = lines.filter(pa.array(is_rating))
    fields = pa.compute.split_pattern(rows, ",")
    width = len(names) - 1
    sizes = pa.compute.list_value_length(fields).to_numpy()
    if len(sizes) and not np.all(sizes == width):
        wrong = rows[int(np.argmax(sizes != width))].as_py()
        raise ReadError(
            f"{name}: the line {wrong[:60]!r} has {len(wrong.split(','))} field(s) where others "
            f"have {width}; correct it."
        )
    flat = pa.compute.utf8_trim_whitespace(fields.flatten())
    at = np.arange(0, len(flat), width)
    columns = [flat.take(pa.array(at + k)) for k in range(width)]
    columns.insert(1, known.take(pa.array(block)))
    return pa.table(dict(zip(names, columns, strict=True))), known[-1].as_py()


def _as_numbers(column: Any) -> Any:
    pa = pyarrow()
    try:
        found = column.cast(pa.int64())
    except pa.ArrowException:
        return column
    return found if found.cast(pa.string()).equals(column) else column
