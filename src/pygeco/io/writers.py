"""Tables out: CSV, TSV, Parquet, Arrow or JSON lines, by the ending of the name."""

from __future__ import annotations

import json
import os
from typing import Any, BinaryIO

from pygeco.arrays.whole_file import whole_file
from pygeco.io.tables import pyarrow
from pygeco.io.text_ids import id_texts

PACKED = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}
ENDINGS = (".csv", ".tsv", ".parquet", ".arrow", ".feather", ".jsonl", ".ndjson")


def check_ending(path: str | os.PathLike[str]) -> None:
    """A sentence for a name whose ending says nothing."""
    if _ending(path)[0] not in ENDINGS:
        raise ValueError(
            f"{os.fspath(path)}: the ending says the format; use one of {', '.join(ENDINGS)} "
            f"(text also with {', '.join(PACKED)})."
        )


def write_table(table: Any, path: str | os.PathLike[str]) -> None:
    """Write a pyarrow table, whole or not at all."""
    check_ending(path)
    ending, packed = _ending(path)
    with whole_file(path) as file:
        if packed is None:
            write_format(table, file, ending)
        else:
            whole = pyarrow().BufferOutputStream()
            with pyarrow().CompressedOutputStream(whole, packed) as out:
                write_format(table, out, ending)
            file.write(whole.getvalue())


def write_format(table: Any, file: BinaryIO | Any, ending: str) -> None:
    """Write a table to an open file in the format of this ending."""
    if ending in (".csv", ".tsv"):
        from pyarrow import csv

        sign = "\t" if ending == ".tsv" else ","
        csv.write_csv(
            spell_ids(table), file, csv.WriteOptions(delimiter=sign, quoting_style="needed")
        )
    elif ending == ".parquet":
        from pyarrow import parquet

        parquet.write_table(table, file)
    elif ending in (".arrow", ".feather"):
        from pyarrow import ipc

        with ipc.new_file(file, table.schema) as out:
            out.write_table(table)
    else:
        for batch in _with_nulls(table).to_batches(max_chunksize=1 << 14):
            rows = batch.to_pylist()
            lines = (
                json.dumps(row, ensure_ascii=False, default=str, allow_nan=False) for row in rows
            )
            file.write("".join(f"{line}\n" for line in lines).encode())


def _with_nulls(table: Any) -> Any:
    """The table without numbers that are none or are infinite, which JSON does not have."""
    pa = pyarrow()
    for k, field in enumerate(table.schema):
        if pa.types.is_floating(field.type):
            column = table.column(k).cast(pa.float64())
            known = pa.compute.if_else(pa.compute.is_finite(column), column, None)
            table = table.set_column(k, field.name, known)
    return table


def spell_ids(table: Any) -> Any:
    """The table with users and items that are decimal numbers as text: Arrow writes 1.0 as 1."""
    for k, name in enumerate(table.column_names):
        if name in ("user", "item") and pyarrow().types.is_floating(table.column(k).type):
            table = table.set_column(k, name, id_texts(table.column(k), name))
    return table


def _ending(path: str | os.PathLike[str]) -> tuple[str, str | None]:
    """The ending that says the format, and the compression after it."""
    stem, last = os.path.splitext(os.fspath(path).lower())
    if last in PACKED and os.path.splitext(stem)[1] not in (".parquet", ".arrow", ".feather"):
        return os.path.splitext(stem)[1], PACKED[last]
    return last, None
