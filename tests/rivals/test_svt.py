"""SVT: each iterate against dense NumPy, the limit against CVXPY."""

import cvxpy as cp
import numpy as np
import pytest

from oracles import problem
from pygeco import Entries, Stop
from pygeco.rivals import svt


def thresholding(task, tau, delta, steps) -> list[np.ndarray]:
    """Algorithm 1 with full SVDs."""
    seen = task.W > 0
    Z = delta * np.ceil(tau / (delta * np.linalg.norm(task.Y, 2))) * task.Y
    iterates = []
    for _ in range(steps):
        P, s, Qt = np.linalg.svd(Z, full_matrices=False)
        A = (P * np.maximum(s - tau, 0)) @ Qt
        iterates.append(A)
        Z = Z + delta * seen * (task.Y - A)
    return iterates


@pytest.mark.parametrize("shape", [(16, 12), (12, 30)])
def test_is_the_paper_s_algorithm(shape):
    task = problem(shape, seed=1)
    path = svt(task.entries, 12, tau=9.0, delta=1.1, max_iter=15, random_state=0)
    assert path.stop is Stop.ITERATIONS
    for step, A in zip(path, thresholding(task, 9.0, 1.1, 15), strict=True):
        np.testing.assert_allclose(step.A.to_dense(), A, atol=1e-8)
        assert step.rank == np.linalg.matrix_rank(A, tol=1e-9)
        assert step.objective == pytest.approx(task.value(A))


def test_reaches_the_optimum_of_its_program():
    task = problem((8, 6), 0.6, seed=2, rank=1, noise=0.0)
    A = cp.Variable((8, 6))
    aim = cp.Minimize(3 * cp.normNuc(A) + cp.sum_squares(A) / 2)
    cp.Problem(aim, [A[task.W > 0] == task.Y[task.W > 0]]).solve(solver=cp.CLARABEL)
    path = svt(task.entries, 6, tau=3.0, delta=1.9, max_iter=2000, tol=1e-5)
    assert path.stop is Stop.CONVERGED
    np.testing.assert_allclose(path.A.to_dense(), A.value, atol=2e-3)


def test_the_paper_s_parameters_are_the_defaults():
    task = problem((20, 20), 0.5, seed=3, rank=1, noise=0.0)
    size = task.entries.size
    given = svt(task.entries, 5, tau=100.0, delta=1.2 * 400 / size, max_iter=5, random_state=0)
    left = svt(task.entries, 5, max_iter=5, random_state=0)
    np.testing.assert_allclose(given.A.to_dense(), left.A.to_dense())


def test_says_what_it_is_for():
    with pytest.raises(ValueError, match=r"^objective: SVT is made for the squared loss over"):
        svt(problem(weights=True).entries, 2)
    with pytest.raises(ValueError, match=r"^tau: must be a finite number > 0, not -1"):
        svt(problem().entries, 2, tau=-1)
    assert svt(Entries([0, 1], [0, 1], [0.0, 0.0]), 1).stop is Stop.STATIONARY
