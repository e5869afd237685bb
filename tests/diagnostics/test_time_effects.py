"""What time says, in numbers and in words."""

import numpy as np
import pytest

from pygeco import MatrixCompletion
from pygeco.diagnostics.time_effects import describe_length, describe_time, list_time_effects
from pygeco.reports import report

rng = np.random.default_rng(0)
PICK = rng.permutation(50 * 30)[:1000]
ROWS, COLS, DAYS = PICK // 30, PICK % 30, rng.integers(0, 5, 1000)
VALUES = rng.standard_normal((30, 5))[COLS, DAYS] + 0.3 * rng.standard_normal(1000)


@pytest.mark.parametrize(
    ("width", "said"),
    [
        (1.2, "1 second"),
        (52, "52 seconds"),
        (340, "6 minutes"),
        (9e3, "2 hours"),
        (1.4e6, "16 days"),
    ],
)
def test_lengths_are_in_words(width, said):
    assert describe_length(width) == said


def test_the_drift_of_columns_is_told_with_its_size(tmp_path):
    settings = {"time": 5, "pattern": False, "random_state": 0}
    model = MatrixCompletion(1, **settings).fit((ROWS, COLS, VALUES), times=1.6e9 + 86_400 * DAYS)
    found = [one for one in list_time_effects(model) if one.side == "column"]
    assert found[0].deviation == pytest.approx(1.0, rel=0.35)
    said = describe_time(list_time_effects(model), ("user", "film"))
    assert "films by" in said
    assert "hours" in said
    page = report(model, output=tmp_path / "page.html")
    assert "columns by" in page.read_text(encoding="utf-8")
    plain = MatrixCompletion(1, time=False, pattern=False, random_state=0)
    assert list_time_effects(plain.fit((ROWS, COLS, VALUES))) == []
    assert describe_time([], ("user", "film")) == ""
