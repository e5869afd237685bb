"""BLAS on one thread for a while, for the same bits on any machine."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from functools import lru_cache

from threadpoolctl import ThreadpoolController


def one_blas_thread() -> AbstractContextManager[object]:
    """As long as it lasts; then the number is what it was."""
    return _find_libraries(len(sys.modules)).limit(limits=1, user_api="blas")


def has_one_blas_thread() -> bool:
    """Whether that holds now."""
    libraries = _find_libraries(len(sys.modules)).lib_controllers
    return all(library.num_threads == 1 for library in libraries)


@lru_cache(maxsize=1)
def _find_libraries(modules: int) -> ThreadpoolController:
    """Those of BLAS. Looking through all that is loaded takes longer than many a small fit, so
    it is done again only where a module was imported since, which may have brought a library.
    """
    return ThreadpoolController().select(user_api="blas")
