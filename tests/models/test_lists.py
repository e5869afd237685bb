"""Scores of lists: the formula, and its order."""

from __future__ import annotations

import numpy as np
import pytest

from pygeco.models.lists import ListWeights, check_by

RNG = np.random.default_rng(0)
V = np.linalg.qr(RNG.standard_normal((7, 3)))[0]
WEIGHTS = ListWeights(V, np.arange(1.0, 8), np.arange(7.0, 0, -1), np.ones(3), 1.0, 3.0, 0.5)


def test_choices_are_the_product_of_the_parts():
    known = np.array([[1.0, 0, 1, 0, 0, 0, 1]])
    B = np.diag(WEIGHTS.inward) @ V @ V.T @ np.diag(WEIGHTS.outward)
    assert np.allclose(WEIGHTS.score_choices(known), known @ B)


def test_liking_counts_by_its_power_and_what_draws_nobody_comes_last():
    choice = np.array([[2.0, 2.0, -1.0, -2.0]])
    predicted = np.array([[4.0, 2.0, 5.0, 5.0]])
    assert np.array_equal(WEIGHTS.combine(choice, predicted, 0.0), choice)
    found = WEIGHTS.combine(choice, predicted, 1.0)[0]
    assert found[0] > found[1] > 0 > found[2] > found[3]
    assert found[0] / found[1] == pytest.approx((1 + np.exp(3.404)) / (1 + np.exp(-3.404)))


def test_other_words_are_refused():
    with pytest.raises(ValueError, match="by: unknown"):
        check_by("likes")
