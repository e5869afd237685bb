"""A correction is chosen in one place, and answers for itself whatever the run asks."""

import ast
from pathlib import Path

import numpy as np
import pytest

import pygeco.algorithm
from oracles import problem, random_low_rank
from pygeco import LowRank, Ridge, Solver, Trace, minimize
from pygeco.algorithm.corrections.base import Correction
from pygeco.algorithm.corrections.core import Core
from pygeco.algorithm.corrections.factory import MAKERS, make_correction, resolve_auto

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

        def start(self, objective, A):
            return self.core.start(objective, A)

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
    for file in SOURCES.parent.rglob("*.py"):
        if file.name == "factory.py":
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Compare):
                sides = [node.left, *node.comparators]
                assert not any(getattr(x, "attr", "") == "correction" for x in sides), file
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance":
                named = {x.id for x in ast.walk(node.args[1]) if isinstance(x, ast.Name)}
                assert not (SOURCES in file.parents and named & kinds), file


@pytest.mark.parametrize("folder", ["algorithm", "bayes"])
def test_files_and_functions_are_short(folder) -> None:
    for file in (SOURCES.parent / folder).rglob("*.py"):
        text = file.read_text()
        assert text.count("\n") <= 300, file
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                assert node.end_lineno - node.lineno < 50, (file, node.name)


def test_auto_is_resolved_by_the_factory_alone() -> None:
    assert resolve_auto("auto", "core") == "core"
    assert resolve_auto("sweep", "core") == "sweep"
    with pytest.raises(ValueError, match=r"^correction: 'auto' is no correction yet"):
        make_correction("auto", None)
    assert Core().prepare(LowRank.zero((3, 2))).rank == 0
