"""Quotes in delimited text, beside Python's csv module."""

import csv
import io

import numpy as np
import pytest

from pygeco.data import read_attributes, read_ratings
from pygeco.errors import ReadError
from pygeco.io import delimited, sources
from pygeco.io.quotes import LastLine, has_escapes, join_quoted
from pygeco.io.sources import open_source
from pygeco.io.text_tables import read_text_table

HEADER = ["user", "item", "rating", "comment"]
WORDS = ["fine", "7,8,9,10", "two\nlines", "1,2,3,4\n5,6,7,8\n", 'a "b"', '6" long', "", "\r\n"]


@pytest.fixture
def small_blocks(monkeypatch) -> None:
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 256)
    monkeypatch.setattr(delimited, "HEAD_BYTES", 128)
    monkeypatch.setattr(sources, "HEAD_BYTES", 128)


def write(rows, **more) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, **({"lineterminator": "\n"} | more)).writerows(rows)
    return text.getvalue().encode()


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("name", ["", "u"])
@pytest.mark.parametrize("first", [0, 30])  # the first row with a quote: 30 are more than a head
def test_lines_in_quotes_anywhere(small_blocks, name, first, end) -> None:
    for seed in range(8):
        rng = np.random.default_rng(seed)
        words = rng.integers(len(WORDS), size=200)
        words[:first] = 0
        rows = [(f"{name}{t}", f"{t % 7}", "3.5", WORDS[k]) for t, k in enumerate(words)]
        found = read_ratings(io.BytesIO(write([HEADER, *rows], lineterminator=end))).table
        assert [str(one) for one in found.column("user").to_pylist()] == [row[0] for row in rows]
        assert [str(one) for one in found.column("item").to_pylist()] == [row[1] for row in rows]


@pytest.mark.parametrize("last", ['"oops', '"oops\n', '"', '"a ""b""\n', 'x,"\n'])
@pytest.mark.parametrize("at", [1, 3])
def test_a_quote_that_nothing_closes_is_refused(last, at) -> None:
    lines = [f"{k},{k % 3},4,fine" for k in range(4)]
    text = "user,item,rating,comment\n" + "\n".join([*lines[:at], "9,9,1," + last, *lines[at:]])
    width = "x," in last
    with pytest.raises(ReadError, match=rf"row {at + 1} opens a quote|field\(s\)") as error:
        read_ratings(io.BytesIO(text.encode()))
    assert ("opens a quote" in str(error.value)) != width
    with pytest.raises(ReadError, match=rf"the file: row {at + 2} opens a quote"):
        read_text_table(open_source(io.BytesIO(text.replace("x,", "").encode())))


def test_long_lines_behind_such_a_quote(small_blocks) -> None:
    rows = write([HEADER, *((k, k % 7, 3, "fine") for k in range(200))])
    broken = rows.replace(b"30,2,3,", b'30,2,3,"')
    with pytest.raises(ReadError, match="longer than 256 bytes, as behind a quote"):
        read_ratings(io.BytesIO(broken))


@pytest.mark.parametrize("quote", ['6" long', 'a "b" c', 'a "b'])
def test_quotes_inside_of_fields_are_signs(quote) -> None:
    text = f"user,item,rating,comment\n1,2,3,fine\n4,5,1,{quote}\n6,5,2,fine"
    assert read_ratings(io.BytesIO(text.encode())).table.num_rows == 3


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_names_of_several_lines(end) -> None:
    names = ["member\nid", f"title{end}of the film", "stars\n\n(1 to 5)", "why"]
    rows = [("ann", "M", "4", "two\nlines"), ("bob", "x, y", "2.5", "")]
    text = b"\n" + write([names, *rows], lineterminator=end)
    found = read_ratings(io.BytesIO(text), item=1, rating=2)
    assert found.columns[0] == "member\nid"
    wanted = {"user": ["ann", "bob"], "item": ["M", "x, y"], "rating": [4.0, 2.5]}
    assert found.table.to_pydict() == wanted


def test_only_open_quotes_join_lines() -> None:
    assert join_quoted(['a,"b', 'c",d', 'e,6" f', "g"]) == ['a,"b\nc",d', 'e,6" f', "g"]
    assert join_quoted(['"a ""b""', '""', '"', "c"]) == ['"a ""b""\n""\n"', "c"]


@pytest.mark.parametrize("long", [False, True])
def test_a_backslash_at_the_end_of_a_field_is_a_sign(small_blocks, long) -> None:
    rows = [(k, k % 7, 3, "C:\\dir\\" if k % 3 else "fine") for k in range(100 if long else 4)]
    found = read_ratings(io.BytesIO(write([HEADER, *rows], quoting=csv.QUOTE_ALL))).table
    assert found.column("user").to_pylist() == [str(row[0]) for row in rows] or (
        found.column("user").to_pylist() == [row[0] for row in rows]
    )


@pytest.mark.parametrize("long", [False, True])
def test_backslashes_before_quotes_within_fields(small_blocks, long) -> None:
    said = ['say "hi", you', 'a "b" c', "back\\"]
    rows = [(f"{said[k % 3]}{k}", k % 7, 3, said[k % 3]) for k in range(100 if long else 4)]
    how = {"quoting": csv.QUOTE_ALL, "doublequote": False, "escapechar": "\\"}
    found = read_ratings(io.BytesIO(write([HEADER, *rows], **how))).table
    assert found.column("user").to_pylist() == [row[0] for row in rows]


def test_without_a_backslash_there_is_no_escape() -> None:
    assert not has_escapes('a,"b ""c"""\n', ",", is_whole=True)
    assert has_escapes('a,"b \\"c\\""\n', ",", is_whole=True)


def test_the_last_line_comes_once_and_whole() -> None:
    for size in (1, 2, 7, 100):
        with LastLine().follow(io.BytesIO(b"a,b")) as stream:
            assert b"".join(iter(lambda s=stream, n=size: s.read(n), b"")) == b"a,b\n\x1e\n"


@pytest.mark.parametrize("word", WORDS)
def test_attributes_with_quotes(word) -> None:
    rows = [["id", "age", "note"], ["1", "20", word], ["2", "30", "x"]]
    found = read_attributes(io.BytesIO(write(rows)))
    assert found["note"].tolist() == [word.strip() or None, "x"]
    broken = b'id,age,note\n1,20,x\n2,30,"x\n3,40,y\n'
    with pytest.raises(ReadError, match="the file: row 2 opens a quote that nothing closes"):
        read_attributes(io.BytesIO(broken))
