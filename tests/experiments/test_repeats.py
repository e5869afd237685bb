"""Means over seeds."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pygeco.experiments.repeats import Estimate


@settings(deadline=None)
@given(st.lists(st.floats(-1, 1), min_size=2, max_size=8), st.floats(-1, 1))
def test_the_interval_is_that_of_scipy(values, bound):
    from scipy import stats

    estimate = Estimate.of(values)
    if max(values) - min(values) > 1e-6:
        expected = stats.ttest_1samp(values, 0.0).confidence_interval(0.95)
        np.testing.assert_allclose(estimate.interval, expected, atol=1e-9)
    low, high = estimate.interval
    answer = estimate.within(bound, math.inf)
    assert answer is (True if low > bound else False if high <= bound else None)
