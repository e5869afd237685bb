"""Laws over every objective that measures, against dense arrays and finite differences."""

import numpy as np
import pytest
import scipy.sparse as sp

from measured_cases import CASES, features, random_matrix
from oracles import dense
from pygeco import Features, LowRank
from pygeco.losses import Huber
from pygeco.objectives import validation

EVERY = pytest.mark.parametrize("name", CASES)
RANKS = pytest.mark.parametrize("rank", [0, 1, 3])


def some_rank(case, rank):
    return min(rank, *case.shape)


@EVERY
@RANKS
def test_value_and_intercepts(name, rank):
    case = CASES[name]
    A = random_matrix(case, some_rank(case, rank))
    assert case.objective.value(A) == pytest.approx(case.value(A.to_dense()), rel=1e-12)
    found, expected = case.objective.intercepts(A), case.intercepts(A.to_dense())
    if case.loss == "multinomial":  # a common shift changes nothing
        found, expected = found - found.mean(), expected - expected.mean()
    np.testing.assert_allclose(found, expected, atol=1e-7)


@EVERY
@pytest.mark.parametrize("rank", [0, 3])
def test_gradient_operator_against_finite_differences(name, rank):
    case = CASES[name]
    A = random_matrix(case, some_rank(case, rank))
    G, D, t = case.objective.gradient(A), A.to_dense(), 1e-6
    for E in np.random.default_rng(1).standard_normal((5, *case.shape)):
        E /= np.linalg.norm(E)
        difference = (case.value(D + t * E) - case.value(D - t * E)) / (2 * t)
        assert np.sum(dense(G) * E) == pytest.approx(difference, abs=2e-7)
    np.testing.assert_allclose(dense(G), case.gradient(D), atol=1e-8)
    y = np.random.default_rng(0).standard_normal(case.shape[0])
    np.testing.assert_allclose(G.rmatvec(y), case.gradient(D).T @ y, atol=1e-8)
    assert G.value == pytest.approx(case.value(D), rel=1e-12)
    assert G.inner == pytest.approx(np.sum(case.gradient(D) * D), abs=1e-8)


@EVERY
def test_products_of_several_columns(name):
    case = CASES[name]
    G = case.objective.gradient(random_matrix(case, 1))
    rng = np.random.default_rng(1)
    X, Y = (rng.standard_normal((k, 3)) for k in reversed(case.shape))
    np.testing.assert_allclose(G.matmat(X), np.column_stack([G.matvec(x) for x in X.T]), atol=1e-12)
    np.testing.assert_allclose(
        G.rmatmat(Y), np.column_stack([G.rmatvec(y) for y in Y.T]), atol=1e-12
    )
    assert G.matmat(X[:, :0]).shape == (case.shape[0], 0)


# Poisson's curvature is bounded by e^20 alone, which no step can tell from infinity.
@pytest.mark.parametrize("name", [name for name in CASES if CASES[name].loss != "poisson"])
def test_smoothness_bounds_every_direction(name):
    """Definition 1, at the steepest pairs and at random ones, for small and large steps."""
    case = CASES[name]
    beta = case.objective.smoothness
    rng = np.random.default_rng(2)
    D = random_matrix(case, 1).to_dense()
    G, start = case.gradient(D), case.value(D)
    _, _, V = np.linalg.svd(case.tensor.reshape(-1, np.prod(case.shape)))
    P, _, Qt = np.linalg.svd(V[0].reshape(case.shape))
    pairs = [(P[:, 0], Qt[0])]
    pairs += [tuple(x / np.linalg.norm(x) for x in map(rng.standard_normal, case.shape))] * 3
    for u, v in pairs:
        for eta in (-3.0, -0.1, 0.01, 1.0):
            bound = start + eta * (u @ G @ v) + beta * eta**2 / 2
            assert case.value(D + eta * np.outer(u, v)) <= bound + 1e-9


def test_smoothness_of_features_is_the_best_there_is():
    case = features("squared")
    _, s, Vt = np.linalg.svd(case.objective.X)
    assert case.objective.smoothness == pytest.approx(2 * s[0] ** 2 / len(case.y), rel=1e-6)
    zero, D = np.zeros(case.shape), np.zeros(case.shape)
    D[0] = Vt[0]
    second = case.value(D) - 2 * case.value(zero) + case.value(-D)
    assert second == pytest.approx(case.objective.smoothness, rel=1e-6)


def test_smoothness_of_many_features_by_lanczos(monkeypatch):
    X = np.random.default_rng(0).standard_normal((60, 40))
    direct = validation.find_top_square(X)
    monkeypatch.setattr(validation, "MAX_GRAM_SIZE", 0)
    assert direct == pytest.approx(np.linalg.norm(X, 2) ** 2, rel=1e-8)
    assert validation.find_top_square(X) == pytest.approx(direct, rel=1e-8)
    assert validation.find_top_square(sp.csr_array(X)) == pytest.approx(direct, rel=1e-8)


def test_weights_are_repeats():
    once = features("huber", intercept=True)
    X, y = once.objective.X, once.y
    counts = np.random.default_rng(3).integers(0, 3, len(y))
    weighted = Features(X, y, Huber(0.8), sample_weight=counts, intercept=True)
    repeated = Features(
        np.repeat(X, counts, 0), np.repeat(y, counts, 0), Huber(0.8), intercept=True
    )
    A = random_matrix(once, 2)
    assert weighted.value(A) == pytest.approx(repeated.value(A), rel=1e-12)
    np.testing.assert_allclose(dense(weighted.gradient(A)), dense(repeated.gradient(A)), atol=1e-9)


def test_offset_moves_the_predictions():
    case = CASES["quadratic"]
    A, o = random_matrix(case, 2), np.random.default_rng(4).standard_normal((len(case.y), 1))
    z = case.z(A.to_dense())
    assert case.objective.offset_by(o).value(A) == pytest.approx(np.mean((z + o - case.y) ** 2))
    assert case.objective.value(LowRank.zero(case.shape)) == pytest.approx(np.mean(case.y**2))
