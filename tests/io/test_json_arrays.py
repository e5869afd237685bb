"""One JSON array of objects, against the same objects one a line."""

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pygeco.data import read_ratings
from pygeco.errors import ReadError
from pygeco.io import json_arrays
from pygeco.io.json_arrays import LineMaker
from rating_cases import ROWS, rows_of

NAMES = ("user", "item", "rating")
OBJECTS = [dict(zip(NAMES, row, strict=True)) for row in ROWS]
WHOLE = json.dumps(OBJECTS).encode()
ODD = st.text(st.sampled_from('"\\,[]{}: \n\u00e9a'), max_size=6)
VALUES = st.recursive(
    st.none() | st.integers(-9, 9) | ODD,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ODD, inner, max_size=3),
)


@given(
    st.lists(st.dictionaries(ODD, VALUES, max_size=3), max_size=5),
    st.sampled_from([None, 0, 2]),
    st.integers(1, 9),
    st.booleans(),
)
def test_lines_hold_the_objects_of_the_array(objects, indent, step, ascii_only) -> None:
    """However it is laid out, and wherever blocks end."""
    text = f" \r\n{json.dumps(objects, indent=indent, ensure_ascii=ascii_only)}\n".encode()
    make = LineMaker()
    lines = b"".join(make(text[k : k + step]) for k in range(0, len(text), step)) + make(b"")
    make.finish()
    assert [json.loads(line) for line in lines.split(b"\n") if line.strip()] == objects
    assert len(lines) == len(text)


@pytest.mark.parametrize("block", [700, 1 << 20])
def test_an_array_is_read_as_lines_are(block, monkeypatch) -> None:
    monkeypatch.setattr(json_arrays, "BLOCK_BYTES", block)
    late = [{"user": 1, "item": "x"}] * 3000 + OBJECTS  # the ratings come behind the head
    for objects, kind in ((OBJECTS, "utf-8"), (late, "utf-8"), (OBJECTS * 30, "utf-8-sig")):
        plain = read_ratings(io.BytesIO("\n".join(map(json.dumps, objects)).encode(kind)))
        for indent in (None, 1):
            found = read_ratings(io.BytesIO(json.dumps(objects, indent=indent).encode(kind)))
            assert found.table.equals(plain.table)
            assert found.found == plain.found.replace("JSON lines", "a JSON array")
    western = json.dumps([one | {"item": "é"} for one in OBJECTS], ensure_ascii=False)
    found = read_ratings(io.BytesIO(western.encode("latin-1")))
    assert set(found.table.column("item").to_pylist()) == {"é"}
    assert rows_of(read_ratings(io.BytesIO(WHOLE)).table) == ROWS


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (WHOLE[:-1], "its array has no end"),
        (WHOLE[:-200], "its array has no end"),
        (json.dumps(OBJECTS * 9).encode()[:-1], "its array has no end"),
        (WHOLE + b" {}", "something else follows its array"),
        (WHOLE + WHOLE, "something else follows its array"),
        (WHOLE[:-1] + b", 5]", "cannot be read"),
        (b'[{"user": ' * 3000, "nested more than 200 deep|its array has no end"),
    ],
)
def test_arrays_that_are_spoiled_are_no_half_of_a_table(content, match) -> None:
    with pytest.raises(ReadError, match=match):
        read_ratings(io.BytesIO(content))
