"""Pairs u = ±v of a symmetric operator, against dense eigenvalues."""

import numpy as np
import pytest

from oracles import Exact, Matrix
from pygeco import Lanczos, Quadratic
from pygeco.algorithm.symmetric import Symmetric, adapt_direction, empty_pairs, find_further_pairs


def symmetric(size: int, seed: int) -> np.ndarray:
    M = np.random.default_rng(seed).standard_normal((size, size))
    return M + M.T


@pytest.mark.parametrize("seed", range(5))
def test_a_pair_is_an_eigenvector_and_no_worse_than_the_search(seed) -> None:
    M = symmetric(9, seed)
    for direction in (Exact(), Lanczos()):
        plain = direction(Matrix(M), np.random.default_rng(seed))
        pair = Symmetric(direction)(Matrix(M), np.random.default_rng(seed))
        assert pair.sigma >= plain.sigma * (1 - 1e-12)
        assert pair.upper >= np.abs(np.linalg.eigvalsh(M)).max() * (1 - 1e-9)
        assert pair.u @ M @ pair.v == pytest.approx(pair.sigma)
        np.testing.assert_allclose(np.abs(pair.u @ pair.v), 1.0)


def test_nothing_is_found_in_a_zero_matrix() -> None:
    assert Symmetric(Exact())(Matrix(np.zeros((4, 4))), np.random.default_rng(0)).sigma == 0


@pytest.mark.parametrize("count", [1, 3])
def test_further_pairs_are_those_after_the_leading_one(count) -> None:
    X = np.random.default_rng(0).standard_normal((30, 7))
    objective = Quadratic(X, np.arange(30.0), "squared")
    assert isinstance(adapt_direction(Exact(), objective), Symmetric)
    values = np.array([8.0, -6.0, 4.0, -2.0, 1.0, 0.5, 0.1])
    Q = np.linalg.qr(symmetric(7, 1))[0]
    M = (Q * values) @ Q.T
    found = find_further_pairs(Matrix(M), objective, count, np.random.default_rng(0))
    sigma = np.einsum("ik,ij,jk->k", found.U, M, found.V)
    np.testing.assert_allclose(sigma, np.abs(values[1 : count + 1]), rtol=1e-3)
    np.testing.assert_allclose(np.abs(np.sum(found.U * found.V, axis=0)), 1.0)
    assert empty_pairs(objective).U.shape == (7, 0)
