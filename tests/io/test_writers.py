"""Tables to files and back."""

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
