"""Where the bytes of a file come from."""

import gzip
import os
import subprocess
import sys
import threading

import pytest

from pygeco.data import read_ratings
from rating_cases import ROWS, rows_of, text


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
