"""One compiled function for many parts: each runs once, its errors arrive, arrays outlive it."""

import sys

import numba
import numpy as np
import pytest

from pygeco.engines.cpu.parallel import spread
from pygeco.engines.cpu.threads import each, limit_threads, set_num_threads


@spread("marks", ends=1)
def count_parts(part, marks, scale, table, counts):
    for i in range(marks[part], marks[part + 1]):
        counts[i] += scale * table[i, 0]


@spread("parts")
def divide(part, parts, below, out):
    out[part] = 1 // below[part]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("parts", [0, 1, 7, 300])
def test_every_part_runs_once(parts, threads) -> None:
    set_num_threads(threads)
    marks = 3 * np.arange(parts + 1)
    table = np.arange(6.0 * parts + 2).reshape(-1, 2)
    counts = np.zeros(3 * parts)
    count_parts(marks, 2.0, table, counts)
    np.testing.assert_array_equal(counts, 2 * table[: 3 * parts, 0])


def test_other_types_have_a_function_of_their_own() -> None:
    known = len(count_parts.compiled.signatures)
    for real in (np.float32, np.float64):
        for order in "CF":
            table, counts = np.ones((4, 3), real, order=order), np.zeros(4, real)
            count_parts(np.arange(5), real(3), table, counts)
            np.testing.assert_array_equal(counts, 3)
    assert 1 <= len(count_parts.compiled.signatures) <= known + 4


def test_arrays_that_cannot_be_written_to_share_one() -> None:
    given = [np.arange(5), 1.0, np.ones((4, 1)), np.zeros(4)]
    count_parts(*given)
    known = len(count_parts.compiled.signatures)
    for array in (given[0], given[2]):
        array.flags.writeable = False
    count_parts(*given)
    np.testing.assert_array_equal(given[3], 2)
    assert len(count_parts.compiled.signatures) == known


def test_a_number_says_how_many_and_an_error_arrives() -> None:
    out = np.zeros(4, np.int64)
    divide(4, np.array([1, -1, 1, 1]), out)
    np.testing.assert_array_equal(out, [1, -1, 1, 1])
    for below in ([1, 1, 0, 1], [0]):  # raised in a thread; by the only part, in none
        with pytest.raises(ZeroDivisionError, match="by zero"):
            divide(len(below), np.array(below), out)


def test_no_reference_is_lost_or_kept() -> None:
    given = [np.arange(5), 1.0, np.ones((4, 1)), np.zeros(4)]
    count_parts(*given)
    before = [sys.getrefcount(array) for array in given]
    for _ in range(20):
        count_parts(*given)
    assert [sys.getrefcount(array) for array in given] == before


def test_a_kernel_in_a_loop_takes_the_calling_thread_alone(monkeypatch) -> None:
    def refuse(threads):
        raise AssertionError(f"a pool of {threads} threads inside a loop that has them all")

    monkeypatch.setattr("pygeco.engines.cpu.unboxing.take_pool", refuse)
    found = np.zeros((40, 9))
    with limit_threads(None):
        set_num_threads(numba.config.NUMBA_NUM_THREADS)
        each(lambda k: count_parts(np.arange(10), 1.0, np.ones((9, 1)), found[k]), len(found))
    np.testing.assert_array_equal(found, 1)
