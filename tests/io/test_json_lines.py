"""JSON lines."""

import io
import json

import pytest

from pygeco.data import read_attributes, read_ratings
from pygeco.errors import ColumnError, ReadError
from pygeco.io import json_lines, sources
from pygeco.io.click_tables import find_click_form, read_click_table
from pygeco.io.ratings import read_columns
from pygeco.io.sources import open_source
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


def late_lines(more: str, colon: str = ":") -> bytes:
    """6,000 lines, more than the head, of which every third from 5,000 on has `more`."""
    have = [more if k >= 5000 and k % 3 == 0 else "" for k in range(6000)]
    lines = [f'{{"user"{colon}{k % 50},"item"{colon}{k}{rest}}}\n' for k, rest in enumerate(have)]
    return "".join(lines).encode()


@pytest.mark.parametrize("colon", [":", ": ", " :", "\t: "])
@pytest.mark.parametrize(
    ("more", "wanted"),
    [
        (',"rating"{}3', 3.0),
        (',"stars"{}3.5,"text"{}"so \\"\\":"', 3.5),
        (',"text"{}"\\"a\\":","score"{}"4"', 4.0),
    ],
)
def test_ratings_that_come_late_are_found(more, wanted, colon) -> None:
    content = late_lines(more.replace("{}", colon), colon)
    file = open_source(io.BytesIO(content))
    assert find_click_form(file, {}) is None
    reading = read_ratings(io.BytesIO(content))
    assert reading.table.num_rows == 333
    assert set(reading.table.column("rating").to_pylist()) == {wanted}
    assert "5,667 rows with a missing value are left out" in reading.found


@pytest.mark.parametrize(
    "more", ["", ',"more":{"rating":3}', ',"text":"the \\"rating\\": 3"', ',"price":3']
)
def test_what_is_no_rating_leaves_clicks(more) -> None:
    file = open_source(io.BytesIO(late_lines(more)))
    assert find_click_form(file, {}) == "pairs"
    assert read_click_table(file, {}).table.num_rows == 6000


def test_columns_that_are_named_are_looked_for_in_the_whole_file() -> None:
    content = late_lines(',"how":4,"who":7')
    found = read_ratings(io.BytesIO(content), rating="how").table
    assert found.column("item").to_pylist()[:2] == [5001, 5004]
    found = read_ratings(io.BytesIO(content), rating="how", user="who").table
    assert found.column("user").to_pylist() == [7] * 333
    with pytest.raises(ColumnError, match="too few for user and item and rating"):
        read_ratings(io.BytesIO(content), rating="why")


@pytest.mark.parametrize("count", [3, 3000])
@pytest.mark.parametrize("first", ["Léon", "ann"])
def test_what_is_no_utf_8_is_windows_1252(count, first) -> None:
    """As in text of columns; ids must not be bytes that nobody can write, nor a traceback."""
    names = [first] * count + ["Éric", "ÿ€"] * count
    lines = [json.dumps({"user": one, "né": "à", "rating": 3}, ensure_ascii=False) for one in names]
    if first == "ann":
        lines[:count] = [line.replace("né", "ne").replace("à", "a") for line in lines[:count]]
    for key in ("né", "item"):
        content = "\n".join(
            line.replace('"né"', f'"{key}"').replace('"ne"', f'"{key}"') for line in lines
        )
        found = read_ratings(io.BytesIO(content.encode("cp1252")), item=key).table
        assert found.column("user").to_pylist() == names
        assert set(found.column("item").to_pylist()) <= {"à", "a"}
        assert found.equals(read_ratings(io.BytesIO(content.encode()), item=key).table)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_text_of_wide_letters_names_its_encoding(encoding) -> None:
    for text in ('{"user": "Léon", "item": 2, "rating": 3}\n', "user,item,rating\nann,1,2\n"):
        for read in (read_ratings, read_attributes):
            with pytest.raises(ReadError, match=f"is text in {encoding.upper()}; save it in UTF-8"):
                read(io.BytesIO(text.encode(encoding)))


@pytest.mark.parametrize("sign", ["x", "é", "語"])
@pytest.mark.parametrize("long", [0, 1, 7])  # the line that is longer than the head
def test_lines_longer_than_the_head(monkeypatch, sign, long) -> None:
    monkeypatch.setattr(sources, "HEAD_BYTES", 128)
    rows = [{"note": "", "user": f"{sign}{k}", "item": k % 3, "rating": 2.5} for k in range(9)]
    rows[long]["note"] = sign * 500
    content = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows).encode()
    for shift in range(3):  # the head ends inside of a sign
        table = read_ratings(io.BytesIO(b" " * shift + content)).table
        wanted = [(row["user"], row["item"], row["rating"]) for row in rows]
        assert rows_of(table) == wanted


def test_lines_longer_than_a_block_are_named(monkeypatch) -> None:
    row = '{"user": 1, "item": 2, "rating": 3, "note": "%s"}\n'
    content = (3 * (row % "") + row % (2_000 * "x") + 99 * (row % "")).encode()
    assert read_ratings(io.BytesIO(content)).table.num_rows == 103
    monkeypatch.setattr(json_lines, "BLOCK_BYTES", 512)
    with pytest.raises(ReadError, match="cannot be read: a line is longer than 512 bytes"):
        read_ratings(io.BytesIO(content))


@pytest.mark.parametrize("values", [[1, "x"], [[1], "x"], [{"a": 1}, 2], [None, 1, {"user": 9}]])
def test_fields_that_nobody_asks_for_may_be_of_several_types(values) -> None:
    """As prices that are numbers here and texts there, in the first lines too."""
    for kind, ids in ((int, [2**53 + 1, 7]), (str, ["01", "ann"])):
        lines = [
            json.dumps({"price": value, "user": user, "item": "x", "rating": 3.5})
            for value in values
            for user in ids
        ]
        found = read_ratings(io.BytesIO("\n".join(lines).encode())).table
        assert found.column("user").to_pylist() == ids * len(values)
        assert {type(one) for one in found.column("user").to_pylist()} == {kind}
        with pytest.raises(ReadError, match=r"Column\(/price.* changed from"):
            read_ratings(io.BytesIO("\n".join(lines).encode()), rating="price")


@pytest.mark.parametrize(
    ("line", "said"), [("[1, 2]", "object to array"), ("what", "Invalid value")]
)
def test_lines_that_are_no_objects_are_named_as_pyarrow_does(line, said) -> None:
    good = '{"user": 1, "item": 2, "rating": 3}'
    with pytest.raises(ReadError, match=said):
        read_ratings(io.BytesIO(f"{good}\n{line}\n".encode()))
