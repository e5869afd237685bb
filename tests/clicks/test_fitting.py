"""Clicks to a model: both families as one matrix of scores."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pygeco import Entries
from pygeco.clicks.fitting import Chosen, fit_chosen, fit_clicks, refit
from pygeco.clicks.settings import SpectralSettings, SquaresSettings
from pygeco.clicks.spectral import find_spectrum, make_factors, measure_spread
from pygeco.clicks.squares import fit_squares

SPECTRAL = SpectralSettings(9, 0.4, 0.3, 2.0, 0.1)
SQUARES = SquaresSettings(5, 0.2, 0.01, 0.5, 0.25, 0.1)


def test_scores_are_the_blend_of_both(clicks):
    model = fit_chosen(clicks, Chosen(SPECTRAL, SQUARES, 0.3), 0)
    one = make_factors(clicks, find_spectrum(clicks, SPECTRAL, seed=0), SPECTRAL)
    two = fit_squares(clicks, SQUARES, seed=0)
    expected = sum(
        share * (x.left @ x.right.T) / measure_spread(x.left, x.right)
        for share, x in ((0.7, one), (0.3, two))
    )
    expected[17] = np.delete(expected, 17, axis=0).mean(axis=0)  # who has no click
    assert np.allclose(model.factors.to_dense(), expected, atol=1e-4 * np.abs(expected).max())
    assert model.factors.rank == 14


def test_complete_settings_need_no_trial(clicks):
    found = fit_clicks(clicks, spectral=SPECTRAL, squares=SQUARES, share=0.5)
    assert found.trials == ()
    assert found.model.share == 0.5


def test_a_family_that_is_off_is_not_tried(clicks):
    found = fit_clicks(clicks, spectral=None)
    assert {t.family for t in found.trials} == {"squares"}
    assert found.model.spectral is None
    assert found.model.share == 1.0
    with pytest.raises(ValueError, match="both families"):
        fit_clicks(clicks, spectral=None, squares=None)


def test_few_clicks_are_fitted_by_the_defaults():
    lone = Entries(np.arange(9), np.arange(9), np.ones(9, np.float32), (9, 9))
    found = fit_clicks(lone)
    assert found.trials == ()
    assert np.all(np.isfinite(found.model.factors.to_dense()))


@pytest.mark.parametrize("more", [0.0, 0.1])
def test_rows_of_one_click_are_given_what_is_popular(more):
    """Nothing personal is to be learned: lists are nearly as good as those of the same for all."""
    rng = np.random.default_rng(0)
    m, n = 1200, 60
    chances = rng.permutation(1 / (1.0 + np.arange(n)))
    drawn = np.argsort(rng.exponential(size=(m, n)) / chances, axis=1)  # without replacement
    count = 1 + (rng.random(m) < more)
    rows, cols = np.nonzero(np.arange(n) < count[:, None])
    entries = Entries(rows, drawn[rows, cols], np.ones(len(rows), np.float32), (m, n))
    wanted = drawn[np.arange(m), count]
    model = fit_clicks(entries).model
    popular = np.tile(entries.counts()[1], (m, 1)).astype(float)
    gains = []
    for scores in (model.factors.to_dense().astype(float), popular):
        scores[entries.rows(), entries.by_row.indices] = -np.inf
        places = (scores > scores[np.arange(m), wanted][:, None]).sum(1)
        gains.append(float(np.mean(np.where(places < 20, 1 / np.log2(places + 2.0), 0))))
    assert gains[0] > 0.95 * gains[1]
    assert model.spectral_settings.fame > 0
    assert model.spectral_settings.rank <= n


def test_a_refit_to_new_clicks_is_near_a_fit_to_all(clicks):
    keep = np.random.default_rng(1).random(clicks.size) < 0.95
    model = fit_chosen(clicks.subset(keep), Chosen(SPECTRAL, SQUARES, 0.3), 0)
    places = np.arange(150), np.arange(50)
    after = refit(model, clicks.subset(~keep), places)
    whole = fit_chosen(clicks, Chosen(SPECTRAL, SQUARES, 0.3), 0)
    assert np.array_equal(after.seen.indices, whole.seen.indices)
    one, other = after.factors.to_dense(), whole.factors.to_dense()
    assert np.corrcoef(one.ravel(), other.ravel())[0, 1] > 0.98


def test_weights_count(clicks):
    heavy = clicks.standardize(0.0, 0.5, np.float32)  # every click weighs two
    settings = replace(SQUARES, background=0.4, ridge=0.01)
    one = fit_squares(heavy, settings, seed=0)
    assert np.all(np.isfinite(one.left))
    light = fit_squares(clicks, SQUARES, seed=0)
    assert np.corrcoef((one.left @ one.right.T).ravel(), (light.left @ light.right.T).ravel())[
        0, 1
    ] == pytest.approx(1, abs=0.05)
