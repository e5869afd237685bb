"""The correction of weights alone."""

import numpy as np

from oracles import problem, random_low_rank
from pygeco.algorithm.corrections.diagonal import Diagonal


def test_the_diagonal_drops_the_pair_of_least_weight() -> None:
    entries = problem().entries
    A = random_low_rank((12, 9), 3)
    state = Diagonal().solve(entries, A)
    weakest = int(np.argmin(np.abs(state.A.s)))
    assert state.A.s.min() < 0  # least in size, not the most negative
    kept = [k for k in range(3) if k != weakest]
    smaller = Diagonal().shrink(state)
    np.testing.assert_array_equal(smaller.A.U, state.A.U[:, kept])
    np.testing.assert_array_equal(smaller.A.V, state.A.V[:, kept])
