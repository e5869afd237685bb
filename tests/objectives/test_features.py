"""Linear measurements of several outputs, against their dense formula."""

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp

from measured_cases import FORMULAS, features
from oracles import dense, random_low_rank
from pygeco import Features, LowRank
from pygeco.objectives import validation


@pytest.mark.parametrize("loss", ["squared", "logistic", "poisson", "multinomial"])
@pytest.mark.parametrize("intercept", [False, True])
def test_value_gradient_and_intercepts(loss, intercept) -> None:
    case = features(loss, intercept=intercept)
    A = random_low_rank(case.shape, 2)
    full = A.to_dense()
    assert case.objective.value(A) == pytest.approx(case.value(full), rel=1e-6)
    G = case.objective.gradient(A)
    np.testing.assert_allclose(dense(G), case.gradient(full), atol=1e-6)
    assert G.inner == pytest.approx(np.sum(case.gradient(full) * full), abs=1e-6)
    np.testing.assert_allclose(
        case.objective.intercepts(A) - case.objective.intercepts(A).mean(),
        case.intercepts(full) - case.intercepts(full).mean(),
        atol=1e-4,
    )


def test_one_output_may_be_a_vector() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 3)), rng.standard_normal(20)
    A = LowRank.from_dense(rng.standard_normal((1, 3)))
    assert Features(X, y, "squared").value(A) == pytest.approx(
        Features(X, y[:, None], "squared").value(A)
    )


def moved_features(loss, shift, sparse, N=50, d=4):
    """The objective at X + shift, at X, and what a search over b alone finds at X."""
    rng = np.random.default_rng(3)
    X, w = rng.standard_normal((N, d)), rng.uniform(0.2, 2, N)
    y = {
        "logistic": rng.choice([-1.0, 1.0], (N, 2)),
        "poisson": rng.poisson(2, (N, 2)).astype(float),
        "multinomial": rng.integers(0, 3, N),
    }.get(loss, rng.standard_normal((N, 2)))
    moved = sp.csr_array(X + shift) if sparse else X + shift
    return Features(moved, y, loss, sample_weight=w, intercept=True), X, y, w / w.sum()


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("shift", [0, 30, 100, 1e4])
@pytest.mark.parametrize("loss", ["squared", "logistic", "poisson", "multinomial"])
def test_a_shift_of_the_inputs_changes_the_intercepts_alone(loss, shift, sparse) -> None:
    objective, X, y, w = moved_features(loss, shift, sparse)
    A = random_low_rank(objective.shape, 2, seed=1)
    full, (value, slope) = A.to_dense(), FORMULAS[loss]
    best = scipy.optimize.minimize(
        lambda b: w @ value(X @ full.T + b, y),
        np.zeros(len(full)),
        jac=lambda b: w @ slope(X @ full.T + b, y),
        options={"gtol": 1e-12},
    )
    assert objective.value(A) == pytest.approx(best.fun, rel=1e-9)
    z = X @ full.T + best.x
    np.testing.assert_allclose(
        dense(objective.gradient(A)), (w[:, None] * slope(z, y)).T @ X, atol=1e-6
    )
    found = objective.intercepts(A) + shift * full.sum(axis=1)
    spare = found - best.x
    np.testing.assert_allclose(spare - (loss == "multinomial") * spare.mean(), 0, atol=1e-5)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("limit", [0, 1000])
def test_the_curvature_of_a_row_is_about_the_mean(monkeypatch, limit, sparse) -> None:
    monkeypatch.setattr(validation, "MAX_GRAM_SIZE", limit)
    objective, X, _, w = moved_features("squared", 100, sparse)
    moved = X - w @ X
    expected = 2 * (moved * w[:, None]).T @ moved
    found = objective.row_curvature(LowRank.zero(objective.shape))
    np.testing.assert_allclose(found, expected if limit else np.diag(expected), atol=1e-9)


def test_constant_inputs_are_left_out() -> None:
    X = np.random.default_rng(0).standard_normal((20, 3))
    X[:, 1] = 1e8 / 3
    one = Features(X, X[:, 0], intercept=True)
    assert not one.X[:, 1].any()
    assert (X[:, 1] == 1e8 / 3).all()  # the caller's own array stays as it is
