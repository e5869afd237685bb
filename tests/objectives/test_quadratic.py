"""Symmetric matrices: eigenpairs of either sign, kept to the last bit."""

import numpy as np
import pytest

from measured_cases import CASES, quadratic, random_matrix
from oracles import Matrix, orthonormal
from pygeco import Lanczos, LowRank, Quadratic, Ridge, Schatten, Signs, Solver, Trace, minimize
from pygeco.algorithm.symmetric import Symmetric

NAMES = [name for name in CASES if name.startswith("quadratic")]


@pytest.mark.parametrize(
    ("name", "penalty"),
    [(name, penalty) for name in NAMES for penalty in (None, Ridge(0.01), Trace(0.01))]
    + [("quadratic", Schatten(0.01, 1.5))],
)
def test_every_pair_is_plus_or_minus(name, penalty):
    case = CASES[name]
    solver = Solver(signs=True, replacements=1)
    path = minimize(case.objective, 2, solver, penalty=penalty, random_state=0)
    for step in path:
        A = step.A
        np.testing.assert_array_equal(np.abs(A.U), np.abs(A.V))
        np.testing.assert_allclose(A.to_dense(), A.to_dense().T, atol=1e-15)
        assert orthonormal(A.U)
    assert path[-1].objective < path[0].objective


@pytest.mark.parametrize("correction", ["core", "diagonal"])
def test_the_diagonal_correction_and_refinement_keep_it_too(correction):
    case = CASES["quadratic, logistic, sparse, weights"]
    solver = Solver(correction=correction, refine=correction == "core")
    A = minimize(case.objective, 4, solver, penalty=Ridge(0.01), random_state=0).A
    np.testing.assert_allclose(A.to_dense(), A.to_dense().T, atol=1e-15)
    np.testing.assert_allclose(np.abs(A.U), np.abs(A.V), atol=1e-15)


def test_eigenvalues_of_equal_size_and_opposite_sign():
    """y = x₁x₂ has eigenvalues ±½: singular vectors alone could be any rotation of the two."""
    X = np.random.default_rng(0).standard_normal((200, 4))
    path = minimize(Quadratic(X, X[:, 0] * X[:, 1]), 2, Solver(refine=True), random_state=0)
    expected = np.zeros((4, 4))
    expected[0, 1] = expected[1, 0] = 0.5
    np.testing.assert_allclose(path.A.to_dense(), expected, atol=1e-5)
    signs = np.sum(path.A.U * path.A.V, axis=0)
    np.testing.assert_allclose(sorted(signs), [-1, 1], atol=1e-12)


def test_full_rank_is_least_squares_on_all_products():
    case = quadratic("squared")
    X = case.objective.X
    a, b = np.triu_indices(X.shape[1])
    design = X[:, a] * X[:, b]
    _, residual, *_ = np.linalg.lstsq(design, case.y)
    path = minimize(case.objective, X.shape[1], random_state=0)
    assert path[-1].objective == pytest.approx(residual[0] / len(X), rel=1e-9)
    assert path[-1].gap <= 1e-8


def test_a_start_that_is_not_symmetric():
    case = quadratic("squared")
    A = LowRank(np.eye(5)[:, :1], np.ones(1), np.eye(5)[:, 1:2])
    with pytest.raises(ValueError, match=r"^start: Quadratic needs a symmetric matrix"):
        minimize(case.objective, 2, start=A)


def test_a_symmetric_start_with_mixed_vectors():
    """The SVD of a symmetric matrix with eigenvalues ±λ need not have u = ±v."""
    case = quadratic("squared")
    swap = np.zeros((5, 5))
    swap[0, 1] = swap[1, 0] = 0.3
    start = LowRank(np.eye(5)[:, :2], np.array([0.3, 0.3]), np.eye(5)[:, [1, 0]])
    np.testing.assert_array_equal(start.to_dense(), swap)
    A = minimize(case.objective, 3, start=start, random_state=0).A
    np.testing.assert_allclose(A.to_dense(), A.to_dense().T, atol=1e-12)
    assert case.objective.value(A) < case.value(swap)


@pytest.mark.parametrize("direction", [Lanczos(tau=0.5, max_iter=2), Signs()], ids=str)
def test_symmetric_pairs_are_never_worse(direction):
    rng = np.random.default_rng(0)
    for _ in range(20):
        M = rng.standard_normal((7, 7))
        M = M + M.T
        seed = int(rng.integers(1000))
        plain = direction(Matrix(M), np.random.default_rng(seed))
        pair = Symmetric(direction)(Matrix(M), np.random.default_rng(seed))
        assert pair.u @ M @ pair.v == pytest.approx(pair.sigma)
        assert pair.sigma >= plain.u @ M @ plain.v - 1e-12
        np.testing.assert_array_equal(np.abs(pair.u), np.abs(pair.v))
        assert pair.upper >= pair.sigma


def test_symmetric_pair_of_nothing():
    assert Symmetric(Lanczos())(Matrix(np.zeros((3, 3))), np.random.default_rng(0)).sigma == 0.0


def test_random_matrix_helper_is_symmetric():
    A = random_matrix(CASES["quadratic"], 3).to_dense()
    np.testing.assert_allclose(A, A.T, atol=1e-15)
