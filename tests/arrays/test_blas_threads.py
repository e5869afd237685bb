"""BLAS on one thread, whatever libraries of it are loaded, and none looked for in vain."""

import sys
import types

from threadpoolctl import ThreadpoolController, threadpool_info

from pygeco.arrays import blas_threads
from pygeco.arrays.blas_threads import has_one_blas_thread, one_blas_thread


def numbers() -> list[int]:
    return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]


def test_one_thread_inside_and_as_many_as_before_afterwards() -> None:
    with ThreadpoolController().limit(limits=2, user_api="blas"):
        before = numbers()
        for _ in range(2):
            with one_blas_thread(), one_blas_thread():
                assert set(numbers()) <= {1}
            assert numbers() == before


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


def test_whether_there_is_one_thread() -> None:
    with ThreadpoolController().limit(limits=2, user_api="blas"):
        assert not has_one_blas_thread()
        with one_blas_thread():
            assert has_one_blas_thread()
        assert not has_one_blas_thread()
