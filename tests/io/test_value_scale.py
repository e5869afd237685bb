"""Scales of values, and marks apart from them."""

import numpy as np
import pytest

from pygeco import MatrixCompletion
from pygeco.errors import StrayValueWarning


@pytest.mark.parametrize(
    "values",
    [
        np.repeat([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10], [30, 20, *[50] * 9]),  # a true 0 to 10
        np.repeat([0, 1, 2, 3, 7], [800, 80, 15, 4, 1]),  # counts
        np.repeat([1, 2, 3, 9], [800, 80, 15, 5]),
        np.repeat([-2, -1, 0, 1, 2], 100),
        np.repeat([-1, 0, 1], 100),
        np.repeat([-1, 1], 100),
        np.repeat([0, 1], [900, 100]),
        np.repeat(np.arange(0.5, 5.5, 0.5), 10),
        np.random.default_rng(0).standard_normal(1000),
        np.random.default_rng(0).poisson(1.5, 1000),
        np.repeat([10, 99], 50),
    ],
)
def test_true_scales_have_no_marks(values) -> None:
    from pygeco.io.value_scale import find_mark

    assert find_mark(np.random.default_rng(0).permutation(values)) is None


@pytest.mark.parametrize(
    ("values", "are_counts"),
    [
        (np.random.default_rng(0).zipf(1.6, 500), True),
        (np.exp(np.random.default_rng(0).normal(3, 1.5, 500)).round(), True),
        (np.arange(1, 101), False),  # a scale to 100
        (np.random.default_rng(0).integers(1, 6, 500), False),
        (np.exp(np.random.default_rng(0).normal(3, 1.5, 500)), False),  # not whole
        (-np.random.default_rng(0).zipf(1.6, 500), False),
    ],
)
def test_counts_are_whole_and_have_a_long_tail(values, are_counts):
    from pygeco.io.value_scale import look_like_counts

    assert look_like_counts(values.astype(float)) is are_counts


RNG = np.random.default_rng(0)
STARS = RNG.integers(1, 6, 2000)


@pytest.mark.parametrize(
    ("scale", "stray"),
    [(STARS, 99), (STARS, 55), (STARS, -1), (STARS / 2, 45), (STARS[:60], 10), (STARS + 50, 0)],
)
def test_few_values_far_from_a_scale_are_strays(scale, stray) -> None:
    from pygeco.io.value_scale import find_mark, find_stray

    values = RNG.permutation(np.append(scale, stray).astype(float))
    assert find_mark(values) is None  # which would be an error
    found = find_stray(values)
    assert found is not None
    assert (found.value, found.low, found.high) == (stray, scale.min(), scale.max())
    assert find_stray(scale.astype(float)) is None


def test_tails_have_no_strays() -> None:
    from pygeco.io.value_scale import find_stray

    for seed in range(20):
        rng = np.random.default_rng(seed)
        for values in (
            *(rng.zipf(power, 2000) for power in (1.6, 2, 2.5)),
            *(rng.geometric(0.3, 2000), rng.poisson(1.5, 2000), np.exp(rng.normal(1, 1, 2000))),
            *(rng.negative_binomial(1, 0.2, 2000), rng.standard_t(2, 2000)),
        ):
            assert find_stray(values.round()) is None


def test_strays_are_named_once_and_may_be_kept() -> None:
    cells = np.arange(2000) // 40, np.arange(2000) % 40, np.append(STARS[1:], 99.0)
    with pytest.warns(StrayValueWarning, match=r"X: 99 is far from .* \(1 to 5\)"):
        MatrixCompletion(1, penalty=None, random_state=0).fit(cells)
    for kept in (None, 99):
        MatrixCompletion(1, penalty=None, random_state=0, missing_values=kept).fit(cells)
