"""OptSpace: its start against dense NumPy, its descent, and where it ends."""

import numpy as np
import pytest

from oracles import problem
from pygeco import Dense, Entries, Stop
from pygeco.data import make_low_rank
from pygeco.rivals import optspace


def test_starts_from_the_trimmed_spectrum():
    rng = np.random.default_rng(0)
    seen = rng.random((30, 25)) < 0.2
    seen[4, :], seen[:, 7] = True, True  # far more cells than the others
    Y = seen * rng.standard_normal(seen.shape)
    rows, cols = np.nonzero(seen)
    path = optspace(Entries(rows, cols, Y[rows, cols], Y.shape), 2, max_iter=1, random_state=0)
    trimmed = Y.copy()
    trimmed[seen.sum(1) > 2 * seen.sum() / 30] = 0
    trimmed[:, seen.sum(0) > 2 * seen.sum() / 25] = 0
    assert not trimmed[4].any()
    P, _, Qt = np.linalg.svd(trimmed)
    start = path[0].A
    np.testing.assert_allclose(start.U @ start.U.T, P[:, :2] @ P[:, :2].T, atol=1e-8)
    np.testing.assert_allclose(start.V @ start.V.T, Qt[:2].T @ Qt[:2], atol=1e-8)
    assert start.U[4] == pytest.approx([0, 0])


def test_descends_to_a_stationary_point_of_its_rank():
    task = problem((25, 20), 0.6, noise=0.4, seed=1)
    path = optspace(task.entries, 3, tol=1e-9, max_iter=3000, random_state=0)
    assert np.all(np.diff([step.objective for step in path]) < 0)
    assert {step.rank for step in path} == {3}
    A, G = path.A, task.gradient(path.A.to_dense())
    size = np.linalg.norm(task.gradient(np.zeros_like(task.Y)))
    assert np.linalg.norm(G @ A.V) <= 1e-3 * size
    assert np.linalg.norm(A.U.T @ G) <= 1e-3 * size


@pytest.mark.parametrize("shape", [(60, 40), (40, 60)])
def test_recovers(shape):
    M = make_low_rank(shape, 2, 5)
    rows, cols = np.nonzero(np.random.default_rng(1).random(shape) < 0.5)
    path = optspace(Entries(rows, cols, M.entries(rows, cols), shape), 2, tol=1e-6)
    assert path.stop is Stop.CONVERGED
    assert np.linalg.norm(path.A.to_dense() - M.to_dense()) <= 1e-5 * np.linalg.norm(M.s)


def test_a_full_matrix_is_its_own_spectrum():
    Y = np.random.default_rng(2).standard_normal((9, 7))
    path = optspace(Dense(Y), 3, random_state=0)
    P, s, Qt = np.linalg.svd(Y)
    np.testing.assert_allclose(path.A.to_dense(), (P[:, :3] * s[:3]) @ Qt[:3], atol=1e-6)
    assert path.stop in (Stop.CONVERGED, Stop.STALLED)
