"""Two processes compile for each other: no function twice, and nobody waits for nobody."""

import subprocess
import sys
import threading
import time

import pytest

from pygeco import engines
from pygeco.engines.cpu import claims
from pygeco.engines.cpu.claims import Shares

NAMES = [f"file.kernel_{k}" for k in range(200)]
CLAIM = """
import sys
from pathlib import Path
from pygeco.engines.cpu.claims import Shares
shares = Shares(Path(sys.argv[1]), "ratings", lambda: True)
print(sum(map(shares.claim, sys.argv[2:])))
"""


def rest() -> bool:
    return False


def test_each_function_has_one_claim_among_processes(tmp_path) -> None:
    command = [sys.executable, "-c", CLAIM, str(tmp_path)]
    pair = [
        subprocess.Popen([*command, *names], stdout=subprocess.PIPE, text=True)
        for names in (NAMES, NAMES[::-1])
    ]
    assert sum(int(one.communicate()[0]) for one in pair) == len(NAMES)


def test_a_wait_ends_with_the_function_and_works_meanwhile(tmp_path) -> None:
    shares, seen = Shares(tmp_path, "ratings", lambda: True), []
    assert shares.claim("a")
    assert not shares.claim("a")

    def work() -> bool:
        seen.append(len(engines.COMPILING))
        if len(seen) == 3:
            shares.finish("a")
        return True

    shares.wait("a", work)
    assert seen == [1, 1, 1]
    assert engines.COMPILING == []


@pytest.mark.parametrize("why", ["the process is gone", "the folder is gone", "the time is up"])
def test_a_wait_ends_by_itself(why, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(claims, "MAX_WAIT", 0.2 if why == "the time is up" else 60.0)
    folder, alive = tmp_path / "claims", threading.Event()
    folder.mkdir()
    alive.set()
    shares = Shares(folder, "ratings", alive.is_set)
    assert shares.claim("a")

    def leave() -> bool:
        if why == "the process is gone":
            alive.clear()
        elif why == "the folder is gone" and folder.exists():
            (folder / "a").unlink()
            folder.rmdir()
        return False

    began = time.monotonic()
    shares.wait("a", leave)
    assert time.monotonic() - began < 30
    shares.finish("a")  # nothing to say it to


def test_without_a_folder_nothing_is_claimed(tmp_path) -> None:
    assert not Shares(tmp_path / "gone", "ratings", lambda: True).claim("a")
