"""What is lent to pyarrow's threads is back before Python ends."""

import ast
import gc
import io
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from pygeco.io import lending
from pygeco.io.lending import lend_bytes, lend_file, wait_for_readers
from pygeco.io.quotes import LastLine
from sources import parse_files

# A line that cannot be read ends the reader while its threads have other blocks, and Python, which
# does not give its lock away before, takes longer to end than they take to let go of them.
SCRIPT = """
import io, sys, time
from pyarrow import ArrowInvalid, csv
from pygeco.io.lending import lend_file

class Blocks(io.RawIOBase):
    given = 0
    def readable(self):
        return True
    def read(self, size=-1):
        self.given += 1
        return b"1,2,3\\n" * 200000 + b"1,2\\n" if self.given < 40 else b""

class Slowly:
    def __del__(self, sleep=time.sleep):
        sleep(0.3)

slowly = Slowly()
sys.setswitchinterval(100)
try:
    csv.read_csv(lend_file(Blocks()), csv.ReadOptions(block_size=1200004))
except ArrowInvalid:
    pass
"""


def test_processes_end_well_while_threads_still_hold_blocks() -> None:
    """One in four was aborted where nobody waited."""
    command = [sys.executable, "-c", SCRIPT]
    started = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(4)]
    assert [(one.communicate()[1], one.returncode) for one in started] == [(b"", 0)] * 4


def test_all_that_pyarrow_reads_of_pythons_is_lent() -> None:
    folder = Path(lending.__file__).parent
    files = [path for path, _ in parse_files(folder, "PythonFile")]
    assert files == [Path(lending.__file__)]
    calls = [
        ast.unparse(node)
        for _, tree in parse_files(folder, "BufferReader")
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "BufferReader"
    ]
    # Arrow's own files are not read by threads.
    assert [call for call in calls if "lend_bytes" not in call] == ["pa.BufferReader(content)"]
    assert len(calls) > 3


def test_threads_read_parquet_from_paths_or_from_what_is_lent() -> None:
    """A process that ended soon after its table was read was aborted now and then."""
    folder = Path(lending.__file__).parent
    calls = {
        (path.name, ast.unparse(node))
        for path, tree in parse_files(folder, "ParquetFile")
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "ParquetFile"
    }
    alone = {("parquet_parts.py", "ParquetFile(file)")}  # it is read without threads
    assert alone <= calls
    given = {call for _, call in calls - alone}
    assert all("path" in call or "lent" in call or "lend_" in call or "whole()" in call
               for call in given)  # fmt: skip
    assert len(given) > 2


def test_bytes_are_back_when_the_last_who_has_them_lets_go() -> None:
    view = lend_bytes(b"some bytes")
    other = pa.py_buffer(view)
    assert bytes(view) == b"some bytes"
    assert not wait_for_readers(0)
    del view
    assert not wait_for_readers(0)
    del other
    assert wait_for_readers(0)
    assert not lending._HELD


def test_a_file_is_read_as_it_is(tmp_path) -> None:
    path = tmp_path / "some.bin"
    path.write_bytes(bytes(range(256)) * 50)
    with path.open("rb") as file, lend_file(file) as stream:
        assert stream.read(3) == b"\0\1\2"
        assert stream.tell() == 3
        stream.seek(256)
        assert stream.read() == path.read_bytes()[256:]
    assert file.closed
    del stream
    gc.collect()
    assert wait_for_readers(0)


def test_what_a_read_fails_with_is_said() -> None:
    class Broken(io.RawIOBase):
        def read(self, size=-1):
            raise OSError(5, "the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        lend_file(Broken()).read(1)


def test_python_waits_for_what_a_reader_calls() -> None:
    """A thread of pyarrow's keeps the function that judges rows for a while after the table."""
    assert wait_for_readers()
    last = LastLine()
    kept = last.judge
    del last
    assert not wait_for_readers(0.01)
    del kept
    assert wait_for_readers()
