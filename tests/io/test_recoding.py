"""Bytes changed on their way to pyarrow."""

import ast
import gc
import io
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pygeco.data import read_ratings
from pygeco.io import delimited, recoding
from pygeco.io.encodings import encode_western
from pygeco.io.recoding import UNIT, Changed, SpaceSqueezer, join_colons, open_changed
from pygeco.io.sources import open_source
from sources import parse_files

CHUNKS = st.lists(st.integers(1, 9), max_size=80)


def read_in(stream, sizes) -> bytes:
    found = []
    for size in [*sizes, *[7] * 160]:
        part = stream.read(size)
        assert len(part) == size or not stream.read(1)  # less is read at the end alone
        found.append(part)
    return b"".join(found)


@given(st.text("a:", max_size=60).map(str.encode), CHUNKS)
def test_doubled_colons_are_replaced_in_any_chunks(content, sizes) -> None:
    stream = Changed(io.BytesIO(content), [join_colons])
    assert read_in(stream, sizes) == content.replace(b"::", UNIT)


@given(st.binary(max_size=60), CHUNKS)
def test_western_text_is_recoded_in_any_chunks(content, sizes) -> None:
    stream = Changed(io.BytesIO(content), [join_colons, encode_western])
    wanted = encode_western(content.replace(b"::", UNIT))
    assert read_in(stream, sizes) == wanted
    assert Changed(io.BytesIO(content), [join_colons, encode_western]).read() == wanted


def test_without_changes_the_bytes_are_those_of_the_file() -> None:
    with open_changed(open_source(io.BytesIO(b"a::\xe9")), []) as stream:
        assert stream.read() == b"a::\xe9"


@pytest.mark.parametrize("separator", ["::", ","])
def test_pyarrow_holds_nothing_of_pythons_once_a_file_is_read(monkeypatch, separator) -> None:
    """Its threads would abort the process that ends while they let go of it."""
    made = []

    class Counted(Changed):
        def __init__(self, *given) -> None:
            super().__init__(*given)
            made.append(1)

        def __del__(self) -> None:
            made.pop()

    monkeypatch.setattr(recoding, "Changed", Counted)
    lines = [separator.join((f"é{k % 50}", f"ü{k % 70}", "3")) for k in range(3_500)]
    content = "\n".join(lines).encode("latin-1")
    for _ in range(5):
        table = read_ratings(io.BytesIO(content)).table
        gc.collect()
        assert not made
    assert table.column("user")[51].as_py() == "é1"


@pytest.mark.parametrize("separator", ["::", ","])
@pytest.mark.parametrize("size", [64, 99, 1 << 16])
def test_latin_text_of_many_blocks(monkeypatch, separator, size) -> None:
    monkeypatch.setattr(delimited, "BLOCK_BYTES", size)
    rows = [(f"é{k % 50}", f"ü{k % 70}", k % 5) for k in range(3_500)]
    content = "\n".join(separator.join(map(str, row)) for row in rows).encode("latin-1")
    table = read_ratings(io.BytesIO(content)).table
    assert list(zip(*(table.column(k).to_pylist() for k in range(3)), strict=True)) == rows


def test_nobody_asks_pyarrow_to_recode() -> None:
    options = [
        node
        for _, tree in parse_files(Path(recoding.__file__).parent, "ReadOptions")
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "ReadOptions"
    ]
    assert options
    assert not [word for node in options for word in node.keywords if word.arg == "encoding"]


@given(st.text("a \n\r", max_size=60).map(str.encode), CHUNKS)
def test_spaces_are_squeezed_in_any_chunks(content, sizes) -> None:
    stream = Changed(io.BytesIO(content), [SpaceSqueezer()])
    wanted = re.sub(rb" *(^|[\r\n]|$) *", rb"\1", re.sub(b" +", b" ", content))
    assert read_in(stream, sizes) == wanted
