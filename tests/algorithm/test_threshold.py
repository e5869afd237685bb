"""Huber's threshold follows the residuals down, no faster than it may, and not below its end."""

import pytest

from pygeco.algorithm.threshold import MAX_FALL, THRESHOLD, Schedule, is_falling
from pygeco.losses import Huber, LogCosh


@pytest.mark.parametrize("end", [None, 0.5])
def test_the_threshold_falls_with_the_residuals(end) -> None:
    schedule = Schedule(Huber(end))
    loss, scale = schedule.first(10.0), 10.0
    assert loss.delta == pytest.approx(THRESHOLD * 10)
    for _ in range(60):
        scale /= 100
        after = schedule.next(loss, scale)
        assert after.delta >= MAX_FALL * loss.delta * (1 - 1e-12) or after.delta == end
        assert is_falling(loss, after) == (after.delta <= MAX_FALL * loss.delta * (1 + 1e-9))
        loss = after
    assert loss.delta == end if end else loss.delta < 1e-6


def test_it_rests_where_the_residuals_do() -> None:
    schedule = Schedule(Huber())
    resting = schedule.first(2.0)
    assert schedule.next(resting, 2.0).delta == pytest.approx(resting.delta)
    assert not is_falling(resting, schedule.next(resting, 2.0))


def test_what_does_not_fall() -> None:
    assert Schedule(Huber(), decreasing=False).next(Huber(3.0), 0.1) == Huber(3.0)
    other = LogCosh()
    assert Schedule(other).first(5.0) is other
    assert Schedule(other).next(other, 5.0) is other
    assert not is_falling(other, Huber(1.0))
