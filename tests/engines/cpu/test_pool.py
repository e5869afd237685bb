"""Threads of a pool: each part once, all of them at work, none awake or left for nothing."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from pygeco.engines.cpu import pool as pools
from pygeco.engines.cpu import pool_code
from pygeco.engines.cpu.launching import claim
from pygeco.engines.cpu.parallel import spread
from pygeco.engines.cpu.pool import Pool, return_pool, take_pool

TURNS = 2_000_000_000  # that a part waits for the others: seconds


@spread("parts")
def count(part, parts, out):
    out[part] += 1


@spread("parts")
def meet(part, parts, arrived, looks, out):
    """Each part ends when all have begun, and says how many it saw."""
    claim(arrived)
    turns = 0
    while arrived[0] < parts and turns < TURNS:
        claim(looks)
        turns += 1
    out[part] = arrived[0]


@spread("parts")
def divide(part, parts, below, out):
    out[part] = 1 // below[part]


def assert_all_meet(threads: int) -> None:
    out = np.zeros(threads, np.int64)
    meet.run((threads, np.zeros(1, np.int64), np.zeros(1, np.int64), out), threads)
    np.testing.assert_array_equal(out, threads)


@pytest.mark.parametrize("threads", [1, 2, 3, 8, 17])
@pytest.mark.parametrize("parts", [0, 1, 2, 5, 300])
def test_each_part_runs_once_in_each_of_many_jobs(threads, parts) -> None:
    out = np.zeros(parts, np.int64)
    for _ in range(200):
        count.run((parts, out), threads)
    np.testing.assert_array_equal(out, 200)


@pytest.mark.parametrize("threads", [2, 3, 6])
@pytest.mark.parametrize("pause", [0.0, 0.02])
def test_all_threads_work_at_once_whether_they_slept_or_not(threads, pause) -> None:
    for _ in range(3):
        time.sleep(pause)
        assert_all_meet(threads)


def test_few_parts_do_not_keep_threads_from_later_jobs() -> None:
    for parts in (1, 2, 3, 2, 1):
        count.run((parts, np.zeros(parts, np.int64)), 6)
        assert_all_meet(6)


def test_jobs_of_several_threads_at_once() -> None:
    def run(_):
        out = np.zeros(40, np.int64)
        for _ in range(200):
            count.run((len(out), out), 3)
        return set(out)

    with ThreadPoolExecutor(5) as asking:
        assert list(asking.map(run, range(10))) == [{200}] * 10


def test_an_error_arrives_and_the_pool_goes_on() -> None:
    for bad in (0, 3, 11):
        below = np.ones(12, np.int64)
        below[bad] = 0
        with pytest.raises(ZeroDivisionError):
            divide.run((12, below, below.copy()), 4)
        assert_all_meet(4)


def test_threads_sleep_where_there_is_nothing_to_do() -> None:
    assert_all_meet(4)
    time.sleep(0.05)
    before = time.process_time()
    time.sleep(0.3)
    assert time.process_time() - before < 0.1


def test_closed_threads_end_asleep_or_awake() -> None:
    for pause in (0.0, 0.02):
        pool = Pool(5)
        time.sleep(pause)
        assert pool.numbers[pool_code.ALIVE] == 5
        pool.close()
        assert pool.numbers[pool_code.ALIVE] == 0


def test_fewer_threads_do_where_no_more_can_be_had(monkeypatch) -> None:
    start, started = pools._start_thread, []

    def start_two(*given):
        started.append(given)
        return start(*given) if len(started) < 3 else pools._NO_THREAD

    monkeypatch.setattr(pools, "_start_thread", start_two)
    monkeypatch.setattr(pools, "_FREE", type(pools._FREE)(list))
    out = np.zeros(300, np.int64)
    for _ in range(50):
        count.run((300, out), 8)
    np.testing.assert_array_equal(out, 50)
    (pool,) = pools._FREE[7]
    assert pool.numbers[pool_code.ALIVE] == 2
    pool.close()
    assert pool.numbers[pool_code.ALIVE] == 0


def test_a_pool_serves_one_at_a_time() -> None:
    first, second = take_pool(3), take_pool(3)
    assert first is not second
    return_pool(first)
    assert take_pool(3) is first
    return_pool(first)
    return_pool(second)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_has_threads_of_its_own() -> None:
    assert_all_meet(3)
    pid = os.fork()
    if not pid:
        signal.alarm(20)
        try:
            assert_all_meet(3)
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert_all_meet(3)


def test_a_process_ends_while_threads_look_out_for_work() -> None:
    code = """
import atexit, numpy as np
from pygeco.engines.cpu.column_kernels import weigh
X, scale = np.zeros((64, 2), np.float32), np.zeros(64, np.float32)
run = lambda: weigh.run((X, X.copy(), scale, 8, np.zeros((8, 2))), 9)
atexit.register(run)  # after the pools are closed, too
run()
"""
    for _ in range(3):
        subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
