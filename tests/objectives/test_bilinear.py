"""Measurements zᵢ = lᵢᵀ A rᵢ and their span, against dense sums."""

import numpy as np
import pytest
import scipy.sparse as sp

from oracles import random_low_rank
from pygeco.objectives.bilinear import BilinearFrame, measure, pull, reach
from pygeco.objectives.risk import Curvature

N, M, K = 20, 5, 4


def pairs(sparse: bool):
    rng = np.random.default_rng(0)
    L, R = rng.standard_normal((N, M)), rng.standard_normal((N, K))
    return L, R, *((sp.csr_array(L), sp.csr_array(R)) if sparse else (L, R))


@pytest.mark.parametrize("sparse", [False, True])
def test_measurements_and_their_transpose(sparse) -> None:
    L, R, left, right = pairs(sparse)
    A = random_low_rank((M, K), 2)
    z = np.einsum("ni,ij,nj->n", L, A.to_dense(), R)
    np.testing.assert_allclose(measure(left, right, A)[:, 0], z)
    g = np.random.default_rng(1).standard_normal((N, 1))
    G = np.einsum("n,ni,nj->ij", g[:, 0], L, R)
    forward, back = pull(left, right, g)
    X = np.eye(K)
    np.testing.assert_allclose(forward(X), G)
    np.testing.assert_allclose(forward(X[0]), G[:, 0])
    np.testing.assert_allclose(back(np.eye(M)), G.T)
    w = np.full((N, 1), 1 / N)
    top = np.linalg.norm(np.einsum("ni,nj->nij", L, R).reshape(N, -1) / np.sqrt(N), 2) ** 2
    assert reach(left, right, w) >= top * (1 - 1e-9)


def test_a_frame_is_the_same_measurement_of_a_core() -> None:
    L, R, *_ = pairs(False)
    A = random_low_rank((M, K), 2)
    frame = BilinearFrame(L, R, L @ A.U, R @ A.V)
    B = np.random.default_rng(2).standard_normal((2, 2))
    z = np.einsum("ni,ij,nj->n", L, A.U @ B @ A.V.T, R)
    np.testing.assert_allclose(frame.forward(B)[:, 0], z)
    D = frame.design(slice(None))
    np.testing.assert_allclose(D @ frame.pack(B), z)
    g = np.random.default_rng(3).standard_normal((N, 1))
    np.testing.assert_allclose(frame.pack(frame.adjoint(g)), D.T @ g[:, 0])
    h = np.abs(g)
    np.testing.assert_allclose(frame.gram(Curvature(h, None, None)), D.T @ (h * D))
    P, Q = np.linalg.qr(B)[0], np.linalg.qr(B.T)[0]
    turned = frame.rotate(P, Q).forward(P.T @ B @ Q)
    np.testing.assert_allclose(turned[:, 0], z)
