"""SIGKILL at random moments: no file is half written, and a fit continued has the same bits."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from soak import SOAK, tried

KILLS = {"evidence": (1, 12), "path": (0, 12), "auto": (0, 8), "command": (0, 18), "save": (2, 50)}


@pytest.mark.parametrize("kind", [kind for kind, kills in KILLS.items() if kills[SOAK]])
def test_killed_at_random_moments(kind, tmp_path) -> None:
    program = Path(__file__).with_name("killing.py")
    done = subprocess.run(
        [sys.executable, program, kind, str(KILLS[kind][SOAK]), tmp_path],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["killed"] == KILLS[kind][SOAK]
    assert found["through"] >= 1
    tried(f"kills of {'a save' if kind == 'save' else 'a fit'}", found["killed"])
