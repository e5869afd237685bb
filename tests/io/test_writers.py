"""Tables to files and back."""

import io
import json

import numpy as np
import pyarrow as pa
import pytest

from pygeco.data import read_ratings
from pygeco.io.writers import write_table
from rating_cases import ROWS, TABLE, rows_of


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet", ".arrow", ".jsonl", ".csv.gz"])
def test_tables_are_written_and_read(ending, tmp_path) -> None:
    path = tmp_path / f"out{ending}"
    write_table(TABLE, path)
    assert rows_of(read_ratings(path).table) == ROWS
    with pytest.raises(ValueError, match="the ending says the format"):
        write_table(TABLE, tmp_path / "out.doc")
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl"])
def test_decimal_ids_are_written_as_they_are_read(ending, tmp_path) -> None:
    text = b"user,item,rating\n0.0,x,3\n2.0,y,4\n-1.25,y,5\n"
    table = read_ratings(io.BytesIO(text)).table
    write_table(table, tmp_path / f"out{ending}")
    written = (tmp_path / f"out{ending}").read_text()
    assert all(one in written for one in ("0.0", "2.0", "-1.25"))
    assert read_ratings(tmp_path / f"out{ending}").table.equals(table)


def refuse(word: str) -> None:
    raise ValueError(f"{word} is no JSON")


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64()])
def test_json_lines_hold_no_numbers_that_json_does_not_have(kind, tmp_path) -> None:
    """Python's own reader takes NaN and Infinity, and hardly any other does."""
    numbers = [0.5, np.nan, np.inf, -np.inf, None, -0.0] * 5
    kept = pa.array(np.array([np.nan if x is None else x for x in numbers]).astype("f2")).cast(kind)
    table = pa.table({"user": ["é\u2028"] * 30, "prediction": kept})
    write_table(table, tmp_path / "out.jsonl")
    lines = (tmp_path / "out.jsonl").read_bytes().decode().split("\n")[:-1]
    rows = [json.loads(line, parse_constant=refuse) for line in lines]
    wanted = [x if x is not None and np.isfinite(x) else None for x in numbers]
    assert [row["prediction"] for row in rows] == wanted
    assert {row["user"] for row in rows} == {"é\u2028"}
