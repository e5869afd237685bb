"""The account in Markdown says the numbers of its curves."""

from pygeco.experiments.account import account
from pygeco.experiments.claims import Verdict
from pygeco.experiments.figure1 import Curve, Job
from pygeco.experiments.tasks import Point


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
