"""Iterates become a path: steps in order, certificates, and ways to end."""

import numpy as np
import pytest

from fake_device import FAKE_ENGINE
from oracles import best, problem
from pygeco import Dense, Entries, LowRank, Stop, rivals
from pygeco.rivals.base import Iterate, check_positive, check_squared_entries, follow


def run(task, callback=None):
    def iterates(rng):
        for scale in (0.5, 1.0):
            A = LowRank.from_dense(scale * task.Y, 2)
            yield Iterate(A, task.entries.gradient(A), 3)
        return Stop.STATIONARY

    return follow(task.entries, iterates, 0, callback)


def test_each_iterate_is_a_step_with_a_certificate_that_holds() -> None:
    task = problem((8, 6))
    path = run(task)
    assert path.stop is Stop.STATIONARY
    assert [step.rank for step in path] == [2, 2]
    for step in path:
        assert step.objective == pytest.approx(task.value(step.A.to_dense()))
        norm = np.linalg.svd(step.A.to_dense(), compute_uv=False).sum()
        assert step.objective - step.gap <= best(task, trace_norm=norm) + 1e-6
        assert step.passes > 3  # those of the certificate's own search too


def test_a_true_answer_stops() -> None:
    path = run(problem((8, 6)), lambda step: True)
    assert (len(path), path.stop) == (1, Stop.CALLBACK)


@pytest.mark.parametrize("rival", [rivals.admira, rivals.optspace, rivals.r1mp, rivals.soft_impute])
def test_data_on_a_gpu_are_refused(rival) -> None:
    objective = Entries([0, 1, 1], [0, 0, 1], [1.0, 2.0, 3.0], engine=FAKE_ENGINE)
    with pytest.raises(ValueError, match=r"^objective: rivals run on the CPU, .* engine='cpu'"):
        rival(objective, 1)


def test_what_a_rival_is_not_made_for_is_named() -> None:
    for objective in (problem(weights=True).entries, Dense(np.ones((3, 3)))):
        with pytest.raises(ValueError, match=r"^objective: SVT is made for the squared loss over"):
            check_squared_entries("SVT", objective)
    entries = problem().entries
    assert check_squared_entries("SVT", entries) is entries
    for wrong in (0, -1, np.inf, np.nan):
        with pytest.raises(ValueError, match=r"^tau: must be a finite number > 0"):
            check_positive("tau", wrong)
