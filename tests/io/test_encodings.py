"""Text that is not UTF-8: Windows-1252, or UTF-8 with bytes that are not."""

import io
import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pygeco.data import read_attributes, read_ratings
from pygeco.errors import ReadError
from pygeco.io.encodings import WORDS, decode_text, encode_western, find_encoding, make_recoder
from pygeco.io.sources import HEAD_BYTES, open_source
from pygeco.io.text_tables import read_text_table

NAMES = ["“Zoë”", "€uro’s", "CAFÉ’s", "weiß”", "…–—", "Ÿ™", "naïve", "¡«»"]


def write_in(form: str, names: list[str], plain: int) -> str:
    """Ratings of users of these names, below so many lines of ASCII."""
    rows = [(f"u{k}", "x", k % 5) for k in range(plain)] + [
        (name, names[-1 - k], k % 5 + 0.5) for k, name in enumerate(names)
    ]
    if form == "json":
        keys = "user", "item", "rating"
        return "".join(
            json.dumps(dict(zip(keys, row, strict=True)), ensure_ascii=False) + "\n" for row in rows
        )
    lines = [("user", "item", "rating"), *rows]
    return "".join(form.join(map(str, line)) + "\n" for line in lines)


@pytest.mark.parametrize("plain", [0, HEAD_BYTES // 8])
@pytest.mark.parametrize("form", [",", ";", "::", "json"])
def test_windows_1252_is_read_as_python_reads_it(form, plain) -> None:
    text = write_in(form, NAMES, plain)
    found = read_ratings(io.BytesIO(text.encode("cp1252")))
    assert found.table.equals(read_ratings(io.BytesIO(text.encode())).table)
    assert found.table.column("user").to_pylist()[plain:] == NAMES
    assert WORDS[False] in found.found


@pytest.mark.parametrize("plain", [0, HEAD_BYTES // 8])
@pytest.mark.parametrize("form", [",", "::", "json"])
def test_one_damaged_sign_does_not_spoil_the_others(form, plain) -> None:
    """As where a database cut a text of many bytes; all names with é were read as Ã© by it."""
    text = write_in(form, [*NAMES, "cut?"], plain).encode()
    found = read_ratings(io.BytesIO(text.replace(b"cut?", b"cut\xc3")))
    assert found.table.column("user").to_pylist()[plain:] == [*NAMES, "cutÃ"]
    assert WORDS[True] in found.found


def test_tables_and_attributes_in_windows_1252(tmp_path) -> None:
    text = "name,age,town\n" + "".join(f"{name},{k},Köln’s\n" for k, name in enumerate(NAMES))
    (tmp_path / "t.csv").write_bytes(text.encode("cp1252"))
    assert read_attributes(tmp_path / "t.csv")["name"].tolist() == NAMES
    table = read_text_table(open_source(tmp_path / "t.csv")).table
    assert table.column("name").to_pylist() == NAMES
    damaged = text.encode() + b"\xe9,1,x\n"
    (tmp_path / "t.csv").write_bytes(damaged)
    assert read_attributes(tmp_path / "t.csv")["name"].tolist() == [*NAMES, "é"]
    table = read_text_table(open_source(tmp_path / "t.csv")).table
    assert table.column("name").to_pylist() == [*NAMES, "é"]


@given(st.binary(max_size=60))
def test_bytes_without_a_sign_stay_control_characters(content) -> None:
    wanted = [
        bytes([byte]).decode("latin-1" if byte in b"\x81\x8d\x8f\x90\x9d" else "cp1252")
        for byte in content
    ]
    assert encode_western(content).decode() == "".join(wanted)


@given(st.text(max_size=40), st.lists(st.integers(1, 9), max_size=20))
def test_blocks_may_end_inside_a_character(text, sizes) -> None:
    content, recode, found = text.encode(), make_recoder(True), b""
    for size in [*sizes, len(content)]:
        found, content = found + recode(content[:size]), content[size:]
    assert found.decode() == text == decode_text(text.encode())


def count_naively(content: bytes) -> bool:
    known = lost = at = 0
    while at < len(content):
        size = next((k for k in range(1, 5) if is_sign(content[at : at + k])), 0)
        known, lost = known + (size > 1), lost + (size == 0)
        at += max(size, 1)
    return known > lost


def is_sign(content: bytes) -> bool:
    try:
        return len(content.decode()) == 1
    except UnicodeDecodeError:
        return False


@given(
    st.lists(st.sampled_from([b"a", b"\xc3\xa9", b"\xe2\x82\xac", b"\xe9", b"\x93"])).map(b"".join)
)
def test_most_signs_decide(content) -> None:
    assert find_encoding(open_source(io.BytesIO(b"x" + content))) == count_naively(content)


def test_a_wrong_line_beside_odd_signs_is_named_without_a_traceback(monkeypatch) -> None:
    """pyarrow asks what to do with it, in UTF-8 alone."""
    told = []
    monkeypatch.setattr(sys, "unraisablehook", told.append)
    with pytest.raises(ReadError, match="the line 'é,è,3,4' has 4 field"):
        read_ratings(io.BytesIO("user,item,rating\né,a,3\né,è,3,4\n".encode("cp1252")))
    assert not told
