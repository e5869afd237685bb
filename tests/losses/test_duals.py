"""The sums that a certificate needs, cell by cell against the definition."""

import numpy as np
import pytest

from loss_cases import CONJUGATE, sample
from pygeco import Entries, LowRank, losses
from pygeco.losses.duals import ScaledDual, dual_of_losses


@pytest.mark.parametrize("name", CONJUGATE)
@pytest.mark.parametrize("scale", [1.0, 0.6])
def test_the_value_is_the_conjugate_at_a_scaled_slope(name, scale) -> None:
    loss, z, y = sample(name, 50)
    a = scale * loss.slope(z, y)
    np.testing.assert_allclose(
        ScaledDual(loss, scale).value(z, y), loss.conjugate(a, y) - a * z, atol=1e-9
    )


def test_the_sum_over_cells_is_a_weighted_mean_of_it() -> None:
    rows, cols, w = np.array([0, 1, 1]), np.array([0, 0, 1]), np.array([1.0, 2.0, 0.5])
    y, A = np.array([1.0, -2.0, 0.5]), LowRank.from_dense(np.arange(4.0).reshape(2, 2))
    entries = Entries(rows, cols, y, loss=losses.LogCosh(1.0), sample_weight=w)
    z = A.to_dense()[rows, cols]
    loss = losses.LogCosh(1.0)
    dual = dual_of_losses(entries, A)
    for scale in (0.3, 1.0):
        a = scale * loss.slope(z, y)
        expected = np.sum(w * (loss.conjugate(a, y) - a * z)) / w.sum()
        assert dual(scale) == pytest.approx(expected)
    plain = Entries(rows, cols, [0.0, 1.0, 2.0], loss="ordinal")
    assert dual_of_losses(plain, A) is None  # which has no conjugate
