"""Who is told of a fit, and who stops it."""

from event_cases import Heard
from pygeco import Stop
from pygeco.algorithm.events import (
    Listeners,
    StepsOnly,
    join_listeners,
)


def test_every_listener_is_told_whoever_stops() -> None:
    one, other = Heard(stop_at=1), Heard()
    both = Listeners((one, other))
    both.on_start(None, 3)
    for tell in (both.on_step, both.on_trial, both.on_sweep, both.on_draw):
        tell("event")
    both.on_stop(Stop.RANK)
    assert one.events == other.events == 4 * ["event"]
    assert one.starts == other.starts == [3]
    assert one.stops == other.stops == [Stop.RANK]


def test_a_part_of_a_fit_tells_its_steps_alone() -> None:
    heard = Heard()
    heard.on_start(None, 1)
    part = StepsOnly(heard)
    part.on_start(None, 9)
    part.on_stop(Stop.RANK)
    assert part.on_sweep("sweep") is None
    assert part.on_step("step") is False
    assert (heard.starts, heard.events, heard.stops) == ([1], ["step"], [])
    assert join_listeners(None, None).on_step("step") is False
