"""Tables to files and back."""

import io

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
