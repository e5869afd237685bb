"""A fit as it grows: a live table with the time left, and the time limit."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np

from pygeco.algorithm.events import ClickTrial, Listener, PosteriorDraw, Sweep, Trial
from pygeco.algorithm.path import Step
from pygeco.cli.console import Voice
from pygeco.cli.displays import make_display
from pygeco.engines import COMPILING
from pygeco.errors.visible_numbers import find_format

MAX_SHOWN_STEPS = 15  # the last lines of the table


class Held(NamedTuple):
    """Held-out cells whose ids the fit knows."""

    rows: Any
    cols: Any
    values: Any


class _Waiting:
    """What stands there before the first line: the time."""

    def __init__(self, began: float, what: str) -> None:
        self.began, self.what = began, what

    def __rich__(self) -> str:
        passed = time.monotonic() - self.began
        return f"{self.what}, {passed:.0f} s." if passed >= 1 or COMPILING else ""


class Watch(Listener):
    """Shows each rank or sweep on a terminal, and stops the fit when time is up."""

    def __init__(self, voice: Voice, model: Any, table: Any, limit: float | None) -> None:
        self.voice, self.model, self.table, self.limit = voice, model, table, limit
        self.began = time.monotonic()
        self.out_of_time = False
        self.lines: list[list[str]] = []
        self.times: list[float] = []
        self.noises: list[float] = []
        self.is_informed = False  # whether the sweeps count attributes and known cells yet
        self.held: Held | None = None
        self.best = 0.0  # nDCG@20 of the trials of clicks
        self.draw: PosteriorDraw | None = None
        self.live: Any = None

    @property
    def late(self) -> str:
        """What the time limit cut short, in words; empty if nothing."""
        if not self.out_of_time:
            return ""
        if self.draw is None:
            return "the time limit is reached; --resume continues"
        return (
            f"the time limit is reached at sweep {self.draw.done} of the {self.draw.total} from "
            "the posterior; --resume draws them anew"
        )

    def on_model(self, model: Any) -> None:
        """The model in the making, whose ids and offsets the held-out error needs."""
        self.model = model

    def __enter__(self) -> Self:
        if self.voice.live:
            validates = self.model.rank == "auto" and not self.model.uses_evidence
            waiting = _Waiting(self.began, "choosing the rank" if validates else "starting")
            self.live = make_display(waiting)
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

    def on_step(self, step: Step) -> bool:
        self._note_time()
        if self.live is not None:
            error = self._error(step)
            shown = "" if error is None else format(error, find_format([error], 4))
            line = [f"{step.rank}", f"{step.objective:.5g}", step.gap_words, shown]
            self._show([*line, f"{step.seconds:.1f}"], self._ranks_left(step))
        return self._is_late()

    def on_sweep(self, sweep: Sweep) -> bool:
        self._note_time()
        if not self.is_informed and getattr(sweep.stage, "plain", None) is not None:
            self.is_informed, self.noises = True, []
        if self.live is not None:
            self.noises.append(sweep.noise)
            line = [
                f"{sweep.sweeps}",
                f"{sweep.rank}",
                format(sweep.noise, find_format([sweep.noise], 4)),
            ]
            self._show([*line, f"{sweep.seconds:.1f}"], self._sweeps_left())
        return self._is_late()

    def on_trial(self, trial: Trial) -> bool:
        self._note_time()
        if self.live is not None:
            self.live.update(
                f"choosing the rank: {trial.rank} has a held-out loss of {trial.loss:.4g}, "
                f"{self.times[-1]:.0f} s."
            )
        return self._is_late()

    def on_click_trial(self, trial: ClickTrial) -> bool:
        self._note_time()
        self.best = max(self.best, trial.ndcg)
        if self.live is not None:
            what = "a blend" if trial.family == "both" else trial.family
            self.live.update(
                f"trying {what}, held-out nDCG@20 {trial.ndcg:.4f}, best {self.best:.4f}, "
                f"{self.times[-1]:.0f} s."
            )
        return self._is_late()

    def on_draw(self, draw: PosteriorDraw) -> bool:
        self.draw = draw
        now = time.monotonic() - self.began
        left = (now - self.times[-1]) * (draw.total - draw.done) / draw.done
        if self.live is not None and self.lines:
            shown = f"posterior draw {draw.done} of {draw.total}, about {left:.0f} s left"
            self.live.update(self._table(shown))
        return self._is_late()

    def _note_time(self) -> None:
        self.times.append(time.monotonic() - self.began)

    def _show(self, line: list[str], steps_left: float | None) -> None:
        self.lines.append(line)
        self.live.update(self._table(self._left(steps_left)))

    def _is_late(self) -> bool:
        passed = time.monotonic() - self.began
        self.out_of_time = self.limit is not None and passed >= self.limit
        return self.out_of_time

    def _error(self, step: Step) -> float | None:
        """RMSE at the held-out cells that can be known at this rank."""
        from pygeco.diagnostics import to_data_scale

        if self.table is None:
            return None
        if self.held is None:
            rows, cols, targets = self.model.known_cells(self.table)[:3]
            self.held = Held(rows, cols, to_data_scale(self.model.loss_, targets))
        rows, cols, values = self.held
        z = step.A.entries(rows, cols) + self.model.biases_.at(rows, cols)
        return float(np.sqrt(np.mean((self.model.model_.respond(z) - values) ** 2)))

    def _left(self, steps: float | None) -> str:
        """About how long it will take yet, for this many more steps or sweeps."""
        now = f"{'with attributes, ' if self.is_informed else ''}{self.times[-1]:.0f} s"
        if steps is None or len(self.times) < 3:
            return now
        pace = (self.times[-1] - self.times[-3]) / 2
        left = pace * steps
        if self.limit is not None:
            left = min(left, self.limit - self.times[-1])
        return f"{now}, about {max(0.0, left):.0f} s left"

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
        for line in self.lines[-MAX_SHOWN_STEPS:]:
            table.add_row(*line)
        return table
