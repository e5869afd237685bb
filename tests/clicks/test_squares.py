"""Weighted squares against dense least squares."""

from __future__ import annotations

import numpy as np

from pygeco import Entries, ImplicitCompletion
from pygeco.clicks.settings import SquaresSettings
from pygeco.clicks.squares import fit_squares, scale_columns

SETTINGS = SquaresSettings(6, 0.2, 0.01, 0.5, 0.25, 0.0)


def test_rows_are_the_least_squares_of_their_clicks(clicks, dense):
    found = fit_squares(clicks, SETTINGS, seed=0)
    rows, cols = ((dense > 0).sum(axis).astype(float) for axis in (1, 0))
    rho, kappa = np.maximum(rows, 1) ** 0.5, np.maximum(cols, 1) ** 0.25
    rho, kappa = rho / rho.mean(), kappa / kappa.mean()
    V = found.columns.astype(float)
    for i in (0, 17, 149):
        own = V[dense[i] > 0]
        system = 0.2 * rho[i] * (V.T * kappa) @ V + own.T @ own
        system += 0.01 * (rows[i] + 0.2 * rho[i] * kappa.sum()) * np.eye(6)
        assert np.allclose(found.left[i], np.linalg.solve(system, own.sum(0)), atol=1e-4)


def test_more_sweeps_from_the_end_change_little(clicks):
    first = fit_squares(clicks, SETTINGS, seed=0)
    again = fit_squares(clicks, SETTINGS, seed=0, start=first.columns)
    one, other = (x.left @ x.right.T for x in (first, again))
    assert np.linalg.norm(one - other) < 0.15 * np.linalg.norm(one)


def test_a_start_of_a_lower_rank_is_widened(clicks):
    first = fit_squares(clicks, SETTINGS, seed=0)
    wide = fit_squares(clicks, SquaresSettings(9, 0.2, 0.01, 0, 0, 0), seed=0, start=first.columns)
    assert wide.columns.shape == (50, 9)
    assert np.linalg.matrix_rank(wide.columns) == 9


def test_popularity_multiplies_by_powers_of_counts(clicks, dense):
    V = np.ones((50, 2), np.float32)
    counts = np.maximum((dense > 0).sum(0), 1)
    assert np.allclose(scale_columns(clicks, V, 0.5)[:, 0], counts**0.5)


def test_columns_that_a_heavy_background_shrinks_keep_their_direction():
    """With zero for a minimum, sweeps are powers of the clicks over the ridges, however many."""
    dense = np.zeros((4, 4), np.float32)
    dense[[0, 0, 1, 1, 2, 2, 3, 3], [0, 1, 0, 2, 1, 2, 0, 3]] = 1
    entries = Entries(*np.nonzero(dense), np.ones(8, np.float32), dense.shape)
    settings = SquaresSettings(1, 250.0, 0.005, 0.0, 0.0, 0.0)
    rows, cols = dense.sum(1), dense.sum(0)
    powers = (dense / (rows + 1000.0)[:, None]).T @ dense / (cols + 1000.0)[:, None]
    values, vectors = np.linalg.eig(powers)
    best = np.abs(vectors[:, np.argmax(values.real)].real)
    columns = None
    for _ in range(12):  # clicks come again and again
        columns = fit_squares(entries, settings, seed=0, start=columns).columns
    unit = np.abs(columns[:, 0]) / np.linalg.norm(columns)
    assert np.allclose(unit, best / np.linalg.norm(best), atol=1e-4)
    scores = ImplicitCompletion(spectral=False, squares=settings, random_state=0).fit(dense)
    assert np.isclose(scores.factors_.to_dense().std(), 1, atol=1e-4)  # as those of any fit
