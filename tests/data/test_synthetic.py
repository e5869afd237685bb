import numpy as np
import pytest

from pygeco.arrays.streams import Purpose, stream
from pygeco.data import make_low_rank, make_ratings, split_cells


def test_low_rank_matrix_has_its_rank_and_unit_variance() -> None:
    A = make_low_rank((300, 200), 5, random_state=1)
    assert np.linalg.matrix_rank(A.to_dense()) == 5
    np.testing.assert_allclose(A.to_dense().var(), 1, atol=0.3)
    np.testing.assert_array_equal(A.s, make_low_rank((300, 200), 5, random_state=1).s)


def test_ratings_are_ratings() -> None:
    ratings = make_ratings((100, 80), 2000, random_state=3)
    rows, cols, values, shape = ratings
    assert shape == (100, 80)
    assert len(values) == len(np.unique(rows * 80 + cols)) == 2000
    assert set(np.unique(values)) <= set(np.arange(1, 5.5, 0.5))
    assert values.dtype == np.float32
    counts = np.sort(np.bincount(cols, minlength=80))
    assert counts[-8:].sum() > 2 * counts[:40].sum() * 8 / 40  # some columns are popular
    same = make_ratings((100, 80), 2000, random_state=3)
    np.testing.assert_array_equal(values, same.values)
    with pytest.raises(ValueError, match=r"^cells: must be between 1 and half of m × n = 4000"):
        make_ratings((100, 80), 5000)


def test_split() -> None:
    held = split_cells(10_000, 0.1, random_state=0)
    assert 900 < held.sum() < 1100
    np.testing.assert_array_equal(held, stream(Purpose.HOLDOUT, 0).random(10_000) < 0.1)
    with pytest.raises(ValueError, match=r"^test_size: must be between 0 and 1"):
        split_cells(10, 1.5)


def test_a_rank_below_one_is_named() -> None:
    with pytest.raises(ValueError, match=r"^rank: expected an integer of at least 1"):
        make_low_rank((4, 3), 0)
