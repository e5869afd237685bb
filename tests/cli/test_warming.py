"""What `geco doctor --warm` has compiled, no later fit asks for."""

import importlib
import pkgutil

import numba
import numpy as np
import pytest

from pygeco import Clicks, Entries, LowRank, MatrixCompletion, Solver, minimize
from pygeco.cli.warming import plan_fits
from pygeco.data import make_ratings
from pygeco.engines import cpu
from pygeco.engines.cpu.parallel import Kernel


def count_compiled() -> dict[str, int]:
    """For how many types of arguments each kernel has been compiled, or read from the disk."""
    found = {}
    for info in pkgutil.iter_modules(cpu.__path__, cpu.__name__ + "."):
        for name, given in vars(importlib.import_module(info.name)).items():
            kernel = given.compiled if isinstance(given, Kernel) else given
            if isinstance(kernel, numba.core.dispatcher.Dispatcher):
                found[f"{info.name}.{name}"] = len(kernel.signatures)
    return found


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_later_fits_compile_nothing(real) -> None:
    names = []
    for name, fit in plan_fits():
        names.append(name)
        fit()
    assert len(names) == len(set(names)) == 10
    known = count_compiled()
    assert sum(known.values()) >= 20
    rows, cols, values, shape = make_ratings((50, 70), 1200, random_state=1)
    cells = rows, cols, values.astype(real), shape
    model = MatrixCompletion(random_state=1).fit(cells)
    model.recommend(np.arange(4), 3, by="value")
    minimize(Entries(*cells), 3, Solver.paper(), random_state=1)
    minimize(Clicks(cells, dtype=real), 3, Solver(correction="sweep"), random_state=1)
    LowRank.product(*np.ones((2, 300_000, 3), real)).svd()
    assert count_compiled() == known
