"""New columns from the clicks on them: those of the fit are found again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from pygeco import Entries, ImplicitCompletion
from pygeco.bayes.attributes import AttributeValues
from pygeco.clicks.fitting import Chosen, fit_chosen
from pygeco.clicks.informing import inform
from pygeco.clicks.settings import AttributeSettings, SpectralSettings, SquaresSettings

SPECTRAL = SpectralSettings(9, 0.4, 0.3, 2.0, 0.1)
SQUARES = SquaresSettings(5, 0.2, 0.01, 0.5, 0.25, 0.1)


@pytest.fixture(scope="module", params=[(0.0, 0.0), (0.4, 0.0), (1.0, 0.0), (0.0, 0.7), (0.4, 0.7)])
def model(clicks, request):
    """Fitted until it rests: then a column is the one that its own clicks give."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pygeco.clicks.spectral.COLD_POWERS", (1,) * 100)
        patch.setattr("pygeco.clicks.squares.COLD_SWEEPS", 100)
        share, fame = request.param
        return fit_chosen(clicks, Chosen(replace(SPECTRAL, fame=fame), SQUARES, share), 0)


def test_columns_of_the_fit_are_found_again(model, clicks):
    found = model.factors.U @ model.fold_columns(clicks.T).coordinates.T
    wanted = model.factors.to_dense()
    assert np.linalg.norm(found - wanted) < 1e-3 * np.linalg.norm(wanted)


def test_a_column_of_squares_is_its_ridge_solution(clicks, dense):
    """Against normal equations: the column's own clicks, before the background of its rows."""
    plain = SquaresSettings(5, 0.2, 0.01, 0.5, 0.25, 0.0)
    model = fit_chosen(clicks, Chosen(None, plain, 1.0), 0)
    new = np.zeros((150, 1))
    new[[2, 9, 30, 31, 77]] = 1.0
    L = model.factors.left.astype(float)  # any basis gives the same scores without a ridge
    counts, columns = dense.sum(axis=1), dense.sum(axis=0)
    rho = np.maximum(counts, 1) ** 0.5
    rho /= rho.mean()
    level = np.mean(np.maximum(columns, 1) ** 0.25)
    own = 0.2 * 5**0.25 / level
    part = model.squares
    rows = np.linalg.lstsq(part.turn.astype(float).T, L.T, rcond=None)[0].T  # as they were swept
    ridge = 0.01 * (5 + own * rho.sum())
    system = rows[new[:, 0] > 0].T @ rows[new[:, 0] > 0] + own * (rows.T * rho) @ rows
    solved = np.linalg.solve(system + ridge * np.eye(5), rows.T @ new)
    given = Entries(np.zeros(5, int), np.flatnonzero(new), np.ones(5, np.float32), (1, 150))
    found = model.factors.U @ model.fold_columns(given).coordinates[0]
    expected = (rows @ solved)[:, 0]
    expected *= np.linalg.norm(model.factors.to_dense()) / np.linalg.norm(rows @ part.columns.T)
    np.testing.assert_allclose(found, expected, atol=2e-3 * np.abs(expected).max())


def test_attributes_place_what_has_no_clicks_and_move_the_rest(model, clicks):
    kind = np.arange(50) % 5
    values = AttributeValues(
        sp.csr_array(np.eye(5, dtype=np.float32)[kind]), np.ones(50, bool), ("kind",), (5,)
    )
    settings = AttributeSettings(3.0, pull=10.0, side="column")
    told = inform(model, (None, values), (None, settings))
    none = np.zeros(0, int)
    given = Entries(none, none, np.zeros(0, np.float32), (1, 150), allow_empty=True)
    empty = told.fold_columns(given, values.take(np.array([3]))).coordinates
    alone = told.add_lines(None, values.take(np.array([3]))).factors.to_dense()[:, 50]
    np.testing.assert_allclose(told.factors.U @ empty[0], alone, atol=1e-4 * np.abs(alone).max())
    some = Entries(np.zeros(2, int), np.array([4, 9]), np.ones(2, np.float32), (1, 150))
    apart = [
        told.factors.U @ told.fold_columns(some, known).coordinates[0]
        for known in (None, values.take(np.array([3])))
    ]
    assert np.linalg.norm(apart[1] - alone) < np.linalg.norm(apart[0] - alone)


def test_the_estimator_takes_pairs_and_matrices(clicks):
    model = ImplicitCompletion(
        squares={**vars(SQUARES)}, spectral={**vars(SPECTRAL)}, share=0.4, random_state=0
    ).fit((clicks.rows(), clicks.by_row.indices))
    rows = np.array([1, 5, 8])
    table = np.zeros((150, 2))
    table[rows, 1] = 1
    one = model.transform_columns((rows, np.ones(3, int), np.ones(3), (150, 2)))
    np.testing.assert_allclose(one, model.transform_columns(table), atol=1e-6)
    np.testing.assert_allclose(model.complete_columns(table), model.factors_.U @ one.T, atol=1e-5)
    assert not one[0].any()
    with pytest.raises(ValueError, match=r"^X: has 149 rows"):
        model.transform_columns(np.ones((149, 1)))
