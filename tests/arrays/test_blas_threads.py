"""BLAS on one thread, whatever libraries of it are loaded, and none looked for in vain."""

import itertools
import os
import random
import signal
import sys
import threading
import types
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest
from threadpoolctl import ThreadpoolController, threadpool_info

from interrupting import Fuse, Interrupted
from pygeco.arrays import blas_threads
from pygeco.arrays.blas_threads import one_blas_thread


def numbers() -> list[int]:
    return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]


@pytest.fixture
def before():
    with ThreadpoolController().limit(limits=2, user_api="blas"):
        found = numbers()
        assert set(found) == {2}
        yield found
        assert numbers() == found


def test_one_thread_inside_and_as_many_as_before_afterwards(before) -> None:
    for _ in range(2):
        with one_blas_thread(), one_blas_thread():
            assert set(numbers()) == {1}
        assert numbers() == before


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_the_last_of_several_threads_puts_back(before, order) -> None:
    """Whichever that is, and where some of them end by an error."""
    holds = [ExitStack() for _ in order]
    with ExitStack() as stack:
        threads = [stack.enter_context(ThreadPoolExecutor(1)) for _ in order]
        for thread, hold in zip(threads, holds, strict=True):
            thread.submit(hold.enter_context, one_blas_thread()).result()
            assert set(numbers()) == {1}
        for place in order:
            assert set(numbers()) == {1}
            error = (None, None, None) if place else (KeyError, KeyError("a fit's"), None)
            assert not threads[place].submit(holds[place].__exit__, *error).result()
    assert numbers() == before


def test_a_library_with_a_number_for_each_thread(monkeypatch) -> None:
    """As MKL and builds with OpenMP: each thread has its own back when its own last one ends."""
    own = threading.local()

    class Library:
        filepath, internal_api = "libmkl_rt.so", "mkl"

        @property
        def num_threads(self) -> int:
            return getattr(own, "number", 8)

        def set_num_threads(self, number: int) -> None:
            own.number = number

    library = Library()
    found = types.SimpleNamespace(lib_controllers=[library])
    monkeypatch.setattr(blas_threads, "_find_libraries", lambda modules: found)

    def number() -> int:
        return library.num_threads

    holds = [ExitStack() for _ in range(2)]
    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(1) as other:
        for thread, hold, at_first in ((one, holds[0], 8), (other, holds[1], 4)):
            thread.submit(library.set_num_threads, at_first).result()
            thread.submit(hold.enter_context, one_blas_thread()).result()
        assert one.submit(number).result() == other.submit(number).result() == 1
        one.submit(holds[0].close).result()
        assert (one.submit(number).result(), other.submit(number).result()) == (8, 1)
        other.submit(holds[1].close).result()
        assert (one.submit(number).result(), other.submit(number).result()) == (8, 4)


def test_many_threads_at_once_see_one_thread_only(before) -> None:
    stray = []

    def fit(seed: int) -> None:
        draw = random.Random(seed)
        for turn in range(40):
            try:
                with one_blas_thread():
                    stray.extend(n for n in numbers() if n != 1)
                    if draw.random() < 0.3:
                        raise KeyError(turn)
            except KeyError:
                pass

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(fit, range(4)))
    assert not stray
    assert numbers() == before


def test_an_interrupt_anywhere_leaves_nothing_behind(before) -> None:
    """Inside of the code itself too, and while somebody keeps the error with all its frames."""
    errors = []

    def interrupt_call(at: int) -> bool:
        try:
            # The beginning of the first is not interrupted.
            with one_blas_thread(), Fuse(at), one_blas_thread():
                pass
        except Interrupted as error:
            errors.append(error)
            return True
        return False

    at = 1
    while interrupt_call(at):
        assert numbers() == before
        with one_blas_thread():
            assert set(numbers()) == {1}
        assert numbers() == before
        at += 1
    assert at > 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.parametrize("own", [False, True])
def test_a_forked_child_waits_for_no_thread_of_its_parent(before, own) -> None:
    """Which has stayed behind; what the forking thread holds itself goes on."""
    entered, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with one_blas_thread():
            entered.set()
            leave.wait(30)

    thread = threading.Thread(target=hold)
    thread.start()
    entered.wait(30)
    with ExitStack() as stack:
        if own:
            stack.enter_context(one_blas_thread())
        pid = os.fork()
        if not pid:
            signal.alarm(10)
            held = numbers() == ([1] * len(before) if own else before)
            stack.close()
            os._exit(0 if held and numbers() == before else 1)
    leave.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_libraries_are_looked_for_once_and_after_an_import(monkeypatch) -> None:
    looks = []

    class Counted(ThreadpoolController):
        def __init__(self) -> None:
            looks.append(len(sys.modules))
            super().__init__()

    monkeypatch.setattr(blas_threads, "ThreadpoolController", Counted)
    blas_threads._find_libraries.cache_clear()
    for _ in range(3):
        with one_blas_thread():
            pass
    assert len(looks) == 1
    monkeypatch.setitem(sys.modules, "a_module_with_a_library", types.ModuleType("a module"))
    for _ in range(3):
        with one_blas_thread():
            pass
    assert len(looks) == 2
