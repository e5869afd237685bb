"""Alternation: the objective falls, is what dense arrays say, and is stationary at the end."""

from itertools import pairwise

import numpy as np
import pytest

from click_cases import clicks
from pygeco.algorithm.alternation import alternate, frequency_ridges


def whole(case, U, V, ridges) -> float:
    held = [float(r @ np.sum(F * F, axis=1)) for r, F in zip(ridges, (U, V), strict=True)]
    return case.value(U @ V.T) + sum(held)


def test_objectives_fall_to_a_stationary_point() -> None:
    case = clicks((30, 20), 0.3, powers=(0.2, 0.5))
    ridges = frequency_ridges(case.objective, 0.05, 0.9)
    turns = []
    found = alternate(
        case.objective, 4, row_ridge=ridges[0], column_ridge=ridges[1], n_sweeps=300,
        random_state=0, callback=turns.append,
    )  # fmt: skip
    assert all(b <= a * (1 + 1e-12) for a, b in pairwise(found.objectives))
    assert [turn.objective for turn in turns] == list(found.objectives)
    for turn in (turns[0], turns[-1]):
        assert whole(case, turn.U, turn.V, ridges) == pytest.approx(turn.objective, rel=1e-10)
    G = case.gradient(found.U @ found.V.T)
    np.testing.assert_allclose(G @ found.V, -2 * ridges[0][:, None] * found.U, atol=1e-7)
    np.testing.assert_allclose(G.T @ found.U, -2 * ridges[1][:, None] * found.V, atol=1e-7)


def test_frequency_ridges_are_those_of_their_formula() -> None:
    case = clicks((10, 6), 0.5, alpha=0.2)
    rows, cols = frequency_ridges(case.objective, 0.3, 0.5)
    seen = case.W > 0
    np.testing.assert_allclose(rows * case.W.sum(), 0.3 * np.sqrt(seen.sum(axis=1) + 0.2 * 6))
    np.testing.assert_allclose(cols * case.W.sum(), 0.3 * np.sqrt(seen.sum(axis=0) + 0.2 * 10))


def test_it_goes_on_from_a_start_and_stops_when_told() -> None:
    case = clicks((30, 20), 0.3)
    once = alternate(case.objective, 3, row_ridge=0.01, n_sweeps=4, random_state=1)
    half = alternate(
        case.objective, 3, row_ridge=0.01, random_state=1, callback=lambda turn: turn.sweeps == 2
    )
    rest = alternate(case.objective, 3, row_ridge=0.01, n_sweeps=2, start=(half.U, half.V))
    np.testing.assert_allclose([*half.objectives, *rest.objectives], once.objectives, rtol=1e-9)
    again = alternate(case.objective, 3, row_ridge=0.01, n_sweeps=4, random_state=1)
    np.testing.assert_array_equal(again.U, once.U)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"rank": 0}, "^rank:"),
        ({"row_ridge": -1.0}, "^row_ridge:"),
        ({"column_ridge": np.ones(3)}, "^column_ridge: expected a number or 9"),
        ({"start": (np.ones((14, 2)), np.ones((9, 3)))}, "^start:"),
    ],
)
def test_other_choices_are_refused(settings, words) -> None:
    with pytest.raises(ValueError, match=words):
        alternate(clicks().objective, **{"rank": 2} | settings)
