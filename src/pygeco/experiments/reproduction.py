"""What `geco reproduce` writes: the numbers, the account and the figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pygeco.arrays.whole_file import whole_file, whole_text
from pygeco.experiments.account import account
from pygeco.experiments.claims import Verdict, verdicts
from pygeco.experiments.figure1 import Curve, write
from pygeco.experiments.repeats import Repeats, grouped
from pygeco.plot import reproduction as pictures


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
