"""Singular pairs of normalized clicks against dense algebra."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pygeco import Entries
from pygeco.clicks.settings import SpectralSettings
from pygeco.clicks.spectral import (
    find_encoder,
    find_spectrum,
    make_factors,
    measure_spread,
    shrink_values,
)


def normalize(dense, a, b):
    rows, cols = (np.maximum((dense > 0).sum(axis), 1.0) for axis in (1, 0))
    return dense * rows[:, None] ** -a * cols**-b


@pytest.mark.parametrize(("a", "b"), [(0.5, 0.5), (0.3, 0.0), (0.0, 0.4)])
def test_all_pairs_are_those_of_the_dense_matrix(clicks, dense, a, b):
    found = find_spectrum(clicks, SpectralSettings(50, a, b), seed=0)
    expected = np.linalg.svd(normalize(dense, a, b), compute_uv=False)
    assert np.allclose(found.values, expected, atol=1e-3 * expected[0])
    assert np.allclose(found.vectors.T @ found.vectors, np.eye(50), atol=1e-3)


def test_leading_pairs_from_a_start_of_other_powers(clicks, dense):
    start = find_spectrum(clicks, SpectralSettings(12, 0.5, 0.5), seed=1).vectors
    found = find_spectrum(clicks, SpectralSettings(16, 0.3, 0.3), seed=1, start=start)
    _, s, Vt = np.linalg.svd(normalize(dense, 0.3, 0.3))
    assert np.allclose(found.values[:5], s[:5], rtol=1e-2)
    inside = np.linalg.norm(found.vectors[:, :5].T @ Vt[:5].T)
    assert inside == pytest.approx(np.sqrt(5), rel=1e-2)


@pytest.mark.parametrize(("shape", "rank"), [((40, 300), 40), ((70, 150), 9), ((300, 40), 9)])
@pytest.mark.parametrize("seed", [0, 1])
def test_pairs_of_wide_and_tall_clicks_with_empty_lines(shape, rank, seed):
    """Few rows are worked on in place of the columns; counts differ, and come in any unit."""
    rng = np.random.default_rng(seed)
    dense = (rng.random(shape) < 0.1) * rng.integers(1, 9, shape) * 2.0 ** (40 * seed)
    dense[:, 5], dense[7] = 0, 0
    rows, cols = np.nonzero(dense)
    some = Entries(rows, cols, dense[rows, cols].astype(np.float32), shape)
    _, s, Vt = np.linalg.svd(normalize(dense, 0.3, 0.2))
    settings = SpectralSettings(rank, 0.3, 0.2)
    start = find_spectrum(some, SpectralSettings(rank // 2, 0.5, 0.1), seed=seed).vectors
    for given in (None, start):
        found = find_spectrum(some, settings, seed=seed, start=given)
        assert found.vectors.shape == (shape[1], rank)
        assert np.all(found.vectors[5] == 0)
        assert np.allclose(found.values[:3], s[:3], rtol=3e-2)
        assert np.linalg.norm(found.vectors[:, :1].T @ Vt[0]) > 0.999
        live = rank - (rank == min(shape))  # one row is empty
        gram = (found.vectors.T @ found.vectors)[:live, :live]
        assert np.allclose(gram, np.eye(live), atol=1e-3)
        if rank == min(shape):
            assert np.allclose(found.values, s, atol=2e-3 * s[0])


def test_scores_are_the_formula(clicks, dense):
    settings = SpectralSettings(50, 0.4, 0.3, 2.0, 0.2)
    spectrum = find_spectrum(clicks, settings, seed=0)
    found = make_factors(clicks, spectrum, settings)
    _, s, Vt = np.linalg.svd(normalize(dense, 0.4, 0.3), full_matrices=False)
    f = s**2 / (s**2 + 2.0 * s[-1] ** 2)
    counts = np.maximum((dense > 0).sum(0), 1.0)
    expected = ((dense * counts**-0.3) @ (Vt.T * f) @ Vt) * counts**0.2
    assert np.allclose(found.left @ found.right.T, expected, atol=2e-3 * np.abs(expected).max())
    assert np.allclose(dense @ find_encoder(clicks, spectrum, settings), found.left, atol=1e-4)


@pytest.mark.parametrize("popularity", [0.0, 0.2])
def test_fame_is_added_for_each_click(clicks, dense, popularity):
    plain = SpectralSettings(9, 0.4, 0.3, 2.0, popularity)
    spectrum = find_spectrum(clicks, plain, seed=0)
    one, two = (make_factors(clicks, spectrum, replace(plain, fame=fame)) for fame in (None, 0.7))
    counts = (dense > 0).sum(0)
    scale = np.maximum(counts, 1.0) ** popularity
    own, famous = (one.left @ one.right.T) / scale, np.outer(dense.sum(1), counts)
    expected = (own + 0.7 * own.std() * famous / famous.std()) * scale
    assert np.allclose(two.left @ two.right.T, expected, atol=1e-4 * np.abs(expected).max())
    encoder = find_encoder(clicks, spectrum, replace(plain, fame=0.7))
    assert np.allclose(dense @ encoder, two.left, atol=1e-4)


def test_a_ridge_of_zero_shrinks_nothing():
    assert np.allclose(shrink_values(np.array([3.0, 2.0, 1.0]), 0.0), 1)


def test_spread_is_that_of_all_scores():
    rng = np.random.default_rng(0)
    left, right = rng.standard_normal((30, 4)) + 1, rng.standard_normal((20, 4))
    assert measure_spread(left, right) == pytest.approx((left @ right.T).std())


def test_scores_that_are_all_equal_have_no_spread_to_divide_by():
    assert measure_spread(np.ones((5, 1)), np.full((4, 1), 3.0)) == 1
    assert measure_spread(np.zeros((5, 2)), np.zeros((4, 2))) == 1


@pytest.mark.filterwarnings("error")
def test_large_counts_are_scaled_and_do_not_overflow(clicks):
    """By a power of two, so that bits of vectors stay as they are."""
    start = find_spectrum(clicks, SpectralSettings(6, 0.0, 0.0), seed=0).vectors
    many = clicks.standardize(0.0, 2.0**-40, np.float32)
    for given in (None, start):
        one, other = (
            find_spectrum(x, SpectralSettings(9, 0.0, 0.0), seed=0, start=given)
            for x in (clicks, many)
        )
        np.testing.assert_allclose(other.values, 2.0**40 * one.values, rtol=1e-5)
        np.testing.assert_allclose(other.vectors, one.vectors, atol=1e-4)
