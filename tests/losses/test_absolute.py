"""Smoothed losses of the absolute residual, beside those that they smooth."""

import numpy as np
import pytest

from pygeco import losses

X = np.linspace(-4, 4, 81)
ZERO = np.zeros_like(X)


@pytest.mark.parametrize("width", [1e-3, 0.3, 2.0])
def test_the_absolute_error_is_near_and_never_below_by_more_than_the_width(width) -> None:
    gap = np.abs(X) - losses.Absolute(width).value(X, ZERO)
    assert gap.min() >= -1e-12
    assert gap.max() <= width
    assert losses.Absolute(width).value(ZERO, ZERO).max() == 0


def test_the_quantile_of_a_sample_is_where_its_pinball_loss_is_least() -> None:
    y = np.random.default_rng(0).standard_normal(2001)
    for q in (0.1, 0.5, 0.9):
        loss = losses.Quantile(q, 1e-3)
        at = np.quantile(y, q)
        assert abs(np.mean(loss.slope(np.full(2001, at), y))) < 2e-3
        below, above = (np.mean(loss.slope(np.full(2001, at + d), y)) for d in (-0.2, 0.2))
        assert below < 0 < above


@pytest.mark.parametrize("q", [0.0, 1.0, -1, 2])
def test_a_quantile_lies_between_zero_and_one(q) -> None:
    with pytest.raises(ValueError, match=r"^q: must be strictly between 0 and 1"):
        losses.Quantile(q)
