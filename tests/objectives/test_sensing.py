"""Sensing matrices of every form measure the same."""

import numpy as np
import pytest

from oracles import dense, random_low_rank
from pygeco import Sensing


def test_dense_tensors_and_pairs_measure_the_same() -> None:
    rng = np.random.default_rng(0)
    L, R, y = rng.standard_normal((25, 5)), rng.standard_normal((25, 4)), rng.standard_normal(25)
    tensor = np.einsum("ni,nj->nij", L, R)
    A = random_low_rank((5, 4), 2)
    z = np.einsum("nij,ij->n", tensor, A.to_dense())
    for objective in (Sensing(tensor, y), Sensing((L, R), y)):
        assert objective.shape == (5, 4)
        assert objective.value(A) == pytest.approx(np.mean((z - y) ** 2))
        G = np.einsum("n,nij->ij", 2 * (z - y) / 25, tensor)
        np.testing.assert_allclose(dense(objective.gradient(A)), G, atol=1e-12)
        top = np.linalg.norm(tensor.reshape(25, -1), 2) ** 2 * 2 / 25
        assert objective.smoothness >= top * (1 - 1e-9)
