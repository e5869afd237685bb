"""What "auto" stands for."""

import numpy as np
import pytest

from pygeco import Entries, MatrixCompletion, Ridge, Solver
from pygeco.arrays.coded import encode_values
from pygeco.estimators._choices import (
    MAX_RANK,
    choose_clip,
    choose_offsets,
    choose_parts,
    choose_penalty,
    has_bounded_scale,
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
        ({"posterior": True}, r"^posterior: expected a number of sweeps, at least 0, not True"),
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


STARS = np.array([1.0, 2.0, 3.0, 4.0, 5.0])


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        (np.repeat(STARS, 20), True),
        (np.repeat(np.arange(1, 11) / 2, 20), True),
        (np.repeat([-1.0, 1.0], 20), True),
        (np.repeat([1.0, 2.0, 3.0, 5.0], 20), True),
        (np.append(np.repeat(STARS, 20), [99.0]), False),  # stands apart, and is rare
        (np.append(np.repeat(STARS, 20), [2.3]), False),
        (np.repeat(3.0, 50), False),
        (np.random.default_rng(0).poisson(2.0, 5000).astype(float), False),
        (np.random.default_rng(0).standard_normal(500), False),
        (np.repeat(np.arange(30.0), 20), False),
        (np.zeros(0), False),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_bounded_scale_is_recognized(values, wanted, dtype) -> None:
    values = np.random.default_rng(1).permutation(values).astype(dtype)
    assert has_bounded_scale(values, np.zeros(0)) is wanted
    doubled = np.concatenate([values, [77.7]]).astype(dtype)
    weights = np.append(np.ones(len(values)), 0.0)
    assert has_bounded_scale(doubled, weights) is wanted  # weight zero is absent
    codes = encode_values(values)
    assert codes is None or has_bounded_scale(codes, np.zeros(0)) is wanted


def test_predictions_of_stars_stay_on_the_scale() -> None:
    rng = np.random.default_rng(0)
    X = np.clip(np.rint(3 + 3 * np.outer(rng.standard_normal(60), rng.standard_normal(40))), 1, 5)
    X[rng.random(X.shape) < 0.3] = np.nan
    fitted = MatrixCompletion(2, random_state=0).fit(X)
    free = MatrixCompletion(2, clip=False, random_state=0).fit(X)
    assert fitted.clip_
    assert not free.clip_
    assert free.to_dense().max() > 5.1
    np.testing.assert_array_equal(fitted.to_dense(), np.clip(free.to_dense(), 1, 5))
    best = fitted.recommend([0, 1], 40, exclude_seen=False)
    assert 1 <= best.scores.min() <= best.scores.max() <= 5
    np.testing.assert_array_equal(
        best.columns, free.recommend([0, 1], 40, exclude_seen=False).columns
    )  # the order beyond the scale is kept
    with pytest.raises(ValueError, match="clip: expected 'auto', True or False, not 'yes'"):
        MatrixCompletion(2, clip="yes").fit(X)
