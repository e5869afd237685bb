"""R1MP, plain and economic: against dense least squares, and the papers' linear rate."""

import numpy as np
import pytest

from oracles import Exact, problem
from pygeco import Entries, Solver, Stop, minimize
from pygeco.rivals import r1mp


def pursuit(task, rank, economic) -> list[np.ndarray]:
    """Algorithms 1 and 2 of the paper, dense."""
    seen = task.W > 0
    A, atoms, iterates = np.zeros_like(task.Y), [], []
    for _ in range(rank):
        P, _, Qt = np.linalg.svd(seen * (task.Y - A))
        atoms = [A, np.outer(P[:, 0], Qt[0])] if economic else [*atoms, np.outer(P[:, 0], Qt[0])]
        D = np.column_stack([atom[seen] for atom in atoms])
        theta = np.linalg.lstsq(D, task.Y[seen])[0]
        A = np.tensordot(theta, np.array(atoms), 1)
        iterates.append(A)
    return iterates


@pytest.mark.parametrize("economic", [False, True])
@pytest.mark.parametrize("shape", [(12, 9), (7, 15)])
def test_is_the_paper_s_algorithm(economic, shape):
    task = problem(shape, seed=1)
    path = r1mp(task.entries, 6, economic=economic, direction=Exact(), random_state=0)
    for step, A in zip(path, pursuit(task, 6, economic), strict=True):
        np.testing.assert_allclose(step.A.to_dense(), A, atol=1e-8)
        assert step.objective == pytest.approx(task.value(A))


@pytest.mark.parametrize("economic", [False, True])
def test_converges_linearly_as_proved(economic):
    task = problem((10, 14), seed=2, noise=1.0)
    start = task.value(np.zeros_like(task.Y))
    path = r1mp(task.entries, 40, economic=economic, random_state=0)
    for k, step in enumerate(path, start=1):
        assert step.objective <= start * (1 - 1 / 10) ** k * (1 + 0.01)
    assert path[-1].objective < path[0].objective * (1e-2 if economic else 1e-6)


def test_plain_is_geco_with_diagonal_cores():
    task = problem((12, 9), weights=True, seed=3)
    solver = Solver(direction=Exact(), correction="diagonal")
    ours = minimize(task.entries, 5, solver, random_state=0)
    theirs = r1mp(task.entries, 5, direction=Exact(), random_state=0)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a.A.to_dense(), b.A.to_dense(), atol=1e-9)
        assert a.gap == pytest.approx(b.gap)


def test_stops_where_nothing_is_left():
    entries = Entries([0, 1, 2], [0, 1, 2], [3.0, 2.0, 1.0])
    path = r1mp(entries, 3, random_state=0)
    assert path[-1].objective < 1e-20
    zero = Entries([0], [0], [0.0])
    for economic in (False, True):
        assert r1mp(zero, 1, economic=economic, random_state=0).stop is Stop.STATIONARY


def test_economic_says_what_it_is_for():
    task = problem(weights=True)
    with pytest.raises(ValueError, match=r"^objective: the economic R1MP is made for the squared"):
        r1mp(task.entries, 2, economic=True)
