"""What stands in the way of a table's columns, each against a table made to have it."""

import numpy as np
import pyarrow as pa
import pytest

from pygeco.io.matrices import read_table
from pygeco.io.table_columns import count_missing, counts_rows, find_stray, inspect_columns


def test_every_kind_of_column_is_found(tmp_path) -> None:
    path = tmp_path / "t.csv"
    rows = ["n,empty,whole,part,name,mixed"]
    for k in range(8):
        name, mixed = "" if k == 2 else "x", "?!" if k == 3 else k
        rows.append(f"{k},,{k * k},{k / 4},{name},{mixed}")
    path.write_text("\n".join(rows) + "\n")
    found = inspect_columns(read_table(str(path)))
    assert found.empty == ["empty"]
    assert found.row_numbers == ["n"]
    assert set(found.whole) >= {"n", "whole"}
    assert "part" not in found.whole
    assert found.missing_elsewhere["name"] == 1
    assert found.strays == {"mixed": "?!"}


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ([0, 1, 2, 3, 4], True),
        ([10, np.nan, 12, 13, 14, 15], True),
        ([0, 1, 2, 3], False),  # too few
        ([0, 1, 2, 3, 5], False),
        ([0.5, 1.5, 2.5, 3.5, 4.5], False),
    ],
)
def test_a_row_number_counts_the_rows(values, wanted) -> None:
    assert counts_rows(np.array(values, float)) == wanted


def test_strays_among_numbers_and_missing_texts() -> None:
    assert find_stray(pa.chunked_array([["1", "2", "3", "bad"]])) == "bad"
    assert find_stray(pa.chunked_array([["a", "b", "3"]])) is None  # a column of text
    assert find_stray(pa.chunked_array([[1, 2]])) is None
    assert count_missing(pa.chunked_array([["NA", None, "x"]])) == 2
