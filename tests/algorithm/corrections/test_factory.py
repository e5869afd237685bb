"""A correction is chosen in one place, and answers for itself whatever the run asks."""

import ast
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import pygeco.algorithm
from oracles import problem, random_low_rank
from pygeco import Entries, LowRank, Ridge, Schatten, Solver, Trace, minimize
from pygeco.algorithm.corrections.base import Correction
from pygeco.algorithm.corrections.core import Core
from pygeco.algorithm.corrections.diagonal import Diagonal
from pygeco.algorithm.corrections.factory import MAKERS, choose_name, make_correction, resolve_auto
from pygeco.algorithm.corrections.sweep import Sweep
from pygeco.objectives import Objective
from sources import parse_files

SOURCES = Path(pygeco.algorithm.__file__).parent


@pytest.mark.parametrize("name", list(MAKERS))
def test_singular_values_are_those_of_the_matrix(name) -> None:
    """Against a dense SVD, at each matrix that the correction leaves."""
    correction, A = make_correction(name, None), random_low_rank((12, 9), 3)
    state = correction.solve(problem().entries, correction.prepare(A))
    for left in (correction.prepare(A), state.A):
        s = np.linalg.svd(left.to_dense(), compute_uv=False)[:3]
        np.testing.assert_allclose(np.sort(correction.singular_values(left)), s[::-1], rtol=1e-10)
        np.testing.assert_allclose(correction.prepare(left).to_dense(), left.to_dense(), atol=1e-12)


@pytest.mark.parametrize("name", list(MAKERS))
@pytest.mark.parametrize("penalty", [None, Ridge(0.1), Trace(0.1), Trace(0.0)])
def test_what_rests_is_proved_and_only_a_trace_norm_rests(name, penalty) -> None:
    if name == "diagonal" and isinstance(penalty, Trace):
        pytest.skip("refused, see test_states")
    correction = make_correction(name, penalty)
    wanted = name in ("sweep", "descent") and isinstance(penalty, Trace) and penalty.alpha > 0
    assert correction.rests is correction.proves is wanted


def test_a_minimal_correction_runs_from_the_base_class_alone(monkeypatch) -> None:
    """Five moves are all that a new one states; the run asks nothing of its name or its type."""

    class Borrowed(Correction):
        core = Core()

        def start(self, objective, A, value=None):
            return self.core.start(objective, A, value)

        def solve(self, objective, A):
            return self.core.solve(objective, A)

        def extend(self, state, u, v):
            return self.core.extend(state, u, v)

        def drop(self, state):
            return self.core.drop(state)

        def shrink(self, state):
            return self.core.shrink(state)

    monkeypatch.setitem(MAKERS, "borrowed", lambda penalty, tolerance: Borrowed())
    settings = {"signs": True, "replacements": 2}
    paths = [
        minimize(problem().entries, 3, Solver(correction=name, **settings), random_state=0)
        for name in ("borrowed", "core")
    ]
    assert [t.objective for t in paths[0]] == [t.objective for t in paths[1]]
    np.testing.assert_array_equal(paths[0].A.U, paths[1].A.U)


def test_no_other_file_asks_which_correction_it_is() -> None:
    """No comparison of a correction's name and no isinstance of one, outside the factory."""
    kinds = {"Correction", "Core", "Descent", "Diagonal", "Sweep"}
    for file, tree in parse_files(SOURCES.parent, "correction", *kinds):
        if file.name == "factory.py":
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Compare):
                sides = [node.left, *node.comparators]
                assert not any(getattr(x, "attr", "") == "correction" for x in sides), file
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance":
                named = {x.id for x in ast.walk(node.args[1]) if isinstance(x, ast.Name)}
                assert not (SOURCES in file.parents and named & kinds), file


def test_auto_is_resolved_by_the_factory_alone() -> None:
    assert resolve_auto("auto", "core") == "core"
    assert resolve_auto("sweep", "core") == "sweep"
    with pytest.raises(ValueError, match=r"^correction: 'auto' is no correction yet"):
        make_correction("auto", None)
    assert Core().prepare(LowRank.zero((3, 2))).rank == 0


class Bare(Objective):
    """An objective that states nothing."""


@pytest.mark.parametrize(
    ("wants", "regression", "penalty", "name"),
    [
        ("sweep", True, None, "sweep"),
        ("sweep", False, None, "core"),  # labels: a row of few cells has no minimum
        ("sweep", False, Ridge(0.0), "core"),
        ("sweep", False, Ridge(0.1), "sweep"),
        ("sweep", True, Schatten(0.1, 3.0), "core"),
        ("core", True, None, "core"),
    ],
)
def test_what_auto_stands_for(wants, regression, penalty, name) -> None:
    objective = SimpleNamespace(
        can_sweep=wants == "sweep",
        loss=SimpleNamespace(regression=regression),
        engine=SimpleNamespace(sends_too_much=lambda rank: False),
    )
    objective.default_correction = partial(Entries.default_correction, objective)
    assert choose_name("auto", objective, penalty, 3) == name
    assert choose_name("auto", Bare(), penalty, 3) == "core"
    assert choose_name("diagonal", objective, penalty, 3) == "diagonal"


class Far:
    """An objective on a cluster whose sweeps are too much from rank 3 on."""

    engine = SimpleNamespace(sends_too_much=lambda rank: rank > 2)

    def __init__(self, objective):
        self.objective = objective

    def __getattr__(self, name):
        return getattr(self.objective, name)

    def default_correction(self, **asked):
        return Entries.default_correction(self, **asked)


def test_cores_where_a_cluster_would_sum_too_much() -> None:
    far = Far(problem().entries)
    assert choose_name("auto", far, None, 2) == "sweep"
    with pytest.warns(UserWarning, match=r"^correction: on a cluster, sweeps at rank 3 .* of 9 c"):
        assert choose_name("auto", far, None, 3) == "core"
    with pytest.warns(UserWarning, match=r"correction='sweep' to have them nevertheless\.$"):
        path = minimize(far, 3, random_state=0)
    plain = minimize(far.objective, 3, Solver(correction="core"), random_state=0)
    assert path[-1].objective == plain[-1].objective


def test_corrections_by_name() -> None:
    assert make_correction("core", Ridge(0.1)) == Core(Ridge(0.1))
    assert make_correction("diagonal", Ridge(0.1)) == Diagonal(Ridge(0.1))
    assert make_correction("sweep", Trace(0.1), 1e-3) == Sweep(Trace(0.1), 1e-3)
    assert make_correction("sweep", None) == Sweep()
