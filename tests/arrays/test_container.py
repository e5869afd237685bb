"""The file format: what is written is read; anything else is told in one sentence."""

import json
import os
import struct
import zlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pygeco import ModelFileError
from pygeco.arrays import container
from pygeco.arrays.whole_file import whole_file, whole_text

KINDS = st.sampled_from(["f4", "f8", "i1", "i4", "i8", "u1", "u8", "?", ">f8", "M8[s]"])
ARRAYS = KINDS.flatmap(
    lambda kind: hnp.arrays(np.dtype(kind), hnp.array_shapes(min_dims=0, max_dims=3, min_side=0))
)


@given(
    arrays=st.lists(ARRAYS, max_size=4), mapped=st.booleans(), turned=st.booleans(), data=st.data()
)
def test_arrays_come_back_bit_by_bit(tmp_path_factory, arrays, mapped, turned, data) -> None:
    path = tmp_path_factory.mktemp("box") / "file"
    arrays = [array.T if turned else array for array in arrays]
    tree = {"name": data.draw(st.text(max_size=20)), "numbers": [1, 2.5, None, True]}
    container.write(path, tree, arrays)
    found = container.read(path, mapped=mapped)
    assert found.tree == tree
    assert container.read_tree(path) == tree
    for before, after in zip(arrays, found.arrays, strict=True):
        assert after.dtype == before.dtype.newbyteorder("<")
        assert after.shape == before.shape
        assert after.tobytes() == before.astype(after.dtype).tobytes()
        assert after.flags.f_contiguous == before.flags.f_contiguous
        assert after.flags.writeable


@given(array=ARRAYS.filter(lambda array: array.ndim), data=st.data())
def test_an_array_in_blocks_gives_the_same_file(tmp_path_factory, array, data) -> None:
    folder = tmp_path_factory.mktemp("boxes")
    cuts = data.draw(st.lists(st.integers(0, len(array)), max_size=3).map(sorted))
    blocks = container.Blocks(array.dtype, array.shape, lambda: iter(np.split(array, cuts)))
    container.write(folder / "whole", {}, [np.ones(3), np.ascontiguousarray(array), np.ones(2)])
    container.write(folder / "blocks", {}, [np.ones(3), blocks, np.ones(2)])
    assert (folder / "whole").read_bytes() == (folder / "blocks").read_bytes()


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "small"
    container.write(path, {"a": 1}, [np.arange(5.0), np.ones((2, 3), np.int32)])
    return path


def test_every_flipped_byte_is_found_or_harmless(small) -> None:
    whole = small.read_bytes()
    wanted = [array.tobytes() for array in container.read(small).arrays]
    harmless = 0
    for at in range(len(whole)):
        small.write_bytes(whole[:at] + bytes([whole[at] ^ 0x41]) + whole[at + 1 :])
        try:
            found = container.read(small)
        except ModelFileError:
            continue
        harmless += 1
        assert found.tree == {"a": 1}
        assert [array.tobytes() for array in found.arrays] == wanted
    assert harmless < 2 * container.ALIGN  # the room between arrays


def test_every_truncation_is_found(small) -> None:
    whole = small.read_bytes()
    for length in range(len(whole)):
        small.write_bytes(whole[:length])
        for mapped in (False, True):
            with pytest.raises(ModelFileError):
                container.read(small, mapped=mapped)
    small.write_bytes(whole + b"more")
    with pytest.raises(ModelFileError, match="bytes of"):
        container.read(small)


@pytest.mark.parametrize(
    "content", [b"", b"PK\x03\x04 a zip", b"user,item,rating\n1,2,3\n" * 9, bytes(1000)]
)
def test_foreign_files(tmp_path, content) -> None:
    path = tmp_path / "other"
    path.write_bytes(content)
    with pytest.raises(
        ModelFileError, match="is not a pygeco file; give one that `geco fit` or `save` wrote"
    ):
        container.read(path)


