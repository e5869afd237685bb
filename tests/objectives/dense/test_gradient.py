"""The gradient over a dense matrix, against its formula."""

import numpy as np

from oracles import dense, random_low_rank
from pygeco import Dense


def test_it_is_the_slope_of_every_cell() -> None:
    Y = np.random.default_rng(0).standard_normal((7, 5))
    A = random_low_rank((7, 5), 2)
    G = Dense(Y).gradient(A)
    slope = 2 * (A.to_dense() - Y) / Y.size
    np.testing.assert_allclose(dense(G), slope)
    np.testing.assert_allclose(G.rmatmat(np.eye(7)), slope.T)
    assert np.isclose(G.value, np.mean((A.to_dense() - Y) ** 2))
    assert np.isclose(G.inner, np.sum(slope * A.to_dense()))
