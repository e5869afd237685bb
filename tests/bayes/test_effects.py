"""Effects of attributes: degrees of freedom, weights and draws against exact algebra."""

import numpy as np
import pytest
import scipy.sparse as sp

from pygeco.bayes.attributes import AttributeValues, group_table
from pygeco.bayes.effects import (
    center_rows,
    doubt_rows,
    draw_effects,
    draw_weights,
    solve_effects,
    square_effects,
    start_effects,
    state_doubts,
    weigh_effects,
)
from pygeco.engines import choose_engine

M, SIZES = 60, (3, 12)


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((M, sum(SIZES))).astype(np.float32)
    values = AttributeValues(sp.csr_array(X), np.ones(M, bool), ("a", "b"), SIZES)
    groups = list(group_table(values, np.ones(M, bool), choose_engine("cpu")))
    T = rng.standard_normal((M, 4)).astype(np.float32)
    return X - X.mean(axis=0), groups, T, np.ones((M, 1), np.float32)


def solve_long(groups, effects, T, there, times=6):
    for _ in range(times):
        effects = solve_effects(groups, effects, T, there)
    return effects


def test_coefficients_and_degrees_are_those_of_the_exact_ridge(problem):
    X, groups, T, there = problem
    effects = solve_long(groups, start_effects(groups, 4), T, there)
    weights = np.repeat([e.weight for e in effects], SIZES)
    S = np.linalg.inv(X.T @ X + np.diag(weights))
    B = np.vstack([e.coefficients for e in effects])
    np.testing.assert_allclose(B, S @ X.T @ T, atol=2e-3)
    np.testing.assert_allclose(center_rows(groups, effects), X @ B, atol=1e-4)
    at = 0
    for effect, size in zip(effects, SIZES, strict=True):
        exact = size - effect.weight * np.trace(S[at : at + size, at : at + size])
        # The signs leave the diagonal exact; what is off it counts by chance.
        assert effect.degrees == pytest.approx(exact, abs=0.15 * size)
        at += size


def test_a_weight_is_the_degrees_over_the_size_of_the_effect(problem):
    _, groups, T, there = problem
    effects = solve_long(groups, start_effects(groups, 4), T, there)
    P = np.diag([1.0, 2.0, 3.0, 4.0])
    weighed = weigh_effects(groups, effects, square_effects(effects), P, 4)
    for old, new in zip(effects, weighed, strict=True):
        B = old.coefficients.astype(float)
        assert new.weight == pytest.approx(4 * old.degrees / np.trace(P @ B.T @ B), rel=1e-6)


def test_an_attribute_s_unit_does_not_matter(problem):
    X, groups, T, there = problem
    values = AttributeValues(
        sp.csr_array((50 * X).astype(np.float32)), np.ones(M, bool), ("a", "b"), SIZES
    )
    scaled = list(group_table(values, np.ones(M, bool), choose_engine("cpu")))
    found = []
    for some in (groups, scaled):
        effects = start_effects(some, 4)
        for _ in range(5):
            effects = solve_effects(some, effects, T, there)
            effects = weigh_effects(some, effects, square_effects(effects), np.eye(4), 4)
        found.append(center_rows(some, effects))
    np.testing.assert_allclose(found[0], found[1], atol=2e-3)


def test_draws_have_the_mean_and_covariance_of_the_posterior(problem):
    X, groups, T, there = problem
    rng = np.random.default_rng(3)
    A = rng.standard_normal((4, 6))
    covariance = A @ A.T / 6
    precision = np.linalg.inv(covariance)
    start = start_effects(groups, 4)
    weights = np.repeat([e.weight for e in start], SIZES)
    S = np.linalg.inv(X.T @ X + np.diag(weights))
    draws = []
    for _ in range(800):
        effects = draw_effects(groups, start, T, precision, there, rng)
        draws.append(np.vstack([e.coefficients for e in effects]))
    draws = np.array(draws)
    spread = np.sqrt(np.outer(np.diag(S), np.diag(covariance)))
    assert np.abs(draws.mean(axis=0) - S @ X.T @ T).max() < 4.5 * spread.max() / np.sqrt(800)
    np.testing.assert_allclose(draws.std(axis=0), spread, rtol=0.15)
    first = np.cov(draws[:, 0].T)
    np.testing.assert_allclose(first, S[0, 0] * covariance, atol=0.2 * np.abs(first).max())


def test_drawn_weights_have_the_mean_of_their_gamma(problem):
    _, groups, T, there = problem
    effects = solve_long(groups, start_effects(groups, 4), T, there, 2)
    rng = np.random.default_rng(4)
    P, squares = np.eye(4), square_effects(effects)
    draws = [[e.weight for e in draw_weights(effects, squares, P, 4, rng)] for _ in range(2000)]
    for size, effect, mean in zip(SIZES, effects, np.mean(draws, axis=0), strict=True):
        B = effect.coefficients.astype(float)
        assert mean == pytest.approx(size * 4 / np.trace(B.T @ B), rel=0.05)


def test_doubt_is_the_variance_of_a_center(problem):
    X, groups, T, there = problem
    effects = solve_effects(groups, start_effects(groups, 4), T, there)
    effects = state_doubts(groups, effects, there)
    weights = np.repeat([e.weight for e in effects], SIZES)
    S = np.linalg.inv(X.T @ X + np.diag(weights))
    exact = np.einsum("if,fg,ig->i", X, S, X)
    found = doubt_rows(groups, effects)
    assert found.mean() == pytest.approx(exact.mean(), rel=0.2)
    assert np.corrcoef(found, exact)[0, 1] > 0.3


def test_more_components_are_not_moved_yet(problem):
    _, groups, T, there = problem
    effect = solve_effects(groups, start_effects(groups, 4), T, there)[0]
    wide = effect.add_components(2).coefficients
    np.testing.assert_array_equal(wide[:, :3], effect.coefficients[:, :3])
    np.testing.assert_array_equal(wide[:, 3:5], 0.0)
    np.testing.assert_array_equal(wide[:, 5], effect.coefficients[:, 3])
