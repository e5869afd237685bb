"""The part of a table from which scales are estimated: enough cells, and columns that vary."""

import numpy as np
import pytest

from oracles import random_low_rank
from pygeco import Dense
from pygeco.objectives.dense.sample import SAMPLE_LINES


@pytest.mark.parametrize("shape", [(3, 2), (40, 700), (3000, 5), (600, 700)], ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8])
def test_it_holds_cells_of_the_table(shape, dtype) -> None:
    Y = np.random.default_rng(0).integers(0, 200, shape).astype(dtype)
    found = Dense(Y).sample
    np.testing.assert_array_equal(found.values, Y[np.ix_(found.rows, found.cols)])
    assert max(len(found.rows), len(found.cols)) <= SAMPLE_LINES[1]
    assert found.seen.all()
    assert found.varies.all()
    again = Dense(Y).sample
    np.testing.assert_array_equal(again.rows, found.rows)


def test_a_table_with_few_known_cells_gives_more_lines() -> None:
    Y = np.full((400, 400), np.nan)
    Y[::20, ::20] = np.random.default_rng(0).standard_normal((20, 20))
    found = Dense(Y, mask=np.arange(400) % 40 == np.zeros((400, 1))).sample
    assert found.seen.sum() == np.isfinite(Y[:, ::40]).sum()


def test_columns_of_one_value_are_left_out_of_residuals() -> None:
    """Whatever the value, and whatever is missing; not where all columns are so."""
    rng = np.random.default_rng(0)
    Y = rng.standard_normal((30, 6))
    Y[:, 1], Y[:, 3], Y[:, 4] = 7.0, 0.0, np.nan
    Y[rng.random(Y.shape) < 0.2] = np.nan
    A = random_low_rank(Y.shape, 2, seed=1)
    rest = (Y - A.to_dense())[:, [0, 2, 5]]
    found = Dense(Y).residual_sample(A)
    np.testing.assert_allclose(np.sort(found), np.sort(rest[np.isfinite(rest)]))
    flat = np.full((5, 4), 3.0)
    assert Dense(flat).residual_sample(random_low_rank(flat.shape, 0)).tolist() == [3.0] * 20