def forged(path, header, *, version=container.VERSION, length=None, told=None) -> None:
    """A file with right checksums and whatever header."""
    raw = header if isinstance(header, bytes) else json.dumps(header).encode()
    start = -(-(container.PREFIX.size + len(raw)) // 64) * 64
    size = start + 64
    sizes = struct.pack("<QQ", len(raw) if length is None else length, told or size)
    prefix = container.MAGIC + struct.pack("<II", version, zlib.crc32(sizes + raw)) + sizes
    path.write_bytes((prefix + raw).ljust(size, b"\0"))


def entry(**changes):
    usual = {"dtype": "<f8", "shape": [8], "order": "C", "at": 0, "crc": zlib.crc32(bytes(64))}
    return {"tree": None, "arrays": [usual | changes]}


def test_a_forged_header_with_right_sizes_is_read(tmp_path) -> None:
    forged(tmp_path / "file", entry())
    np.testing.assert_array_equal(container.read(tmp_path / "file").arrays[0], np.zeros(8))


@pytest.mark.parametrize(
    "header",
    [
        entry(shape=[2**62]),
        entry(shape=[2**40, 2**40]),
        entry(shape=[-8]),
        entry(shape=[8.0]),
        entry(shape="8"),
        entry(shape=[9]),
        entry(shape=[True]),
        entry(at=64),
        entry(at=-64),
        entry(at=1),
        entry(dtype="O"),
        entry(dtype="|V8"),
        entry(dtype="<f8,<f8"),
        entry(dtype=3),
        entry(order="K"),
        entry(crc="x"),
        {"arrays": []},
        {"tree": None, "arrays": [7]},
        {"tree": None, "arrays": 7},
        [],
        b"\xff\xfe",
        b"[" * 100_000,
    ],
)
def test_headers_that_lie_are_refused_before_memory_is_taken(tmp_path, header) -> None:
    forged(tmp_path / "file", header)
    for mapped in (False, True):
        if mapped and isinstance(header, dict) and header == entry(crc="x"):
            continue  # checksums are not compared then
        with pytest.raises(ModelFileError, match="is damaged"):
            container.read(tmp_path / "file", mapped=mapped)


def test_absurd_sizes_in_the_prefix(tmp_path) -> None:
    forged(tmp_path / "file", entry(), length=2**63)
    with pytest.raises(ModelFileError, match="cut short or its header is damaged"):
        container.read(tmp_path / "file")
    forged(tmp_path / "file", entry(), told=2**63)
    with pytest.raises(ModelFileError, match="bytes of"):
        container.read(tmp_path / "file")


def test_newer_formats_say_what_to_do(tmp_path) -> None:
    forged(tmp_path / "file", entry(), version=container.VERSION + 1)
    with pytest.raises(ModelFileError, match=r"a newer pygeco wrote.*update pygeco"):
        container.read(tmp_path / "file")


def test_kinds_that_are_not_kept(tmp_path) -> None:
    for array in (np.array([object()]), np.array([1j]), np.array([b"x"])):
        with pytest.raises(TypeError, match="cannot be kept"):
            container.write(tmp_path / "file", None, [array])
    assert not list(tmp_path.iterdir())


def half_written(path) -> None:
    with whole_file(path) as file:
        file.write(b"half of the new")
        file.write(None)


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(TypeError):
        half_written(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
    with whole_file(path) as file:
        file.write(b"new")
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_links_devices_and_modes(tmp_path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old")
    link.symlink_to(real)
    with whole_file(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    with whole_file(os.devnull) as file:
        file.write(b"gone")
    mask = os.umask(0o022)
    os.umask(mask)
    assert real.stat().st_mode & 0o777 == 0o666 & ~mask


def test_the_temporary_file_of_a_killed_writer_is_taken_over(tmp_path) -> None:
    path, left = tmp_path / "file", tmp_path / ".file.tmp"
    left.write_bytes(b"much more than what is written next")
    with whole_file(path) as file:
        file.write(b"new")
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_temporary_file_in_use_or_foreign_is_left_alone(tmp_path) -> None:
    path, other = tmp_path / "file", tmp_path / "other"
    with whole_file(path) as first:
        first.write(b"first")
        with whole_file(path) as second:
            second.write(b"second")
        assert path.read_bytes() == b"second"
    assert path.read_bytes() == b"first"
    other.write_bytes(b"precious")
    for trap in (lambda name: name.symlink_to(other), lambda name: os.link(other, name)):
        trap(tmp_path / ".file.tmp")
        with whole_file(path) as file:
            file.write(b"new")
        assert path.read_bytes() == b"new"
        assert other.read_bytes() == b"precious"
        (tmp_path / ".file.tmp").unlink()
    assert sorted(tmp_path.iterdir()) == [path, other]


def test_writers_at_once_leave_one_whole_file(tmp_path) -> None:
    path = tmp_path / "file"

    def work(letter: bytes) -> None:
        for _ in range(40):
            with whole_file(path) as file:
                for _ in range(9):
                    file.write(letter * 1000)
            found = path.read_bytes()
            assert len(found) == 9000
            assert len(set(found)) == 1

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, (b"a", b"b", b"c", b"d")))
    assert list(tmp_path.iterdir()) == [path]


def test_a_private_file_stays_private(tmp_path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(0o600)
    with whole_text(path) as file:
        file.write("näw\r\n")
    assert path.read_bytes() == "näw\r\n".encode()
    assert path.stat().st_mode & 0o777 == 0o600
