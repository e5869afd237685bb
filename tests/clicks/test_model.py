"""A fitted model of clicks: rows are functions of their clicks, scores sums over them."""

from __future__ import annotations

import numpy as np
import pytest

from pygeco.clicks.fitting import Chosen, fit_chosen
from pygeco.clicks.settings import SpectralSettings, SquaresSettings
from pygeco.objectives import Entries

SPECTRAL = SpectralSettings(9, 0.4, 0.3, 2.0, 0.1)
SQUARES = SquaresSettings(5, 0.2, 0.01, 0.5, 0.25, 0.1)


@pytest.fixture(scope="module", params=[0.0, 0.4, 1.0])
def model(clicks, request):
    return fit_chosen(clicks, Chosen(SPECTRAL, SQUARES, request.param), 0)


def test_fitted_rows_are_found_again_from_their_clicks(model, clicks):
    found = model.fold_rows(clicks).coordinates
    assert np.allclose(found, model.factors.left, atol=1e-4 * np.abs(model.factors.left).max())


def test_a_row_without_clicks_is_the_average_row(model):
    left = model.factors.left
    near = {"rtol": 1e-4, "atol": 1e-5 * np.abs(left).max()}
    np.testing.assert_allclose(left[17], np.delete(left, 17, axis=0).mean(axis=0), **near)
    ours, unknown = model.best(np.array([17]), 8), model.rank_for_average(8)
    np.testing.assert_array_equal(ours.columns[0], unknown.columns)
    np.testing.assert_allclose(ours.scores[0], unknown.scores, rtol=1e-4)
    reasons = model.explain(17, 3, 5)
    assert len(reasons.columns) == 0
    score = model.linear(np.array([17]), np.array([3]))[0]
    assert reasons.base == pytest.approx(score, rel=1e-3)


def test_reasons_add_up(model, clicks):
    row, cols = 3, np.flatnonzero(clicks.rows() == 3)
    known = set(clicks.by_row.indices[cols].tolist())
    column = next(j for j in range(50) if j not in known)
    reasons = model.explain(row, column, 100)
    assert set(reasons.columns.tolist()) == known
    score = model.linear(np.array([row]), np.array([column]))[0]
    assert reasons.contributions.sum() + reasons.base == pytest.approx(score, rel=1e-3)
    assert len(model.explain(row, column, 2).columns) == 2


@pytest.mark.parametrize("count", [1, 4, 12])  # fewer and more than the rank of the squares
def test_reasons_of_new_rows_add_up_to_their_scores(model, clicks, count):
    cols, values = np.arange(count) * 3 + 1, np.ones(count)
    shape = (1, clicks.shape[1])
    folded = model.fold_rows(Entries(np.zeros(count, int), cols, values, shape, loss="squared"))
    score = float(folded.coordinates[0] @ model.factors.V[0])
    reasons = model.explain_clicks(cols, values, 0, 100)
    assert reasons.contributions.sum() == pytest.approx(score, rel=1e-3)


def test_the_basis_of_the_background_is_found_once(model, clicks, monkeypatch):
    first = model.fold_rows(clicks).coordinates
    model.explain(3, 0, 5)
    monkeypatch.setattr(np.linalg, "eigh", lambda *_: pytest.fail("another eigenproblem"))
    np.testing.assert_array_equal(model.fold_rows(clicks).coordinates, first)
    model.explain(4, 0, 5)
