"""Many threads on one model, many fits in one process: right answers, and nothing piles up."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from threadpoolctl import ThreadpoolController

import pygeco
from pygeco.engines.cpu.threads import each
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


def test_eight_threads_ask_one_model_and_fits_follow() -> None:
    served, fitted = loaded("serve", amount(1, 60), "fits", amount(16, 1000))
    assert served["done"] > 8
    tried("questions to a model served by 8 threads", served["done"])
    tried("fits in one process", fitted["done"])


def test_eight_threads_where_there_is_no_openmp() -> None:
    """numba takes "workqueue" there, and suffers one thread at a time."""
    (served,) = loaded("serve", amount(1, 10), NUMBA_THREADING_LAYER="workqueue")
    assert served["done"] > 8
    tried("questions to a model served by 8 threads", served["done"])


def test_every_kernel_on_all_cores_takes_turns() -> None:
    """One that is run from elsewhere would end the process where numba's layer is workqueue."""
    home = Path(pygeco.__file__).parent
    texts = {path.name: path.read_text("utf-8") for path in home.rglob("*.py")}
    assert [name for name in texts if "parallel=True" in texts[name]] == ["launching.py"]
    users = {name for name in texts if "find_runner" in texts[name] or "_run_parts" in texts[name]}
    assert users == {"launching.py", "parallel.py"}


def test_blas_stays_on_one_thread_in_loops_that_overlap() -> None:
    """A loop that ends does not put the number back under another; at last it is what it was."""
    blas = ThreadpoolController().select(user_api="blas")

    def numbers() -> list[int]:
        return [one["num_threads"] for one in blas.info()]

    seen: list[list[int]] = []

    def loops() -> None:
        for _ in range(100):
            each(lambda _: seen.append(numbers()), 3)

    before = numbers()
    threads = [threading.Thread(target=loops) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 1200
    assert set(map(tuple, seen)) == {(1,) * len(before)}
    assert numbers() == before
