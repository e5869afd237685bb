"""Loops over parts: each once, on so many threads, errors as they are."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numba
import pytest
from threadpoolctl import ThreadpoolController, threadpool_info

from pygeco.engines.cpu.threads import (
    each,
    get_num_threads,
    limit_threads,
    map_ahead,
    set_num_threads,
)


@pytest.mark.parametrize("alone", [True, False])
def test_every_part_is_done_once_with_one_thread_of_blas(alone) -> None:
    done, seen, lock = [], set(), threading.Lock()

    def job(part: int) -> None:
        with lock:
            done.append(part)
            seen.update(
                one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"
            )

    with ThreadpoolController().limit(limits=2, user_api="blas"), limit_threads(2):
        each(job, 9, alone=alone)
    assert sorted(done) == list(range(9))
    assert seen <= {1}


def test_an_error_is_that_of_the_job() -> None:
    def job(part: int) -> None:
        if part == 2:
            raise KeyError("part 2")

    with pytest.raises(KeyError, match="part 2"):
        each(job, 4)


def test_numbers_of_threads_as_joblib_counts_them() -> None:
    set_num_threads(most := numba.config.NUMBA_NUM_THREADS)
    for given, wanted in ((None, most), (-1, most), (1, 1), (10**6, most), (-(10**6), 1)):
        with limit_threads(given):
            assert get_num_threads() == wanted
        assert get_num_threads() == most


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("count", [0, 1, 2, 9])
def test_items_come_in_their_order_and_few_are_taken_ahead(threads, count) -> None:
    taken = []

    def items():
        for k in range(count):
            taken.append(k)
            yield k

    with limit_threads(threads):
        for place, (item, found) in enumerate(map_ahead(lambda k: k * k, items())):
            assert (item, found) == (place, place**2)
            assert len(taken) <= place + threads + 1
    assert len(taken) == count


def test_an_item_that_fails_is_told_of() -> None:
    with pytest.raises(ZeroDivisionError):
        list(map_ahead(lambda k: 1 // k, [2, 1, 0]))


def test_a_loop_inside_a_part_of_another() -> None:
    done = []
    with limit_threads(2):
        each(lambda k: each(lambda j: done.append((k, j)), 3), 4)
    assert sorted(done) == [(k, j) for k in range(4) for j in range(3)]


def test_a_choice_is_that_of_its_own_thread() -> None:
    most = numba.config.NUMBA_NUM_THREADS
    set_num_threads(1)
    with ThreadPoolExecutor(1) as other:
        assert other.submit(get_num_threads).result() == most
    assert get_num_threads() == 1
    for given, wanted in ((0, 1), (-3, 1), (10**6, most)):
        set_num_threads(given)
        assert get_num_threads() == wanted
