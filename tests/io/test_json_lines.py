"""JSON lines."""

import pytest

from pygeco.data import read_ratings
from pygeco.errors import ReadError
from rating_cases import rows_of


def test_json_whose_types_change_on_the_way(tmp_path) -> None:
    lines = ['{"user": 1, "item": "a", "rating": 3, "text": "' + "x" * 50 + '"}'] * 3000
    lines[2500] = '{"rating": 3.5, "user": 2, "item": "b", "more": [1, {"deep": null}]}'
    (tmp_path / "r").write_text("\n".join(lines))
    rows = rows_of(read_ratings(tmp_path / "r").table)
    assert rows[0] == (1, "a", 3.0)
    assert rows[2500] == (2, "b", 3.5)
    lines[2600] = '{"user": 2, "item": "b", "rating": "good"}'
    (tmp_path / "r").write_text("\n".join(lines))
    with pytest.raises(ReadError, match="cannot be read"):
        read_ratings(tmp_path / "r")
