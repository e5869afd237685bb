"""Moving displays on standard error, which say so while kernels are compiled."""

from __future__ import annotations

from typing import Any

from pygeco.engines import COMPILING

FRAMES = 10  # a second
WORDS = "compiling for this machine"


def make_display(content: Any) -> Any:
    """rich's `Live` with this content, and a spinner below it while kernels are compiled."""
    from rich.console import Console, Group
    from rich.live import Live
    from rich.spinner import Spinner

    spinner = Spinner("dots", WORDS)

    class Display(Live):
        def get_renderable(self) -> Any:
            shown = super().get_renderable()
            return Group(shown, spinner) if COMPILING else shown

    return Display(content, console=Console(stderr=True), refresh_per_second=FRAMES)


def make_line(what: str) -> Any:
    """rich's `Progress` of one line: a spinner, what is done, and the time so far."""
    from rich.console import Console
    from rich.progress import Progress, ProgressColumn, SpinnerColumn, TimeElapsedColumn
    from rich.text import Text

    class Doing(ProgressColumn):
        def render(self, task: Any) -> Any:
            return Text(f"{what}; {WORDS}" if COMPILING else what)

    columns = SpinnerColumn(), Doing(), TimeElapsedColumn()
    line = Progress(*columns, console=Console(stderr=True), transient=True)
    line.add_task("", total=None)
    return line
