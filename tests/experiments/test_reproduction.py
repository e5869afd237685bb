"""What is published: numbers, account and figures in one folder."""

import csv

from pygeco.experiments.figure1 import Curve, Job
from pygeco.experiments.reproduction import draw, publish
from pygeco.experiments.tasks import Point


def test_everything_is_in_the_folder(tmp_path) -> None:
    methods = ("geco", "js")
    curves = [
        Curve(Job("ml-100k", "half", method, seed),
              tuple(Point(r, 0.5, 1 + 1 / r, 0.1) for r in (1, 2, 5)), 1.0)
        for method in methods for seed in (0, 1)
    ]  # fmt: skip
    publish(curves, tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"numbers.csv", "account.md", "figure1.png", "figure1.svg"}
    with (tmp_path / "numbers.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4 * 3
    assert {row["method"] for row in rows} == set(methods)
    assert (tmp_path / "figure1.png").read_bytes().startswith(b"\x89PNG")


def test_without_matplotlib_nothing_is_drawn(tmp_path, monkeypatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    assert not draw(lambda: None, tmp_path / "figure")
    assert not list(tmp_path.iterdir())
