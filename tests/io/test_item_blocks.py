"""Files with ratings below their item, against the same ratings as triplets."""

import gzip

import numpy as np
import pytest

from pygeco.data import read_ratings
from pygeco.errors import ReadError
from pygeco.io import item_blocks

RNG = np.random.default_rng(0)


def make_blocks(items, users, date=True, end="\n"):
    rows, text = [], []
    for item in items:
        text.append(f"{item}:")
        for user in RNG.permutation(users)[: RNG.integers(item != items[0], len(users) + 1)]:
            rating = int(RNG.integers(1, 6))
            rows.append((user, item, float(rating)))
            text.append(f"{user},{rating}" + (",2005-09-06" if date else ""))
    return end.join(text) + end, rows


@pytest.mark.parametrize("block_bytes", [1 << 24, 40])  # blocks of text cut items anywhere
@pytest.mark.parametrize("date", [True, False])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_ratings_below_their_item(tmp_path, monkeypatch, block_bytes, date, end):
    monkeypatch.setattr(item_blocks, "BLOCK_BYTES", block_bytes)
    text, rows = make_blocks([3, 1, 20], [7, 2649429, 5, 11], date, end)
    (tmp_path / "c.txt").write_bytes(text.encode())
    found = read_ratings(tmp_path / "c.txt")
    assert found.table.to_pylist() == [
        dict(zip(("user", "item", "rating"), row, strict=True)) for row in rows
    ]
    assert "ratings below their item" in found.found


def test_ids_of_text_and_compression(tmp_path):
    text, rows = make_blocks(["m-1", "m-02"], ["01", "1", "x"])
    (tmp_path / "c.gz").write_bytes(gzip.compress(text.encode()))
    table = read_ratings(tmp_path / "c.gz").table
    assert [tuple(row.values()) for row in table.to_pylist()] == rows


def test_a_line_of_another_kind_is_named(tmp_path):
    (tmp_path / "c.txt").write_text("1:\n2,3,2005-01-01\n4,5\n")
    with pytest.raises(ReadError, match=r"^c\.txt: the line '4,5' has 2 field\(s\) where others"):
        read_ratings(tmp_path / "c.txt")


@pytest.mark.parametrize("text", ["a,b\n1:,2\n", "1::2::3\n", "time: 3\n1,2,3\n", "x:\ny:\n"])
def test_what_is_not_in_blocks(text):
    assert not item_blocks.is_in_blocks(text.encode())
