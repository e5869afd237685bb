"""The sizes that `make blocks` shrinks are there, and in use."""

import subprocess
import sys
from pathlib import Path

import tiny_blocks


def test_a_run_with_tiny_blocks() -> None:
    """In a process of its own: the sizes of this one stay."""
    here = Path(__file__).parent
    some = here / "engines" / "cpu" / "test_ridge.py"
    command = [sys.executable, "-m", "pytest", "-p", "tiny_blocks", str(some), "-q"]
    ended = subprocess.run(command, cwd=here.parent, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout[-2000:]


def test_tests_that_are_left_out_exist() -> None:
    texts = "".join(
        path.read_text(encoding="utf-8") for path in Path(__file__).parent.rglob("*.py")
    )
    assert all(f"def {name}(" in texts for name in tiny_blocks.ABOUT_SIZES)
