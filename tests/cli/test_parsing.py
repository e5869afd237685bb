"""Options from text to values."""

from pygeco.cli.parsing import seconds_of


def test_times() -> None:
    assert [seconds_of(text) for text in ("90", "1.5s", "10m", "1h")] == [90, 1.5, 600, 3600]
