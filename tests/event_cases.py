"""A listener that notes what it is told."""

from pygeco import Listener, Stop


class Heard(Listener):
    """Notes every event; stops at the event of this number."""

    def __init__(self, stop_at: int | None = None) -> None:
        self.events: list[object] = []
        self.starts: list[int] = []
        self.stops: list[Stop] = []
        self.stop_at = stop_at

    def on_start(self, objective, rank) -> None:
        assert not self.events
        self.starts.append(rank)

    def note(self, event) -> bool:
        assert self.starts
        assert not self.stops
        self.events.append(event)
        return len(self.events) == self.stop_at

    on_step = on_trial = on_sweep = on_draw = note

    def on_stop(self, reason) -> None:
        self.stops.append(reason)
