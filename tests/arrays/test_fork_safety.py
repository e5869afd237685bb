"""Fit, fork, and go on: children run kernels, on one thread, with the same bits."""

import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from interrupting import Fuse, Interrupted
from pygeco.arrays import blas_threads
from pygeco.arrays.fork_safety import ForkSafeLock
from pygeco.engines.cpu.threads import each

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")

PROGRAM = """
import multiprocessing, os
import numpy as np
import pygeco
from pygeco.data import make_ratings

RATINGS = make_ratings((60, 40), 900, random_state=3)
MODEL = pygeco.MatrixCompletion(random_state=0).fit(RATINGS)
ROBUST = pygeco.RobustPCA(2, random_state=0).fit(np.random.default_rng(0).random((40, 30)))


def answers(depth):
    found = [
        MODEL.predict([0, 1, 2], [2, 3, 4]),
        MODEL.recommend([0, 1, 2], 5).columns,
        MODEL.similar(3).columns,
        MODEL.transform((*RATINGS[:3], RATINGS[3])),
        ROBUST.transform(np.eye(30)),
        pygeco.MatrixCompletion(2, random_state=0).fit(RATINGS).factors_.U,
    ]
    if depth:
        ask_a_child(depth - 1)
    return found


def ask_a_child(depth):
    pid = os.fork()
    if not pid:
        answers(depth)
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7


if __name__ == "__main__":
    wanted = answers(0)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        for found in pool.map(answers, [0, 1]):
            assert all(np.array_equal(a, b) for a, b in zip(wanted, found, strict=True))
    ask_a_child(1)
    print("the parent goes on:", len(answers(0)))
"""


def test_fit_fork_and_answer(tmp_path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", tmp_path / "program.py"],
        env=os.environ | {"NUMBA_NUM_THREADS": "2"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "the parent goes on: 6" in done.stdout


def test_a_child_finds_every_lock_open() -> None:
    safe, entered, leave = ForkSafeLock(), threading.Event(), threading.Event()

    def hold():
        with safe.lock:
            entered.set()
            leave.wait(30)

    thread = threading.Thread(target=hold)
    thread.start()
    entered.wait(30)
    pid = os.fork()
    if not pid:
        signal.alarm(10)
        with safe.lock:
            os._exit(0)
    leave.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_an_interrupt_leaves_no_lock_shut() -> None:
    """Wherever it comes in code of ours: another thread finds every lock open."""

    def interrupt_call(at):
        try:
            with Fuse(at):
                each(lambda part: None, 3, alone=True)
        except Interrupted:
            return True
        return False

    at = 1
    while interrupt_call(at):
        with ThreadPoolExecutor(1) as other:
            assert other.submit(blas_threads._LOCK.lock.acquire, False).result(), at
            other.submit(blas_threads._LOCK.lock.release).result()
        at += 1
    assert at > 2
