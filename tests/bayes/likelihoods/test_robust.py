"""A robust loss as a likelihood: its squares, its noise, and what it makes of wild cells."""

import numpy as np
import pytest

from pygeco import losses
from pygeco.bayes.likelihoods.robust import Robust

LOSSES = [losses.Huber(), losses.PseudoHuber(), losses.LogCosh(), losses.Absolute()]


def draw(share=0.1, count=4000):
    rng = np.random.default_rng(0)
    z = rng.standard_normal(count)
    wild = rng.random(count) < share
    return z + np.where(wild, 30 * rng.standard_normal(count), 0.3 * rng.standard_normal(count)), z


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_wild_cells_hardly_count(loss) -> None:
    y, z = draw()
    found = Robust.of(loss, y).update(y, z, 0 * z)
    weights = found.make_squares(y, z, 0 * z).weights
    far = np.abs(y - z) > 5
    assert weights[far].mean() < 0.2 * weights[~far].mean()
    np.testing.assert_allclose(found.deviate(z, 0 * z), (y - z).std(), rtol=1e-3)
    assert found.tails > 5
    # The least squares of these weights are near the truth where plain ones are not.
    assert abs(np.sum(weights * (y - z)) / weights.sum()) < 0.05


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_units_do_not_matter(loss) -> None:
    y, z = draw()
    one, other = (Robust.of(loss, u * y).update(u * y, u * z, 0 * z) for u in (1.0, 50.0))
    np.testing.assert_allclose(other.tau, one.tau / 2500, rtol=1e-9)
    np.testing.assert_allclose(
        other.make_squares(50 * y, 50 * z, 0 * z).weights,
        one.make_squares(y, z, 0 * z).weights / 2500,
        rtol=1e-6,
    )


def test_without_wild_cells_it_is_nearly_gaussian() -> None:
    y, z = draw(share=0.0)
    found = Robust.of(losses.Huber(), y).update(y, z, 0 * z)
    np.testing.assert_allclose(found.tau**-0.5, 0.3, rtol=0.08)
    assert found.tails < 1.2
    assert found.find_constant(y) == np.median(y)
    low, high = (found.find_quantile(z, 0 * z, q) for q in (0.05, 0.95))
    assert 0.88 < np.mean((low <= y) & (y <= high)) < 0.93


def test_a_given_threshold_stays() -> None:
    y, z = draw()
    found = Robust.of(losses.Huber(0.4), y).update(y, z, 0 * z)
    assert found.loss == losses.Huber(0.4)
    expected = np.minimum(1, 0.4 / np.abs(y - z))
    weights = found.make_squares(y, z, 0 * z).weights
    np.testing.assert_allclose(weights / weights.max(), expected, rtol=1e-6)
    assert (found.score_loss(y, z, 0 * z) == found.loss.value(z, y)).all()
