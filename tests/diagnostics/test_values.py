"""Fitted values, and warnings of what misleads, against plain loops."""

import warnings

import numpy as np
import pytest

from pygeco import MatrixCompletion, diagnostics
from pygeco.errors import ClicksWarning
from report_cases import ratings

KINDS = ("user", "item", "rating")


def fit_values(values):
    rows, cols, _, shape = ratings()[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClicksWarning)
        model = MatrixCompletion(1, missing_values=None, random_state=0)
        return model.fit((rows, cols, values, shape))


def warned(model) -> str:
    return " ".join(diagnostics.find_data_warnings(model, None, KINDS))


@pytest.mark.parametrize(
    ("mark", "apart"), [(-1.0, True), (99.0, True), (2.0, False), (6.0, False)]
)
def test_a_mark_for_missing_ratings_stands_apart(mark, apart) -> None:
    rng = np.random.default_rng(0)
    stars = rng.integers(3, 6, len(ratings()[0][2])).astype(float)
    marked = np.where(rng.random(len(stars)) < 0.4, mark, stars)
    assert ("far from all others" in warned(fit_values(marked))) is apart


def test_warnings_name_what_misleads() -> None:
    count, rng = len(ratings()[0][2]), np.random.default_rng(0)
    stars = rng.integers(1, 6, count).astype(float)
    assert "are" not in warned(fit_values(stars)).replace("are close to the average", "")
    common = np.where(rng.random(count) < 0.9, 5.0, stars)
    assert "of the ratings are 5." in warned(fit_values(common))
    assert "All ratings are 1" in warned(fit_values(np.ones(count)))
    own = rng.integers(1, 6, ratings()[0][3][0]).astype(float)[ratings()[0][0]]
    assert "gave every one the same value" in warned(fit_values(own))
    cells = (np.array([0, 1, 2, 2]), np.array([0, 1, 0, 2]), np.array([1.0, 2.0, 3.0, 4.0]))
    said = warned(MatrixCompletion(1, random_state=0).fit(cells))
    assert "3 of 3 users have fewer than 3 ratings" in said
    assert "fewer ratings than users and items together" in said


def test_nearly_all_is_not_all() -> None:
    values = np.full(len(ratings()[0][2]), 5.0)
    values[:1] = 4.0  # one of 2,400
    assert "99.9% of the ratings are 5." in warned(fit_values(values))


def test_values_are_counted_by_level_or_in_bins() -> None:
    found = diagnostics.count_values(fit_values(np.round(ratings()[0][2])))
    assert found.edges is None
    assert found.counts.sum() == len(ratings()[0][2])
    wide = diagnostics.count_values(fit_values(np.linspace(0, 1, len(ratings()[0][2]))))
    assert len(wide.edges) == len(wide.levels) + 1
    assert wide.counts.sum() == len(ratings()[0][2])
