"""A fit as it grows: a live table with the time left, and the time limit."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np

from pygeco.algorithm.path import Step, Trial
from pygeco.bayes.evidence import Sweep
from pygeco.bayes.sampling import Drawn
from pygeco.cli.console import Voice
from pygeco.estimators._tables import rated

SHOWN = 15  # the last lines of the table


class Held(NamedTuple):
    """Held-out cells whose ids the fit knows."""

    rows: Any
    cols: Any
    values: Any


class _Waiting:
    """What stands there before the first line: the time, and why it may be long."""

    def __init__(self, began: float, what: str) -> None:
        self.began, self.what = began, what

    def __rich__(self) -> str:
        passed = time.monotonic() - self.began
        if passed < 1:
            return ""
        why = " The first run on a machine compiles for about half a minute." if passed > 3 else ""
        return f"{self.what}, {passed:.0f} s.{why}"


class Watch:
    """A callback that shows each rank or sweep on a terminal, and stops when time is up."""

    def __init__(self, voice: Voice, model: Any, table: Any, limit: float | None) -> None:
        self.voice, self.model, self.table, self.limit = voice, model, table, limit
        self.began = time.monotonic()
        self.out_of_time = False
        self.lines: list[list[str]] = []
        self.times: list[float] = []
        self.noises: list[float] = []
        self.held: Held | None = None
        self.drawn: Drawn | None = None
        self.live: Any = None

    @property
    def late(self) -> str:
        """What the time limit cut short, in words; empty if nothing."""
        if not self.out_of_time:
            return ""
        if self.drawn is None:
            return "the time limit is reached; --resume continues"
        return (
            f"the time limit is reached at sweep {self.drawn.done} of the {self.drawn.total} from "
            "the posterior; --resume draws them anew"
        )

    def on_model(self, model: Any) -> None:
        """The model in the making, whose ids and offsets the held-out error needs."""
        self.model = model

    def __enter__(self) -> Self:
        if self.voice.live:
            from rich.console import Console
            from rich.live import Live

            validates = self.model.rank == "auto" and self.model._penalty() != "evidence"
            waiting = _Waiting(self.began, "choosing the rank" if validates else "starting")
            self.live = Live(waiting, console=Console(stderr=True), refresh_per_second=4)
            self.live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.live is not None:
            self.live.update(self._table("") if self.lines else "")
            self.live.stop()

    def __call__(self, told: Step | Sweep | Trial | Drawn) -> bool:
        if isinstance(told, Drawn):
            self._draws(told)
            return self._is_late()
        self.times.append(time.monotonic() - self.began)
        if isinstance(told, Trial):
            self._tries(told)
        elif self.live is not None:
            self.lines.append(self._line(told))
            self.live.update(self._table(self._left(told)))
        return self._is_late()

    def _is_late(self) -> bool:
        passed = time.monotonic() - self.began
        self.out_of_time = self.limit is not None and passed >= self.limit
        return self.out_of_time

    def _tries(self, told: Trial) -> None:
        if self.live is not None:
            self.live.update(
                f"choosing the rank: {told.rank} has a held-out loss of {told.loss:.4g}, "
                f"{self.times[-1]:.0f} s."
            )

    def _draws(self, told: Drawn) -> None:
        self.drawn = told
        now = time.monotonic() - self.began
        left = (now - self.times[-1]) * (told.total - told.done) / told.done
        if self.live is not None and self.lines:
            shown = f"posterior draw {told.done} of {told.total}, about {left:.0f} s left"
            self.live.update(self._table(shown))

    def _line(self, told: Step | Sweep) -> list[str]:
        if isinstance(told, Sweep):
            self.noises.append(told.noise)
            return [f"{told.sweeps}", f"{told.rank}", f"{told.noise:.4f}", f"{told.seconds:.1f}"]
        error = self._error(told)
        shown = "" if error is None else f"{error:.4f}"
        line = [f"{told.rank}", f"{told.objective:.5g}", told.gap_words, shown]
        return [*line, f"{told.seconds:.1f}"]

    def _error(self, step: Step) -> float | None:
        """RMSE at the held-out cells that can be known at this rank."""
        if self.table is None:
            return None
        if self.held is None:
            cells = rated(self.model, self.table)
            known = (cells.rows >= 0) & (cells.cols >= 0)
            values = cells.values[known]
            self.held = Held(cells.rows[known], cells.cols[known], values)
        rows, cols, values = self.held
        z = step.A.entries(rows, cols) + self.model.biases_.at(rows, cols)
        return float(np.sqrt(np.mean((self.model._response(z) - values) ** 2)))

    def _left(self, told: Step | Sweep) -> str:
        """About how long it will take yet."""
        steps = self._sweeps_left() if isinstance(told, Sweep) else self._ranks_left(told)
        if steps is None or len(self.times) < 3:
            return f"{self.times[-1]:.0f} s"
        pace = (self.times[-1] - self.times[-3]) / 2
        left = pace * steps
        if self.limit is not None:
            left = min(left, self.limit - self.times[-1])
        return f"{self.times[-1]:.0f} s, about {max(0.0, left):.0f} s left"

    def _ranks_left(self, step: Step) -> float | None:
        return None if self.model.rank == "auto" else float(self.model.rank - step.rank)

    def _sweeps_left(self) -> float | None:
        """Sweeps end when the error falls by less than a thousandth; it falls geometrically."""
        if len(self.noises) < 4:
            return None
        falls = -2 * np.diff(np.log(self.noises[-4:]))
        if not np.all(falls > 0):
            return None
        ratio = float(np.clip((falls[-1] / falls[0]) ** 0.5, 0.3, 0.97))
        return float(max(0.0, np.log(1e-3 / falls[-1]) / np.log(ratio)))

    def _table(self, caption: str) -> Any:
        from rich.table import Table

        heads = ["rank", "objective", "gap at most", "held-out RMSE", "seconds"]
        if len(self.lines[-1]) == 4:
            heads = ["sweep", "rank", "noise", "seconds"]
        table = Table(box=None, caption=caption or None, caption_justify="left")
        for head in heads:
            table.add_column(head, justify="right")
        for line in self.lines[-SHOWN:]:
            table.add_row(*line)
        return table
