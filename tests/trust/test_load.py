"""Many threads on one model, many fits in one process: right answers, and nothing piles up."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import pygeco
from soak import amount, tried

ROOM = 4 << 20  # what the allocator may do between two looks


def loaded(*arguments: object, **settings: str) -> list[dict]:
    if not Path("/proc/self/statm").exists():
        pytest.skip("the memory of a process is not to be read here")
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("loading.py"), *map(str, arguments)],
        capture_output=True,
        text=True,
        env=os.environ | settings,
    )
    assert done.returncode == 0, done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines()]
    for found in told:
        assert found["wrong"] == []
        warm, end = found["warm"], found["end"]
        assert end["memory"] - warm["memory"] < ROOM, found
        assert end["threads"] <= warm["threads"], found
        assert end["files"] <= warm["files"], found
    return told


def test_loops_overlap_then_eight_threads_ask_one_model_then_fits_follow() -> None:
    looped, served, fitted = loaded("loops", 100, "serve", amount(1, 60), "fits", amount(16, 1000))
    assert looped["done"] == 1200
    assert served["done"] > 8
    tried("questions to a model served by 8 threads", served["done"])
    tried("fits in one process", fitted["done"])


def test_no_loop_is_numbas_own() -> None:
    """numba's layers of threads end a process that forks, or whose threads enter one at once."""
    home = Path(pygeco.__file__).parent
    texts = [path.read_text("utf-8") for path in home.rglob("*.py")]
    assert not any(
        word in text for text in texts for word in ("parallel=True", "numba_parallel_for")
    )
