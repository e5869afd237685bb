"""Streams that are closed, or know ASCII only."""

import json
import os
import subprocess

import pytest

from cli_cases import GECO, frame
from pygeco import MatrixCompletion

ASCII = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"}


def test_closed_streams(hostile, terminals, tmp_path) -> None:
    out, error = tmp_path / "out", tmp_path / "error"
    for arguments, streams, code, said in (
        (("fit", "-", "-o", hostile / "new"), (None, out, error), 3, "standard input is empty"),
        (("recommend", hostile / "m", "--user", "1"), (os.devnull, None, error), 0, ""),
        (("recommend", hostile / "m", "--user", "1"), (os.devnull, out, None), 0, ""),
    ):
        error.write_text("")
        assert terminals.redirect(*arguments, streams=streams) == code
        told = error.read_text()
        assert said in told
        assert "Traceback" not in told
    assert "film" in out.read_text()
    whole = " ".join(f"'{part}'" for part in GECO)
    assert subprocess.call(f"{whole} similar {hostile}/m x <&- >&- 2>&-", shell=True) == 2


def test_a_terminal_that_knows_ascii_only(terminals, tmp_path) -> None:
    ratings = frame()
    ratings["item"] = [f"é×{item}" for item in ratings.item]
    MatrixCompletion(1, penalty=None, random_state=0).fit(ratings).save(tmp_path / "m")
    streams = (os.devnull, tmp_path / "table", tmp_path / "error")
    assert terminals.redirect("inspect", tmp_path / "m", streams=streams, **ASCII) == 0
    assert r"\xe9xfilm" in (tmp_path / "table").read_text()
    streams = (os.devnull, tmp_path / "out", tmp_path / "error")
    arguments = ("recommend", tmp_path / "m", "--user", "1", "--json")
    assert terminals.redirect(*arguments, streams=streams, **ASCII) == 0
    printed = (tmp_path / "out").read_text()
    assert json.loads(printed)["rows"][0]["item"].startswith("é×film")
    assert printed.isascii()


def test_readers_that_have_seen_enough() -> None:
    """Help and wrong calls ended with 1 before, or with 0."""
    whole = " ".join(f"'{part}'" for part in GECO)
    calls = {"--help": 0, "fit --help": 0, "nonsense": 2, "fit nothing -o model.geco": 3}
    for call, code in calls.items():
        lost = f"exec 3>&1; {{ {whole} {call} 2>&1; echo $? >&3; }} | exec true"
        assert subprocess.check_output(lost, shell=True).split()[-1] == b"%d" % code, call


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a full disk of Linux's")
def test_help_that_cannot_be_written(terminals, tmp_path) -> None:
    """rich's traceback before."""
    for arguments in (("fit", "--help"), ("--version",)):
        streams = (os.devnull, "/dev/full", tmp_path / "error")
        assert terminals.redirect(*arguments, streams=streams) == 4
        told = (tmp_path / "error").read_text()
        assert told == "geco: cannot write standard output: No space left on device.\n"
