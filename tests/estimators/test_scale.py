"""Bounded scales of a few levels."""

import numpy as np
import pytest

from pygeco import MatrixCompletion
from pygeco.arrays.coded import encode_values
from pygeco.estimators._scale import has_bounded_scale

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
