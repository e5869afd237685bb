"""EASE against its formulas and its optimality conditions."""

import sys

import numpy as np
import pytest

from pygeco.rivals import ease


def make_clicks(seed=0, shape=(60, 25)):
    rng = np.random.default_rng(seed)
    X = (rng.random(shape) < 0.2).astype(float)
    X[:, 3] = 0  # a column that nobody clicked
    return X


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("block", [25, 24, 6, 1])
def test_weights_are_those_of_the_formula(dtype, block, monkeypatch) -> None:
    monkeypatch.setattr(sys.modules["pygeco.rivals.ease"], "LINES_AT_ONCE", 7)
    monkeypatch.setattr(sys.modules["pygeco.rivals.ease"], "MAX_BLOCK", block)
    X = make_clicks()
    found = ease(X, 3.0, dtype=dtype)
    P = np.linalg.inv(X.T @ X + 3.0 * np.eye(25))
    tight = 1e-12 if dtype == np.float64 else 1e-5
    np.testing.assert_allclose(found.weights, np.eye(25) - P / np.diag(P), atol=tight)
    assert found.weights.dtype == dtype
    np.testing.assert_allclose(found.score_rows(np.arange(5)), X[:5] @ found.weights, atol=tight)


def test_weights_are_the_minimum_without_a_diagonal() -> None:
    X = make_clicks(1)
    B = ease(X, 2.0).weights
    slope = X.T @ (X @ B - X) + 2.0 * B
    np.testing.assert_allclose(slope - np.diag(np.diag(slope)), 0, atol=1e-10)
    np.testing.assert_array_equal(np.diag(B), 0)


def test_what_cannot_be_is_refused() -> None:
    X = make_clicks()
    with pytest.raises(ValueError, match=r"^clicks: EASE keeps a dense matrix of 25 × 25"):
        ease(X, max_columns=24)
    for wrong in ({"alpha": 0.0}, {"alpha": np.nan}):
        with pytest.raises(ValueError, match=r"^alpha: expected a number above 0"):
            ease(X, **wrong)
    with pytest.raises(ValueError, match=r"^dtype: expected float32"):
        ease(X, dtype=int)
