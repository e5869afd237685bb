"""Options from text to values."""

from pygeco.cli.parsing import parse_seconds


def test_times() -> None:
    assert [parse_seconds(text) for text in ("90", "1.5s", "10m", "1h")] == [90, 1.5, 600, 3600]
