"""Text with separators."""

import io

import pyarrow as pa
import pytest

from pygeco.data import read_ratings
from pygeco.errors import ReadError
from pygeco.io import delimited
from pygeco.io.click_tables import read_click_table
from rating_cases import rows_of


def test_text_far_down_in_the_rating_column(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 1 << 16)
    lines = [f"{k},{k % 7},3.5" for k in range(12_000)]  # more than one block of the reader
    lines[10_000] = "5,6,n.b."
    (tmp_path / "r").write_text("user,item,rating\n" + "\n".join(lines))
    with pytest.raises(ReadError, match=r"expected numbers, but row 10001 says 'n\.b\.'"):
        read_ratings(tmp_path / "r")
    lines[10_000] = "A5,6,3"
    (tmp_path / "r").write_text("user,item,rating\n" + "\n".join(lines))
    table = read_ratings(tmp_path / "r").table
    assert table.column("user")[10_000].as_py() == "A5"
    assert table.column("user")[0].as_py() == "0"
    assert table.column("item").type == pa.int64()


def test_quotes_newlines_and_other_alphabets(tmp_path) -> None:
    (tmp_path / "r").write_text('user,item,rating\n"a ""b""","x,\ny",1\nжук,"",2\nn,m,3\n')
    assert rows_of(read_ratings(tmp_path / "r").table) == [('a "b"', "x,\ny", 1.0), ("n", "m", 3.0)]
    (tmp_path / "r").write_bytes('user::item::rating\né::"x::1\n'.encode("latin-1"))
    assert rows_of(read_ratings(tmp_path / "r").table) == [("é", '"x', 1.0)]


def test_text_above_the_table_is_named() -> None:
    prose = b"Lines of user, item and rating follow\nmade by hand\n\n"
    with pytest.raises(ReadError, match=r"has text above its table.*remove the first 3 lines"):
        read_ratings(io.BytesIO(prose + b"ann a 4\nbob a 1\n"))
    spaced = b"user item rating\n\nann a 4\n\nbob a 1\n"  # a header and blank lines are no text
    assert read_ratings(io.BytesIO(spaced)).table.num_rows == 2


@pytest.mark.parametrize(
    "above", ["\n", "\r\n", "\r", " \t\n\n", 20 * "\n", "\ufeff\n", "\ufeff\r\n \n"]
)
@pytest.mark.parametrize("below", ["\n", "\r\n"])
@pytest.mark.parametrize("separator", [",", "::", ";"])
def test_blank_lines_above_the_header(above, below, separator) -> None:
    lines = ["visitor,page,stars", "ann,a,4", "bob,a,1.5"]
    for first in (0, 1):  # with a header, and without
        text = above + below.join(line.replace(",", separator) for line in lines[first:])
        for encoding in ("utf-8", "latin-1") if above.isascii() else ("utf-8",):
            table = read_ratings(io.BytesIO(text.replace("ann", "änn").encode(encoding))).table
            assert rows_of(table) == [("änn", "a", 4.0), ("bob", "a", 1.5)]
    pairs = above + below.join(["visitor,page", "ann,a", "bob,b"]).replace(",", separator)
    found = read_click_table(io.BytesIO(pairs.encode()), {}).table
    assert found.to_pydict() == {"user": ["ann", "bob"], "item": ["a", "b"]}


@pytest.mark.parametrize("sign", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028"])
@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_signs_that_end_a_line_for_python_alone_do_not_end_one(sign, encoding) -> None:
    if sign == "\u2028" and encoding == "latin-1":
        return
    text = "".join(f"ann,a{sign}b c {k},{k % 5}\n" for k in range(12))
    for header in ("", "who,what,how\n"):
        table = read_ratings(io.BytesIO((header + text).encode(encoding))).table
        shown = sign if encoding == "utf-8" else sign.replace("\x85", "…")  # of Windows-1252
        assert table.column("item").to_pylist() == [f"a{shown}b c {k}" for k in range(12)]


@pytest.mark.parametrize(
    ("above", "sign"),
    [
        ("# exported 2024\n# by me, him, her, them\n", "#"),
        (20 * "# a, b\n# c\n", "#"),
        ("% bip weighted\n% 3 2 2\n", "%"),
        ("sep=;\n", "sep="),
        ("sep=,\n", "sep="),
    ],
)
@pytest.mark.parametrize("separator", [",", ";", " "])
def test_remarks_above_the_table_are_named(above, sign, separator) -> None:
    rows = ["user,item,rating", "ann,1,3", "bob,2,4"]
    text = above + "\n".join(row.replace(",", separator) for row in rows)
    told = rf"begins with a comment, '{above[:5]}.*; remove the lines that begin with '{sign}'\."
    with pytest.raises(ReadError, match=told):
        read_ratings(io.BytesIO(text.encode()))
    with pytest.raises(ReadError, match=told):
        read_click_table(io.BytesIO(text.encode()), {})


def test_ids_that_begin_like_remarks() -> None:
    text = "".join(f"#{k},%{k},{k % 3}\n" for k in range(20))
    assert read_ratings(io.BytesIO(text.encode())).table.num_rows == 20


@pytest.mark.parametrize("separator", [",", ";", "\t", "::"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines_of_spaces_are_blank(separator, end) -> None:
    rows = ["user,item,rating", "ann,a,4", "   ", "", " \t ", "bob,b,1", "  "]
    text = end.join(row.replace(",", separator) for row in rows)
    for last in ("", end):
        table = read_ratings(io.BytesIO((text + last).encode())).table
        assert rows_of(table) == [("ann", "a", 4.0), ("bob", "b", 1.0)]
