"""Places within rows, by plain loops."""

import numpy as np
import pytest

from pygeco.arrays.row_places import count_to_end, hold_out_last


def test_cells_after_each_by_a_plain_loop() -> None:
    rng = np.random.default_rng(0)
    rows, order = rng.integers(0, 6, (2, 80))
    for by in (None, order):
        key = np.zeros(80) if by is None else by
        wanted = [
            sum(rows[s] == rows[t] and (key[s], s) > (key[t], t) for s in range(80))
            for t in range(80)
        ]
        assert count_to_end(rows, by).tolist() == wanted
    assert len(count_to_end(np.zeros(0, int))) == 0


@pytest.mark.parametrize("size", [0.3, 2])
def test_the_last_of_each_row_and_never_all(size) -> None:
    rng = np.random.default_rng(1)
    rows, order = rng.integers(0, 30, 100), rng.permutation(100)
    held = hold_out_last(rows, size, order)
    for row in np.unique(rows):
        own = rows == row
        count = own.sum()
        wanted = min(count - 1, max(1, round(size * count)) if size < 1 else size)
        assert held[own].sum() == wanted
        if wanted:
            assert order[own & held].min() > order[own & ~held].max()
