"""What parts the fields of a line."""

import io

import pytest

from pygeco.data import read_ratings
from pygeco.io import delimited
from pygeco.io.click_tables import read_click_table
from pygeco.io.separators import ALIGNED, find_separator, split_fields
from rating_cases import rows_of


@pytest.mark.parametrize("end", ["\n", "\r\n", "  \n"])
@pytest.mark.parametrize(
    "write", ["%6d %6d %6.1f", "%-8d%-8d%.1f", "   %d  %d %.1f", "%04d  %d  %.1f"]
)
def test_columns_that_spaces_align(monkeypatch, write, end) -> None:
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 256)
    rows = [(k * 37 % 1000, k % 13, k % 9 / 2) for k in range(300)]
    text = "".join(write % row + end for row in rows)
    if end == "\n":
        text = "  user  item    rating\n" + text
    reading = read_ratings(io.BytesIO(text.encode()))
    named = "with" if end == "\n" else "without"
    assert f"(aligned by spaces, {named} a header)" in reading.found
    found = rows_of(reading.table)
    assert [(int(u), i, y) for u, i, y in found] == rows
    assert found[1][0] == ("0037" if "04" in write else 37)


def test_spaces_between_cells_that_are_missing() -> None:
    text = b"a x 4\na  3\nb y \nc z 1\n"
    assert read_ratings(io.BytesIO(text)).table.num_rows == 2
    lists = b"1 5 7\n2  5 8 9\n3 4\n"
    assert read_click_table(io.BytesIO(lists), {}).table.num_rows == 6


def test_the_sign_that_parts_all_lines_into_the_most_fields() -> None:
    assert find_separator(["1;2;3,5", "4;5;6,5"]) == ";"
    assert find_separator(["1::a, b::c", "2::d::e"]) == "::"
    assert find_separator(["a b", "c d"]) == " "
    assert find_separator([" 1  2", "10 20"]) == ALIGNED
    assert find_separator(["a", "b"]) is None
    assert split_fields(" a   b ", ALIGNED) == ["a", "b"]
