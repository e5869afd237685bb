"""Where the bytes of a file come from."""

import gzip
import io
import json
import lzma
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from file_formats import pack
from pygeco.data import read_attributes, read_click_lists, read_left_out, read_ratings
from pygeco.errors import ReadError
from pygeco.io.matrices import read_table
from pygeco.io.titles import read_titles
from rating_cases import ROWS, rows_of, text


def read_titles_of(path) -> None:
    read_titles(path, np.arange(99_999), item="item", title="user")


def test_missing_files_stay_missing(tmp_path) -> None:
    with pytest.raises(FileNotFoundError):
        read_ratings(tmp_path / "r")
    with pytest.raises(IsADirectoryError):
        read_ratings(tmp_path)


def test_a_pipe_with_a_name(tmp_path) -> None:
    """As the shell's <(…) is one: what was read of it to look at the format is not lost."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_bytes(gzip.compress(text())))
    writer.start()
    assert rows_of(read_ratings(path).table) == ROWS
    writer.join()


def test_standard_input() -> None:
    code = "from pygeco.data import read_ratings; print(read_ratings('-').found)"
    done = subprocess.run(
        [sys.executable, "-c", code], input=gzip.compress(text()), capture_output=True, check=True
    )
    assert done.stdout.startswith(b"standard input (CSV, with a header, gzip): user = 'userId'")


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress], ids=["plain", "gz", "xz"])
def test_a_byte_order_mark_is_no_part_of_a_file(pack, tmp_path) -> None:
    mark, path = b"\xef\xbb\xbf", tmp_path / "r"
    lines = [json.dumps(dict(zip(("user", "item", "rating"), row, strict=True))) for row in ROWS]
    market = b"%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 1 3\n2 2 4\n"
    for content in ("\n".join(lines).encode(), text(), text(header=False), text("::"), market):
        path.write_bytes(pack(content))
        plain = read_ratings(path)
        path.write_bytes(pack(mark + content))
        assert read_ratings(path).found == plain.found
        assert read_ratings(path).table.equals(plain.table)
        assert read_ratings(io.BytesIO(pack(mark + content))).table.equals(plain.table)
    path.write_bytes(pack(mark + b"3 5 1\n0 2\n"))
    assert read_click_lists(path).rows.tolist() == [3, 3, 0]
    path.write_bytes(pack(mark + b"(0,25)\t3\t4\n(2,1)\t9\t8\n"))
    assert read_left_out(path).rows.tolist() == [0, 2]


@pytest.mark.parametrize("kind", ["gzip", "bz2", "xz", "zstd", "lz4", "zip"])
@pytest.mark.parametrize("read", [read_ratings, read_attributes, read_table, read_titles_of])
def test_what_is_cut_off_behind_the_head_is_one_sentence(kind, read, tmp_path) -> None:
    """The head itself unpacks well; half a table, or what a library says of it, is no answer."""
    numbers = np.random.default_rng(0).integers(0, 99_999, (20_000, 3))
    lines = "".join(f"{a},{b},{c}\n" for a, b, c in numbers)
    packed = pack(kind, f"user,item,rating\n{lines}".encode())
    path = tmp_path / "r.csv"
    path.write_bytes(packed)
    read(path)
    for cut in (len(packed) // 2, 3 * len(packed) // 4, len(packed) - 20, len(packed) - 1):
        path.write_bytes(packed[:cut])
        with pytest.raises(ReadError, match=r"r\.csv (cannot be read|looks compressed)"):
            read(path)


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_a_sign_that_the_end_of_the_head_cuts(mark) -> None:
    """The head, 65,536 bytes, ends inside of a letter: that is no Latin-1."""
    for shift in range(4):
        lines = ["user,item,rating", f"{'x' * shift}ж,{'ж' * 40000},1", "ann,ы,2"]
        table = read_ratings(io.BytesIO(mark + "\n".join(lines).encode())).table
        assert table.column("item").to_pylist() == ["ж" * 40000, "ы"]


def test_zeros_behind_the_end_of_a_packed_file_are_no_part_of_it() -> None:
    """Those of blocks of a tape, which gzip passes over, also between parts; not others."""
    half = len(text()) // 2
    for parts in ([text()], [text()[:half], text()[half:]]):
        content = b"".join(gzip.compress(part) + bytes(512) for part in parts)
        assert rows_of(read_ratings(io.BytesIO(content)).table) == ROWS
        with pytest.raises(ReadError, match="cannot be unpacked"):
            read_ratings(io.BytesIO(content + b"more"))
