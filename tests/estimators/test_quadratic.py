"""Quadratic predictors: closed forms, the kernel machine, and what predict costs."""

import numpy as np
import pytest
import scipy.sparse as sp

from feature_cases import data
from pygeco import QuadraticClassifier, QuadraticRegressor


def test_units_do_not_matter():
    X, rng = data(seed=4)
    y = X[:, 0] * X[:, 1] + rng.standard_normal(150)
    scale, shift = np.array([1e3, 1e-3, 7.0, 1.0]), np.array([5.0, 0.0, -1.0, 100.0])
    one = QuadraticRegressor(2, random_state=0).fit(X, y)
    other = QuadraticRegressor(2, random_state=0).fit(X * scale + shift, y)
    np.testing.assert_allclose(one.predict(X), other.predict(X * scale + shift), atol=1e-4)


@pytest.mark.parametrize("loss", ["squared", "huber", "quantile"])
@pytest.mark.parametrize(("unit", "zero"), [(1e-9, 0.0), (1e8, 0.0), (1e60, 0.0), (1.0, 1e7)])
def test_units_and_zero_of_the_target_do_not_matter(loss, unit, zero):
    X, rng = data(seed=7)
    y = X[:, 0] * X[:, 1] + X[:, 2] + rng.standard_normal(150)
    one = QuadraticRegressor(2, loss=loss, alpha=0.0, random_state=0).fit(X, y)
    other = QuadraticRegressor(2, loss=loss, alpha=0.0, random_state=0).fit(X, y * unit + zero)
    np.testing.assert_allclose((other.predict(X) - zero) / unit, one.predict(X), atol=1e-4)


def test_sparse_and_constant_columns():
    X, rng = data(seed=5)
    X = np.column_stack([X * (rng.random(X.shape) < 0.5), np.full(150, 3.0), np.zeros(150)])
    y = (X[:, 0] > 0).astype(int)
    dense = QuadraticClassifier(2, random_state=0).fit(X, y)
    assert np.all(np.isfinite(dense.decision_function(X)))
    thin = QuadraticClassifier(2, random_state=0).fit(sp.csr_array(X), y)
    assert thin.score(sp.csr_array(X), y) >= dense.score(X, y) - 0.05
    np.testing.assert_allclose(
        thin.decision_function(sp.csc_array(X)), thin.decision_function(X), atol=1e-8
    )


def test_objectives_fall_with_the_rank():
    X, rng = data(seed=6)
    y = rng.standard_normal(150)
    model = QuadraticRegressor(4, random_state=0).fit(X, y)
    (values,) = model.objectives_
    assert len(values) == 5
    assert list(values) == sorted(values, reverse=True)
    assert model.rank_ == 4


def kernel_machine(X, y, alpha):
    """The least mean (f(x) − y)² + alpha (‖A‖² + ‖w‖²) of any rank: a kernel of degree two."""
    N, d = X.shape
    Z = (X - X.mean(0)) / X.std(0) / np.sqrt(d)
    K = (Z @ Z.T) ** 2 + Z @ Z.T
    ones = np.ones((N, 1))
    M = np.block([[K + alpha * N * np.eye(N), ones], [ones.T, np.zeros((1, 1))]])
    a = np.linalg.solve(M, np.append(y, 0))
    return np.mean((K @ a[:N] + a[N] - y) ** 2) + alpha * a[:N] @ K @ a[:N]


@pytest.mark.parametrize(("rows", "columns"), [(10, 20), (12, 6)])
@pytest.mark.parametrize("seed", range(2))
def test_few_samples_reach_the_optimum_of_every_rank(rows, columns, seed):
    """Functions that meet every target differ by the ridge alone: the least is found."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((rows, columns)), rng.standard_normal(rows)
    rank = min(rows, columns)
    found = QuadraticRegressor(rank, random_state=0).fit(X, y).objectives_[0][-1]
    assert found == pytest.approx(kernel_machine(X, y, 1e-5), rel=1e-3)


@pytest.mark.parametrize(
    ("fit", "message"),
    [
        (lambda X, y: QuadraticClassifier().fit(X, 0 * y), r"^y: holds only one class"),
        (lambda X, y: QuadraticClassifier(rank=-1).fit(X, y), r"^rank: expected an integer"),
        (lambda X, y: QuadraticClassifier(alpha=-1).fit(X, y), r"^alpha: must be"),
        (lambda X, y: QuadraticClassifier(alpha=None).fit(X, y), r"^alpha: must be .* not None"),
        (lambda X, y: QuadraticRegressor(solver="sgd").fit(X, y), r"^solver: expected None or"),
        (lambda X, y: QuadraticRegressor().fit(X, y[:3]), r"inconsistent numbers of samples"),
        (lambda X, y: QuadraticRegressor(loss="logistic").fit(X, y + 5), r"^y: the logistic loss"),
        (lambda X, y: QuadraticClassifier().fit(X, y, sample_weight=-y), r"^sample_weight"),
    ],
)
def test_bad_input(fit, message):
    X, rng = data()
    with pytest.raises(ValueError, match=message):
        fit(X, rng.integers(0, 2, 150))
