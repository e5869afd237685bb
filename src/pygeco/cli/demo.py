"""`geco demo`: the main job on data that the package makes itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from pygeco.algorithm.events import Listener
from pygeco.algorithm.path import Step
from pygeco.algorithm.solver import Solver
from pygeco.arrays.whole_file import whole_file
from pygeco.data import make_ratings, split_cells
from pygeco.estimators import MatrixCompletion


def run(output: Path, rank: int, seed: int) -> None:
    """Ratings, a fit shown as it grows, and a picture in `output`."""
    rows, cols, values, shape = make_ratings(cells=40_000, random_state=seed)
    held = split_cells(len(values), 0.1, seed)
    fitted = ~held
    print(
        f"{fitted.sum():,} ratings of {shape[1]:,} items by {shape[0]:,} users to fit, "
        f"{held.sum():,} held out. Behind them: offsets, four tastes, and noise."
    )
    print("rank  objective  test RMSE    gap at most  seconds")
    model = MatrixCompletion(
        rank, penalty=None, biases=True, solver=Solver.refitted(), random_state=seed
    )
    show = Show(rows[held], cols[held], values[held])
    model.set_params(observer=show).fit((rows[fitted], cols[fitted], values[fitted], shape))
    sure = model.path_[-1].certificate.confidence
    print("objective: the mean squared error over the fitted ratings.")
    print(
        "gap at most: no matrix of the same trace norm, of any rank, has an objective lower by "
        f"more than this ({sure:.1%} sure). Nothing is known where the bound is no smaller than "
        "the objective."
    )
    print(f"stopped: {model.stop_reason_.advice}.")
    default = MatrixCompletion(random_state=seed)
    default.fit((rows[fitted], cols[fitted], values[fitted], shape))
    found = default.predict(rows[held], cols[held])
    error = float(np.sqrt(np.mean((found - values[held]) ** 2)))
    print(
        "that path has no penalty. MatrixCompletion(), with nothing set, finds rank "
        f"{default.rank_}: test RMSE {error:.4f}."
    )
    _picture(model, show.errors, output)
    _report(model, (rows[held], cols[held], values[held]), output)


class Show(Listener):
    """Prints a line for each rank, with its error at the held-out ratings."""

    def __init__(self, rows: Any, cols: Any, values: Any) -> None:
        self.rows, self.cols, self.values = rows, cols, values
        self.errors: list[float] = []

    def on_model(self, model: Any) -> None:
        self.offsets = model.biases_.at(self.rows, self.cols)

    def on_step(self, step: Step) -> None:
        found = self.offsets + step.A.entries(self.rows, self.cols)
        self.errors.append(float(np.sqrt(np.mean((found - self.values) ** 2))))
        line = f"{step.rank:4d}  {step.objective:9.4f}  {self.errors[-1]:9.4f}"
        print(f"{line}  {step.gap_words:>13}  {step.seconds:7.2f}", flush=True)


def _picture(model: MatrixCompletion, errors: list[float], output: Path) -> None:
    try:
        import matplotlib
    except ModuleNotFoundError:
        print("no picture: it needs an extra; run: pip install 'pygeco[plot]'.")
        return
    matplotlib.use("Agg")
    from pygeco import plot

    target = output / "path.png"
    with whole_file(target) as file:
        plot.path(model.path_, errors).figure.savefig(file, dpi=150, format="png")
    print(f"picture: {target}")


def _report(model: MatrixCompletion, held_out: tuple[Any, ...], output: Path) -> None:
    from pygeco.reports import report

    target = output / "report.html"
    try:
        report(model, held_out, output=target, heading="Synthetic ratings")
    except ModuleNotFoundError:
        print("no report: it needs an extra; run: pip install 'pygeco[report]'.")
        return
    print(f"report: {target}")
