"""Spoiled files of every format: they are read or refused in a sentence, never anything else.

Not one may crash the process, take more than 1 GiB or 30 seconds, or raise what is not documented
(`file_formats.DOCUMENTED`). The long form is guided by coverage where atheris is installed.
"""

import base64
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from soak import SECONDS, SOAK, tried

RUNS = {
    "text": 15_000,
    "text, packed": 5_000,
    "packed": 5_000,
    "columns": 12_000,
    "JSON lines": 6_000,
    "Matrix Market": 5_000,
    "fit": 2_000,
    "mtx": 4_000,
    "npy": 6_000,
    "npz": 5_000,
    "npy in npz": 4_000,
    "table": 5_000,
    "Parquet table": 4_000,
    "Parquet in parts": 2_000,
    "titles": 4_000,
    "MovieLens": 4_000,
    "picture": 3_000,
    "video": 2_000,
    "model": 7_000,
    "forged model": 7_000,
    "attributes": 6_000,
    "encoder": 5_000,
    "checkpoint": 4_000,
}
GUIDED = importlib.util.find_spec("atheris") is not None


def fuzzed(target: str, runs: int, folder: Path, *more: str) -> None:
    program = Path(__file__).with_name("fuzzing.py")
    done = subprocess.run(
        [sys.executable, program, target, str(runs), folder, *more],
        capture_output=True,
        text=True,
        errors="replace",
        env=os.environ
        | {
            "PYTHONPATH": str(program.parents[1]),
            "ARROW_DEFAULT_MEMORY_POOL": "system",  # which asks for no more than it uses
        },
    )
    if done.returncode:
        last = max((folder / "work").iterdir(), key=lambda path: path.stat().st_mtime)
        shown = base64.b64encode(last.read_bytes()).decode()
        words = done.stdout[-3000:] + done.stderr[-3000:]  # atheris tells exceptions on the first
        pytest.fail(f"{target}: {words}\n{last.name} in base64: {shown}")
    told = json.loads((folder / "told").read_text())
    assert min(told["read"], told["refused"]) > 0, told
    tried("spoiled files, guided" if "--guided" in more else "spoiled files", sum(told.values()))


@pytest.mark.parametrize("target", list(RUNS) if SOAK else ["all"])
def test_readers(target, tmp_path) -> None:
    if SOAK and GUIDED:
        fuzzed(target, RUNS[target], tmp_path, "--guided", f"-max_total_time={SECONDS:.0f}")
    else:
        fuzzed(target, RUNS.get(target, 20), tmp_path)
