import numpy as np

import pygeco


def test_objective_falls_along_the_path() -> None:
    rng = np.random.default_rng(0)
    rows, cols = np.nonzero(rng.random((40, 30)) < 0.4)
    entries = pygeco.Entries(rows, cols, rng.standard_normal(len(rows)), (40, 30))
    path = pygeco.minimize(entries, 5, random_state=0)
    objectives = [step.objective for step in path]
    assert objectives == sorted(objectives, reverse=True)
    assert objectives[0] < entries.value_at_zero
