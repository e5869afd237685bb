"""Scales of values, and marks apart from them."""

import numpy as np
import pytest


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
