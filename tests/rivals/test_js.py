"""JS: its iterates against dense NumPy."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from oracles import Exact, frank_wolfe, problem
from pygeco import Stop
from pygeco.rivals import js


def search(_, along):
    return minimize_scalar(along, bounds=(0, 1), method="bounded", options={"xatol": 1e-11}).x


@pytest.mark.parametrize("weights", [False, True])
def test_js_is_the_algorithm_on_the_lift(weights):
    task = problem((12, 9), weights=weights)
    path = js(task.entries, 8, 6.0, direction=Exact(), random_state=0)
    for step, A in zip(path, frank_wolfe(task, 6.0, 8, search), strict=True):
        np.testing.assert_allclose(step.A.to_dense(), A, atol=1e-5)
        assert step.objective == pytest.approx(task.value(A), rel=1e-6)
    assert path.stop is Stop.RANK
    assert [step.rank for step in path] == list(range(1, 9))
