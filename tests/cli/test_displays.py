"""Displays say that kernels are compiled, for as long as they are."""

import re

import pytest

from pygeco import engines
from pygeco.cli.displays import WORDS, make_display, make_line


def draw(display, capsys) -> str:
    display.refresh()
    return re.sub(r"\x1b\[[\d;?]*\w", "", capsys.readouterr().err)


@pytest.mark.parametrize("make", [make_display, make_line])
def test_what_is_compiled_is_said_while_it_is(make, monkeypatch, capsys) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # as on a terminal
    monkeypatch.setenv("COLUMNS", "100")
    with make("fitting") as display:
        for count in (0, 1, 0):
            engines.COMPILING[:] = [0.0] * count
            shown = draw(display, capsys)
            assert "fitting" in shown
            assert (WORDS in shown) == bool(count)
