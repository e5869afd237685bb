import pickle

import pytest

from oracles import problem
from pygeco import Solver, Stop, minimize


@pytest.fixture(scope="module")
def path():
    return minimize(problem().entries, 4, Solver(correction="core"), random_state=0)


def test_path_is_a_sequence_of_ranks(path) -> None:
    assert len(path) == 4
    assert [step.rank for step in path] == [1, 2, 3, 4]
    assert path[-1] is path.at(4)
    assert list(path[1:3]) == [path.at(2), path.at(3)]
    assert path[0] in path
    assert path.A is path[-1].A
    with pytest.raises(ValueError, match=r"^rank: 7 is not on this path, which has ranks \[1, 2"):
        path.at(7)


def test_path_tells_its_story(path) -> None:
    lines = repr(path).splitlines()
    assert len(lines) == 6
    assert lines[0].split()[:2] == ["rank", "objective"]
    assert f"{path[2].objective:.6g}" in lines[3]
    assert lines[-1] == f"stopped: {Stop.RANK.advice}"


def test_path_survives_pickling(path) -> None:
    same = pickle.loads(pickle.dumps(path))
    assert same.stop is path.stop
    assert [step.objective for step in same] == [step.objective for step in path]
    assert [step.gap for step in same] == [step.gap for step in path]


@pytest.mark.parametrize("reason", list(Stop))
def test_every_reason_advises(reason) -> None:
    assert len(reason.advice) > 20
    assert str(reason) == f"{reason.name}: {reason.advice}."


def test_steps_are_frozen(path) -> None:
    with pytest.raises(AttributeError):
        path[0].objective = 0.0
    with pytest.raises(AttributeError):
        path.stop = Stop.TIME
