"""A random share of cells, held out."""

import numpy as np
import pytest

from pygeco.data import split_cells


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_the_share_and_the_seed(share) -> None:
    held = split_cells(20_000, share, 3)
    assert held.dtype == bool
    assert held.mean() == pytest.approx(share, abs=0.02)
    np.testing.assert_array_equal(held, split_cells(20_000, share, 3))
    assert np.mean(held == split_cells(20_000, share, 4)) < 1
    # A longer list of cells begins with the same choice.
    np.testing.assert_array_equal(held[:100], split_cells(100, share, 3))


@pytest.mark.parametrize("share", [0, 1, -0.1, 2])
def test_a_share_lies_between_zero_and_one(share) -> None:
    with pytest.raises(ValueError, match=r"^test_size: must be between 0 and 1"):
        split_cells(10, share)
