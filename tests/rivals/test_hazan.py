"""Hazan: its iterates against dense NumPy, its searches."""

import sys

import numpy as np

from oracles import Exact, frank_wolfe, problem
from pygeco.rivals import hazan


def test_hazan_is_frank_wolfe_with_its_own_steps(monkeypatch):
    module = sys.modules["pygeco.rivals.hazan"]
    monkeypatch.setattr(module, "approx_ev", lambda G, error, rng: Exact()(G, rng))
    task = problem((7, 10), seed=3)
    path = hazan(task.entries, 9, 4.0, random_state=0)
    for step, A in zip(path, frank_wolfe(task, 4.0, 9, lambda k, _: 2 / (k + 2)), strict=True):
        np.testing.assert_allclose(step.A.to_dense(), A, atol=1e-9)


def test_hazan_searches_sharper_as_it_goes_on():
    task = problem((60, 50), seed=6)
    passes = [step.passes for step in hazan(task.entries, 40, 20.0, random_state=0)]
    assert np.mean(passes[-5:]) > 1.5 * np.mean(passes[:3])
