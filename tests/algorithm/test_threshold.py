"""A loss's scale follows the residuals down, no faster than it may, and not below its end."""

import numpy as np
import pytest

from pygeco.algorithm.threshold import (
    MAX_FALL,
    THRESHOLD,
    Schedule,
    is_falling,
    measure_noise,
)
from pygeco.losses import Absolute, Huber, LogCosh, Loss, PseudoHuber, Quantile, Squared


@pytest.mark.parametrize("end", [None, 0.5])
def test_the_threshold_falls_with_the_residuals(end) -> None:
    schedule = Schedule(Huber(end))
    level = left = 10.0
    assert schedule.settle(level).delta == pytest.approx(THRESHOLD * 10)
    for _ in range(60):
        left /= 100
        before, level = level, schedule.lower(level, left)
        assert level >= MAX_FALL * before
        assert is_falling(before, level)
        assert schedule.settle(level).delta == max(THRESHOLD * level, end or 0.0)
    assert schedule.settle(level).delta == end if end else level < 1e-6


def test_it_rests_where_the_residuals_do() -> None:
    schedule = Schedule(Huber())
    assert schedule.lower(2.0, 2.0) == 2.0
    assert schedule.lower(2.0, 1.9) == 1.9
    assert not is_falling(2.0, 1.9)
    assert schedule.lower(2.0, 3.0) == 3.0


@pytest.mark.parametrize(
    ("loss", "share"),
    [(LogCosh(), 1), (PseudoHuber(), 2), (Absolute(), 0.1), (Quantile(0.8), 0.1)],
    ids=lambda one: getattr(one, "name", ""),
)
@pytest.mark.parametrize("scale", [1e-9, 2.0, 1e9])
def test_what_a_loss_leaves_open_is_a_share_of_the_scale(loss, share, scale) -> None:
    found = Schedule(loss).settle(scale)
    width = getattr(found, "delta", None) or getattr(found, "scale", None) or found.width
    assert width == pytest.approx(share * scale, rel=0.02)


def test_what_does_not_fall() -> None:
    assert Schedule(Huber(), decreasing=False).lower(3.0, 0.1) == 3.0

    class Own(Loss):
        pass

    for loss in (LogCosh(0.3), Absolute(0.1), Squared(), Own()):
        assert Schedule(loss).settle(5.0) is loss


@pytest.mark.parametrize("parameters", [0, 100, 300, 500])
@pytest.mark.parametrize("noise", [1e-9, 3.0])
def test_noise_is_measured_whatever_a_fit_took_of_it(parameters, noise) -> None:
    """By squares, or exactly at as many cells as it has parameters; some cells are wild."""
    rng = np.random.default_rng(0)
    y = noise * rng.standard_normal(1000)
    y[:20] *= 1000
    Q = np.linalg.qr(rng.standard_normal((1000, max(parameters, 1))))[0][:, :parameters]
    rest = y.copy()
    rest[20:] -= Q[20:] @ (Q[20:].T @ y[20:])
    free = 1 - parameters / 1000
    assert measure_noise(np.abs(rest), free) == pytest.approx(noise, rel=0.1)
    y[len(y) - parameters :] = 0.0
    assert measure_noise(np.abs(y), free) == pytest.approx(noise, rel=0.2)
    assert measure_noise(np.abs(y), 1.0) == pytest.approx(1.4826 * np.median(np.abs(y)), rel=1e-4)
