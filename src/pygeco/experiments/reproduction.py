"""What `geco reproduce` writes: the numbers, the account and the figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pygeco.experiments.account import account
from pygeco.experiments.claims import Verdict, verdicts
from pygeco.experiments.figure1 import Curve, write
from pygeco.report import reproduction as pictures


def publish(curves: Sequence[Curve], folder: Path) -> list[Verdict]:
    """numbers.csv, figure1.png and .svg, and account.md; the claims and whether they hold."""
    found = verdicts(curves)
    write(curves, folder / "numbers.csv")
    drawn = draw(lambda: pictures.figure1(_panels(curves)), folder / "figure1")
    text = account(curves, found, "figure1.png" if drawn else None)
    (folder / "account.md").write_text(text, encoding="utf-8")
    return found


def _panels(curves: Sequence[Curve]) -> dict[str, list[pictures.Line]]:
    panels: dict[str, list[pictures.Line]] = {}
    for curve in curves:
        errors = {p.rank: p.test for p in curve.points}  # the last of each rank
        ranks = sorted(errors)
        tests = [errors[rank] for rank in ranks]
        line = pictures.Line(curve.job.method, curve.job.label, ranks, tests)
        panels.setdefault(f"{curve.job.dataset}, {curve.job.split}", []).append(line)
    return panels


def draw(picture: Callable[[], Any], file: Path) -> bool:
    """The picture as .png and .svg; false where matplotlib is not installed."""
    try:
        import matplotlib
    except ModuleNotFoundError:
        return False
    matplotlib.use("Agg")
    figure = picture()
    figure.savefig(file.with_suffix(".png"), dpi=110)
    figure.savefig(file.with_suffix(".svg"))
    return True
