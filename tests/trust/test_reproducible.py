"""The same seed gives the same bits: in any process, with any number of threads."""

import hashlib
import os
import subprocess
import sys

import numba
import numpy as np
import pytest

from pygeco import Entries, Path, Ridge, Solver, Trace, minimize
from pygeco.data import make_ratings

SOLVERS = {
    "paper": Solver.paper(),
    "core": Solver(correction="core"),
    "diagonal": Solver(correction="diagonal", signs=True, replacements=2),
}


def fit(solver: Solver, penalty=None) -> Path:
    ratings = make_ratings((300, 200), 6000)
    return minimize(Entries(*ratings), 5, solver, penalty=penalty, random_state=7)


def digest(path: Path) -> str:
    found = hashlib.sha256()
    for step in path:
        for part in (step.A.U, step.A.s, step.A.V, [step.objective, step.gap]):
            found.update(np.ascontiguousarray(part).tobytes())
    return found.hexdigest()


@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="this machine has one thread")
@pytest.mark.parametrize("name", list(SOLVERS))
def test_one_and_two_threads(name) -> None:
    found = set()
    for threads in (1, 2):
        numba.set_num_threads(threads)
        found.add(digest(fit(SOLVERS[name])))
    assert len(found) == 1


def test_other_processes_and_other_numbers_of_blas_threads() -> None:
    found = set()
    for threads in (None, "1", "2"):
        names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
        counts = {} if threads is None else dict.fromkeys(names, threads)
        run = subprocess.run(
            [sys.executable, __file__],
            env=os.environ | counts,
            capture_output=True,
            text=True,
            check=True,
        )
        found.add(run.stdout)
    assert len(found) == 1
    assert len(found.pop().split()) == 3


if __name__ == "__main__":
    for solver, penalty in (("paper", None), ("core", Ridge(1e-5)), ("core", Trace(1e-4))):
        sys.stdout.write(digest(fit(SOLVERS[solver], penalty)) + "\n")
