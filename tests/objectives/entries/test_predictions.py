"""Predictions at the cells, against the matrix itself."""

import numpy as np
import pytest

from oracles import dense, problem
from pygeco import Entries, LowRank
from pygeco.objectives.entries.predictions import Predictions


@pytest.mark.parametrize("loss", ["squared", "huber", "log-cosh"])
def test_predictions_give_the_gradient_of_the_matrix(loss):
    task = problem((9, 14), weights=True, seed=8)
    entries = Entries(
        *np.nonzero(task.W), task.Y[task.W > 0], (9, 14), loss=loss,
        sample_weight=task.W[task.W > 0],
    )  # fmt: skip
    A = LowRank.from_dense(np.random.default_rng(0).standard_normal((9, 14)), 3)
    B = LowRank.from_dense(np.random.default_rng(1).standard_normal((9, 14)), 2)
    z = Predictions.of(entries, A).mix(0.7, Predictions.of(entries, B), -1.3)
    both = LowRank.from_dense(0.7 * A.to_dense() - 1.3 * B.to_dense())
    G, H = z.gradient(), entries.gradient(both)
    np.testing.assert_allclose(dense(G), dense(H), atol=1e-12)
    assert (G.value, G.inner) == pytest.approx((H.value, H.inner))
    assert z.value == pytest.approx(entries.value(both))
    assert z.along(Predictions.of(entries, B)) == pytest.approx(np.sum(dense(H) * B.to_dense()))
    np.testing.assert_allclose(G.rmatvec(np.ones(9)), H.rmatvec(np.ones(9)), atol=1e-12)
