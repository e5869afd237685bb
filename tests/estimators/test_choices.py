"""What "auto" stands for."""

import numpy as np
import pytest

from pygeco import Entries, MatrixCompletion, Ridge, Solver
from pygeco.estimators._choices import (
    MAX_RANK,
    choose_clip,
    choose_offsets,
    choose_parts,
    choose_penalty,
    limit_rank,
)
from pygeco.losses import Huber, Logistic, Squared


def test_the_evidence_where_it_is_known_and_no_solver_is_given() -> None:
    for settings, wanted in (
        ({}, "evidence"),
        ({"loss": "huber"}, "evidence"),
        ({"loss": "logistic"}, "evidence"),
        ({"loss": "smoothed-hinge"}, None),
        ({"solver": Solver()}, None),
        ({"penalty": None}, None),
        ({"penalty": "evidence", "solver": Solver()}, "evidence"),
    ):
        assert choose_penalty(MatrixCompletion(**settings)) == wanted
    ridge = Ridge(0.1)
    assert choose_penalty(MatrixCompletion(penalty=ridge)) is ridge


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"penalty": "ridge"}, r"^penalty: unknown name 'ridge'"),
        ({"penalty": "evidence", "loss": "quantile"}, r"^penalty: the evidence is not known for"),
        ({"penalty": None, "posterior": 3}, r"^posterior: draws need penalty='evidence'"),
        ({"posterior": -1}, r"^posterior: expected a number of sweeps"),
    ],
)
def test_what_does_not_go_together_is_named(settings, match) -> None:
    with pytest.raises(ValueError, match=match):
        choose_penalty(MatrixCompletion(**settings))


def test_offsets_follow_the_evidence() -> None:
    assert choose_offsets("auto", "evidence") == choose_offsets(True, None)
    assert choose_offsets("auto", None) == ()
    assert choose_offsets(("row",), None) == ("row",)


def test_predictions_of_ratings_alone_are_clipped() -> None:
    stars, none = np.tile([1.0, 2, 3, 4, 5], 20), np.zeros(0)
    assert choose_clip("auto", Squared(), stars, none)
    assert choose_clip("auto", Huber(), stars, none)
    assert not choose_clip("auto", Logistic(), stars, none)
    assert not choose_clip("auto", Squared(), np.linspace(0, 1, 100), none)
    assert not choose_clip(False, Squared(), stars, none)
    with pytest.raises(ValueError, match=r"^clip: expected 'auto', True or False, not 'yes'"):
        choose_clip("yes", Squared(), stars, none)


def test_ranks_and_parts_of_a_fit() -> None:
    assert limit_rank("auto", (1000, 900)) == MAX_RANK
    assert limit_rank("auto", (7, 5)) == 5
    assert limit_rank(3, (7, 5)) == 3
    with pytest.raises(ValueError, match=r"^rank: expected an integer or 'auto', not 'some'"):
        limit_rank("some", (7, 5))
    entries = Entries([0, 1], [1, 0], [1.0, 2.0])
    assert choose_parts(MatrixCompletion(biases=("column",)), entries, None) == (
        ("column",),
        None,
        False,
    )
