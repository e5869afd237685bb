"""What is published: numbers, account and figures in one folder."""

import csv

from pygeco.experiments.claims import Verdict
from pygeco.experiments.figure1 import Curve, Job
from pygeco.experiments.reproduction import account, draw, publish
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


def curve(seed: int, shift: float) -> Curve:
    points = tuple(Point(r, 0.5, 1 / r + shift, 0.1) for r in range(1, 6))
    return Curve(Job("ml-100k", "half", "geco", seed), points, 30.0)


def test_means_spreads_and_verdicts_are_in_the_tables() -> None:
    curves = [curve(0, 0.1), curve(1, 0.3)]
    claims = (("it falls", True, "a"), ("it rises", False, "b"), ("who knows", None, "c"))
    verdicts = [Verdict(claim, "ml-100k", holds, numbers) for claim, holds, numbers in claims]
    text = account(curves, verdicts, "figure1.png")
    assert "![Test RMSE against rank](figure1.png)" in text
    assert "| it falls | ml-100k | yes | a |" in text
    assert "| it rises | ml-100k | **no** | b |" in text
    assert "| who knows | ml-100k | open | c |" in text
    assert "## ml-100k, half" in text
    row = next(line for line in text.splitlines() if line.startswith("| GECO (paper)"))
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[1] == "2"
    assert cells[2] == "0.4000 ± 0.1414"  # 1/5 and the mean of the shifts
    assert cells[3] == "5"
    assert "took 1.0 minutes" in text
    assert "![" not in account(curves, verdicts, None)
