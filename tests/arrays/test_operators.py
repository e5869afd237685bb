"""Operators made of others, against dense products."""

import numpy as np
import pytest

from oracles import Matrix
from pygeco.arrays.operators import Weighted


def test_weighted_is_the_product_of_three() -> None:
    rng = np.random.default_rng(0)
    M, rows, cols = rng.standard_normal((6, 4)), rng.random(6), rng.random(4)
    W, dense = Weighted(Matrix(M), rows, cols), np.diag(rows) @ M @ np.diag(cols)
    X, Y = rng.standard_normal((4, 3)), rng.standard_normal((6, 2))
    assert W.shape == (6, 4)
    assert W.kind is rows
    np.testing.assert_allclose(W.matvec(X[:, 0]), dense @ X[:, 0])
    np.testing.assert_allclose(W.rmatvec(Y[:, 0]), dense.T @ Y[:, 0])
    # Of an operator with and without products of several columns of its own.
    for G in (W, Weighted(W, 1 / rows, 1 / cols)):
        expected = dense if G is W else M
        np.testing.assert_allclose(G.matmat(X), expected @ X)
        np.testing.assert_allclose(G.rmatmat(Y), expected.T @ Y)


def test_weighted_refuses_arrays_of_another_length() -> None:
    """A single number would be spread over all lines."""
    W = Weighted(Matrix(np.ones((6, 4))), np.ones(6), np.ones(4))
    for product, size in ((W.matvec, 4), (W.rmatvec, 6), (W.matmat, 4), (W.rmatmat, 6)):
        for wrong in (1, size - 1, size + 1):
            x = np.ones(wrong) if "vec" in product.__name__ else np.ones((wrong, 2))
            with pytest.raises(ValueError, match=rf"^[xyXY]: expected {size} .* shape \({wrong},"):
                product(x)
