"""What `geco reproduce` writes: the numbers, the account and the figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from pygeco.arrays.whole_file import whole_file, whole_text
from pygeco.experiments.claims import Verdict, verdicts
from pygeco.experiments.figure1 import Curve, write
from pygeco.experiments.repeats import Repeats, grouped
from pygeco.plot import reproduction as pictures

SHOWN = (1, 2, 5, 10)  # ranks whose errors are in the tables
VERDICTS = ("claim", "data", "holds", "numbers")
NUMBERS = ("method", "seeds", "least", "at rank", *(f"rank {r}" for r in SHOWN), "seconds", "")

INTRODUCTION = """# The paper's Figure 1, run again

Test RMSE against rank, as in section 5 of "Large-Scale Convex Minimization with a Low-Rank
Constraint" (Shalev-Shwartz, Gonen and Shamir, ICML 2011). "half" is a random half of the ratings
held out, another one for each seed; "ub" and "rb" are the official splits, where a seed decides
the start vectors alone. "Least" is the least error on the test cells over all ranks, as the paper
reports it. GECO and JS are run from several seeds: numbers are means, ± is the standard deviation
over the seeds, and a verdict is "yes" or "**no**" where the 95 % interval of the mean (Student's t,
differences taken seed by seed) says so, else "open".

"GECO (paper)" takes section 2.1.2 to the letter: a replacement zeroes the smallest singular value
and is kept if that lowers the objective (`Solver.paper()`). "GECO, refitted replacements" first
minimizes again over what is kept (`Solver.refitted()`). JS takes its trace bound from a tenth of
the ratings to fit, held out from them; "centered" means that their mean was subtracted first. The
paper does not say what its JS was given.
"""


def publish(curves: Sequence[Curve], folder: Path) -> list[Verdict]:
    """numbers.csv, figure1.png and .svg, and account.md; the claims and whether they hold."""
    found = verdicts(curves)
    write(curves, folder / "numbers.csv")
    drawn = draw(lambda: pictures.figure1(_panels(curves)), folder / "figure1")
    text = account(curves, found, "figure1.png" if drawn else None)
    with whole_text(folder / "account.md") as file:
        file.write(text)
    return found


def _panels(curves: Sequence[Curve]) -> dict[str, list[pictures.Line]]:
    return {
        f"{dataset}, {split}": [_line(name, one) for name, one in methods.items()]
        for (dataset, split), methods in grouped(curves).items()
    }


def _line(name: str, one: Repeats) -> pictures.Line:
    ranks = sorted({point.rank for curve in one.curves for point in curve.points})
    found = [one.error(rank) for rank in ranks]
    spreads = [error.spread if error.seeds > 1 else 0.0 for error in found]
    return pictures.Line(name, one.label, ranks, [error.mean for error in found], spreads)


def draw(picture: Callable[[], Any], file: Path) -> bool:
    """The picture as .png and .svg; false where matplotlib is not installed."""
    try:
        import matplotlib
    except ModuleNotFoundError:
        return False
    matplotlib.use("Agg")
    figure = picture()
    for kind in ("png", "svg"):
        with whole_file(file.with_suffix(f".{kind}")) as out:
            figure.savefig(out, dpi=110, format=kind)
    return True


def account(curves: Sequence[Curve], verdicts: Iterable[Verdict], figure: str | None) -> str:
    """The whole page; `figure` is the picture's file name."""
    parts = [INTRODUCTION]
    if figure is not None:
        parts.append(f"![Test RMSE against rank]({figure})\n")
    parts += ["## What the paper says\n", _table(VERDICTS, [_verdict(v) for v in verdicts])]
    for (dataset, split), methods in grouped(curves).items():
        rows = [_numbers(repeats) for repeats in methods.values()]
        parts += [f"## {dataset}, {split}\n", _table(NUMBERS, rows)]
    total = sum(c.seconds for c in curves)
    parts.append(f"All runs together took {total / 60:.1f} minutes, choices of bounds included.\n")
    return "\n".join(parts)


def _verdict(verdict: Verdict) -> tuple[str, ...]:
    holds = {True: "yes", False: "**no**", None: "open"}[verdict.holds]
    return verdict.claim, verdict.data, holds, verdict.numbers


def _numbers(one: Repeats) -> tuple[str, ...]:
    at = (str(one.error(rank)) for rank in SHOWN)
    seconds = one.estimate(lambda curve: curve.seconds).mean
    notes = dict.fromkeys(curve.best.note for curve in one.curves)
    return (
        *(one.label, str(len(one.curves)), str(one.least), one.best_ranks),
        *(*at, f"{seconds:.1f}", "; ".join(note for note in notes if note)),
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"
