"""Streams that are closed, or know ASCII only."""

import json
import os
import subprocess

from cli_cases import GECO, frame
from pygeco import MatrixCompletion


def shell(command: str, **env: str) -> subprocess.CompletedProcess:
    whole = " ".join(f"'{part}'" for part in GECO)
    return subprocess.run(
        command.replace("geco", whole, 1), shell=True, capture_output=True, text=True,
        env=os.environ | env, check=False,
    )  # fmt: skip


def test_closed_streams(hostile) -> None:
    for command, code, said in (
        (f"geco fit - -o {hostile}/new <&-", 3, "standard input is empty; give a file"),
        (f"geco recommend {hostile}/m --user 1 >&-", 0, ""),
        (f"geco recommend {hostile}/m --user 1 2>&-", 0, ""),
        (f"geco similar {hostile}/m x <&- >&- 2>&-", 2, ""),
    ):
        done = shell(command)
        assert done.returncode == code
        assert said in done.stderr
        assert "Traceback" not in done.stderr


def test_a_terminal_that_knows_ascii_only(tmp_path) -> None:
    ratings = frame()
    ratings["item"] = [f"é×{item}" for item in ratings.item]
    MatrixCompletion(1, penalty=None, random_state=0).fit(ratings).save(tmp_path / "m")
    ascii_only = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"}
    told = shell(f"geco inspect {tmp_path}/m", **ascii_only)
    assert told.returncode == 0, told.stderr
    assert r"\xe9xfilm" in told.stdout
    told = shell(f"geco recommend {tmp_path}/m --user 1 --json", **ascii_only)
    assert json.loads(told.stdout)["rows"][0]["item"].startswith("é×film")
    assert told.stdout.isascii()
