"""JSON lines."""

import io
import json

import pytest

from pygeco.data import read_ratings
from pygeco.errors import ReadError
from pygeco.io.ratings import read_columns
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


@pytest.mark.parametrize("change", ["", '{"user": "x", "item": 2, "rating": 1.5}\n'])
@pytest.mark.parametrize("first", ["2020-01-05", "2020-01-05 10:00:00", "2020-01-05T10:00:00Z"])
def test_ids_that_look_like_times_come_back_as_they_are_written(first, change) -> None:
    ids = [first, "2020-01-06", first] + ["x"] * bool(change)
    lines = [
        json.dumps({"user": one, "item": 2, "rating": 3, "time": "2020-01-05"}) for one in ids[:3]
    ]
    reading = read_columns(
        io.BytesIO(("\n".join(lines) + "\n" + change).encode()),
        {"user": None, "item": None, "rating": None},
        times=None,
    )
    assert reading.table.column("user").to_pylist() == ids
    assert str(reading.table.schema.field("timestamp").type) == "timestamp[s]"


def test_text_among_ids_that_look_like_times() -> None:
    """A rating whose type changes makes pyarrow look at all fields anew."""
    lines = [f'{{"user": "2020-01-{1 + k % 28:02d}", "item": {k}, "rating": 3}}' for k in range(50)]
    lines += ['{"user": "2020-01-01", "item": 0.5, "rating": 3}']
    table = read_ratings(io.BytesIO("\n".join(lines).encode())).table
    assert table.column("user").to_pylist()[:2] == ["2020-01-01", "2020-01-02"]
    assert table.column("item").to_pylist()[-1] == 0.5
