"""Leading singular triplets and shrinkage, against the dense decomposition."""

import numpy as np
import pytest

from oracles import Matrix, random_low_rank
from pygeco.rivals.singular import distance, find_leading, shrink, step_back


@pytest.mark.parametrize("shape", [(30, 20), (20, 30), (6, 5)])
@pytest.mark.parametrize("count", [1, 4])
def test_the_leading_triplets(shape, count) -> None:
    M = np.random.default_rng(0).standard_normal(shape)
    found = find_leading(Matrix(M), count, np.random.default_rng(1))
    s = np.linalg.svd(M, compute_uv=False)[:count]
    np.testing.assert_allclose(found.A.s, s)
    np.testing.assert_allclose(found.A.U.T @ M @ found.A.V, np.diag(s), atol=1e-10)
    assert found.passes > 0
    assert find_leading(Matrix(0 * M), count, np.random.default_rng(1)).A.s.max() == 0


@pytest.mark.parametrize("threshold", [0.5, 6.0, 100.0])
def test_shrinkage_is_soft_thresholding(threshold) -> None:
    M = np.random.default_rng(0).standard_normal((25, 18))
    U, s, Vt = np.linalg.svd(M, full_matrices=False)
    found = shrink(Matrix(M), threshold, 1, 18, np.random.default_rng(1)).A
    expected = (U * np.maximum(s - threshold, 0)) @ Vt
    np.testing.assert_allclose(found.to_dense(), expected, atol=1e-9)
    assert found.rank == np.count_nonzero(s > threshold)


def test_distances_and_gradient_steps_from_factors() -> None:
    A, B = random_low_rank((8, 6), 2), random_low_rank((8, 6), 3, seed=1)
    assert distance(A, B) == pytest.approx(np.linalg.norm(A.to_dense() - B.to_dense()))
    M = np.random.default_rng(2).standard_normal((8, 6))
    step = step_back(A, Matrix(M), 4.0)
    np.testing.assert_allclose(step.matmat(np.eye(6)), A.to_dense() - M / 4)
