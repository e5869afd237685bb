"""Files of several xz streams."""

import io
import lzma

import numpy as np
import pytest

from pygeco.data import read_ratings
from pygeco.errors import ReadError
from pygeco.io import xz
from rating_cases import ROWS, rows_of, text


@pytest.mark.parametrize("at_once", [1, 7, 1 << 16])
def test_streams_and_zeros_give_all_bytes(at_once, monkeypatch) -> None:
    """Python's reader ends at the zeros, and says nothing."""
    monkeypatch.setattr(xz, "PACKED_BYTES", at_once)
    rng = np.random.default_rng(at_once)
    for _ in range(20):
        parts = [rng.bytes(n) for n in rng.integers(0, 300, rng.integers(1, 5))]
        gaps = [bytes(4 * int(n)) for n in rng.integers(0, 4, len(parts))]
        whole = b"".join(map(bytes.__add__, map(lzma.compress, parts), gaps))
        file = io.BufferedReader(xz.XzFile(io.BytesIO(whole)), int(rng.integers(1, 100)))
        assert b"".join(iter(lambda: file.read(50), b"")) == b"".join(parts)  # noqa: B023
        assert xz.XzFile(io.BytesIO(whole)).read() == b"".join(parts)


def test_ratings_behind_zeros_are_read() -> None:
    whole = text()
    packed = lzma.compress(whole[:20]) + bytes(8) + lzma.compress(whole[20:]) + bytes(4)
    assert rows_of(read_ratings(io.BytesIO(packed)).table) == ROWS
    for wrong, said in ((packed + b"more", "follows"), (packed[:-20], "end is missing")):
        with pytest.raises(ReadError, match=f"{said}|cannot be unpacked"):
            read_ratings(io.BytesIO(wrong))
