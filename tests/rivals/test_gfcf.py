"""GF-CF against its formula in dense NumPy."""

import numpy as np
import pytest

from pygeco.rivals import gfcf


def score_densely(X, rank, weight):
    """r (R̃ᵀR̃ + w D^-½ V Vᵀ D^½), with counts of nothing taken for one."""
    rows, cols = (np.maximum(X.sum(axis=side), 1) for side in (1, 0))
    R = X / np.sqrt(rows)[:, None] / np.sqrt(cols)
    V = np.linalg.svd(R)[2][:rank].T
    D = np.sqrt(cols)
    return X @ (R.T @ R + weight * (V @ V.T) / D[:, None] * D)


@pytest.mark.parametrize("rank", [0, 4, 39, 40, 500])
def test_scores_are_those_of_the_formula(rank) -> None:
    rng = np.random.default_rng(0)
    X = (rng.random((70, 40)) < rng.random(40) ** 2).astype(float)
    X[3], X[:, 5] = 0, 0
    found = gfcf(X, rank, weight=0.4)
    wanted = score_densely(X, min(rank, 40), 0.4)
    np.testing.assert_allclose(found.score_rows(np.arange(70)), wanted, atol=1e-9)


@pytest.mark.parametrize("weight", [np.nan, "0.3", None])
def test_a_weight_is_a_finite_number(weight) -> None:
    with pytest.raises(ValueError, match=r"^weight: expected a finite number"):
        gfcf(np.eye(3), 1, weight=weight)
