"""ADMiRA: each iteration against dense NumPy, and recovery by cells and by Gaussian sensing."""

import numpy as np
import pytest

from oracles import problem
from pygeco import Entries, Sensing, Stop
from pygeco.data import make_low_rank
from pygeco.rivals import admira


def iteration(task, A, r) -> np.ndarray:
    """Steps 3 to 6 of Algorithm 1, dense: 2r + r atoms, least squares over them, the best r."""
    atoms = []
    for M, count in ((A, r), (task.gradient(A), 2 * r)):
        P, s, Qt = np.linalg.svd(M)
        atoms += [np.outer(P[:, k], Qt[k]) for k in range(count) if s[k] > 1e-12]
    root = np.sqrt(task.W)
    D = np.column_stack([(root * atom).ravel() for atom in atoms])
    weights = np.linalg.lstsq(D, (root * task.Y).ravel())[0]
    P, s, Qt = np.linalg.svd(np.tensordot(weights, np.array(atoms), 1))
    return (P[:, :r] * s[:r]) @ Qt[:r]


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("shape", [(16, 12), (13, 20)])
def test_is_the_paper_s_algorithm(shape, weights):
    task = problem(shape, 0.9, weights=weights, noise=0.1, seed=1)
    A = np.zeros(shape)
    path = admira(task.entries, 2, max_iter=4, tol=1e-12, random_state=0)
    assert len(path) >= 2
    for step in path:
        A = iteration(task, A, 2)
        np.testing.assert_allclose(step.A.to_dense(), A, atol=1e-7)
        assert step.rank == 2
        assert step.objective == pytest.approx(task.value(A))


def test_recovers_from_gaussian_measurements():
    """The paper's own setting: a linear operator with a rank-restricted isometry."""
    M = make_low_rank((15, 12), 1, 3)
    operators = np.random.default_rng(0).standard_normal((160, 15, 12))
    y = np.tensordot(operators, M.to_dense(), 2)
    path = admira(Sensing(operators, y), 1, tol=1e-7, random_state=0)
    assert np.linalg.norm(path.A.to_dense() - M.to_dense()) <= 1e-5 * np.linalg.norm(M.s)


def test_never_rises_and_says_why_it_stopped():
    task = problem((20, 15), 0.5, noise=0.5)
    path = admira(task.entries, 3, random_state=0)
    assert np.all(np.diff([step.objective for step in path]) < 0)
    assert path.stop in (Stop.CONVERGED, Stop.STALLED)
    assert admira(task.entries, 3, max_iter=1, random_state=0).stop is Stop.ITERATIONS
    assert admira(Entries([0, 1], [0, 1], [0.0, 0.0]), 1).stop is Stop.STALLED
