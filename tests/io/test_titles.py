"""Titles of items."""

import numpy as np
import pytest

from pygeco.errors import ReadError
from pygeco.io.titles import read_titles


def test_titles_that_do_not_match_are_refused(tmp_path) -> None:
    (tmp_path / "t.csv").write_text("id,what,name\n7,x,Seven\n")
    with pytest.raises(ReadError, match=r"None of its items, such as '7', is one of .* as '1'"):
        read_titles(tmp_path / "t.csv", np.array([1, 2]), item="id")
    assert read_titles(tmp_path / "t.csv", np.array([7]), item="id", title="what") == ["x"]
    assert read_titles(tmp_path / "t.csv", np.array(["7"], object), item="1") == ["Seven"]
    (tmp_path / "t.csv").write_text("item,title\n01,One\n1,Another\n")
    assert read_titles(tmp_path / "t.csv", np.array(["1", "01"], object)) == ["Another", "One"]
    assert read_titles(tmp_path / "t.csv", np.array([1, 3])) == ["Another", "3"]


def test_spaces_around_ids_and_titles_are_no_part_of_them(tmp_path) -> None:
    (tmp_path / "t.csv").write_text("item, title\n film 1, The One\n")
    for known in ("film 1", " film 1", "film 1 "):
        assert read_titles(tmp_path / "t.csv", np.array([known], object)) == ["The One"]
