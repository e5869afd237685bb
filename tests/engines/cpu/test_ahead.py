"""The table of kernels that are compiled ahead: types that numba knows, of kernels that are there.

That a fit asks for exactly these, `cli/test_helping.py` finds out.
"""

from importlib import import_module

import numba
import numpy as np
import pytest

from pygeco.engines.cpu.ahead import KERNELS, compile_next, main, read_kinds
from pygeco.engines.cpu.claims import Shares
from pygeco.engines.cpu.parallel import Kernel


@pytest.mark.parametrize("kind", sorted(KERNELS))
def test_each_line_is_a_kernel_with_all_its_arguments(kind) -> None:
    for name, lines in KERNELS[kind].items():
        module, _, function = name.partition(".")
        kernel = getattr(import_module(f"pygeco.engines.cpu.{module}"), function)
        assert isinstance(kernel, Kernel)
        for kinds in map(read_kinds, lines):
            assert len(kinds) == kernel.compiled.py_func.__code__.co_argcount, name


def test_types_are_those_of_arrays_and_numbers() -> None:
    given = np.zeros(2, np.float32), np.zeros((2, 3)), np.zeros(1, bool), 3, 2.0, np.float32(1)
    assert read_kinds("f4:1 f8:2 ?:1 i8 f8 f4") == (numba.int64, *map(numba.typeof, given))


def test_what_is_claimed_is_left_alone_and_the_folder_cleared(tmp_path) -> None:
    shares = Shares(tmp_path / "claims", "clicks", lambda: True)
    shares.folder.mkdir()
    assert all(map(shares.claim, KERNELS["clicks"]))
    assert not compile_next(shares)
    main(shares.folder, "clicks")
    assert not shares.folder.exists()
