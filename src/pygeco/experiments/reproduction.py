"""What `geco reproduce` writes: the numbers, the account and the figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pygeco.experiments.account import account
from pygeco.experiments.claims import Verdict, verdicts
from pygeco.experiments.figure1 import Curve, write
from pygeco.plot import reproduction as pictures
from pygeco.wholefile import whole_file, whole_text


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
    for kind in ("png", "svg"):
        with whole_file(file.with_suffix(f".{kind}")) as out:
            figure.savefig(out, dpi=110, format=kind)
    return True
