"""What all corrections share: pairs, and states of their own."""

import numpy as np
import pytest

from oracles import problem, random_low_rank, unit
from pygeco import LowRank, Solver
from pygeco.algorithm.corrections.base import columns
from pygeco.algorithm.corrections.core import Core
from pygeco.algorithm.corrections.diagonal import Diagonal
from pygeco.algorithm.corrections.factory import make_correction
from pygeco.algorithm.corrections.sweep import Sweep
from pygeco.algorithm.run import find_direction
from pygeco.algorithm.run_values import Run


def run(objective, solver, penalty):
    return Run(
        objective, solver, make_correction(solver.correction, penalty), penalty, 6, 0, 0.0, 0.0
    )


def test_a_state_of_another_correction_is_refused() -> None:
    entries = problem().entries
    foreign = Sweep().start(entries, random_low_rank((12, 9), 2))
    for correction in (Core(), Diagonal()):
        with pytest.raises(TypeError, match=r"^state: this one comes from another correction"):
            correction.extend(foreign, unit(12), unit(9))


def test_pairs_as_vectors_or_as_columns() -> None:
    u, v = unit(5), unit(4)
    ((x, y),) = columns(u, v)
    np.testing.assert_array_equal(x, u)
    np.testing.assert_array_equal(y, v)
    U, V = np.eye(5)[:, :3], np.eye(4)[:, 1:]
    found = list(columns(U, V))
    assert len(found) == 3
    np.testing.assert_array_equal(found[1][0], U[:, 1])
    np.testing.assert_array_equal(found[1][1], V[:, 1])
    with pytest.raises(ValueError, match="zip"):
        list(columns(U, V[:, :2]))


@pytest.mark.parametrize(("settings", "kept"), [({}, False), ({"signs": True}, True)])
def test_a_gradient_is_kept_only_where_it_is_asked_again(settings, kept) -> None:
    """It is as large as the data."""
    solver = Solver(correction="sweep", **settings)
    point = find_direction(run(problem().entries, solver, None), LowRank.zero((12, 9)))
    assert (point.gradient is not None) == kept
