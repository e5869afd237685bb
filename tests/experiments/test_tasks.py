"""What is fitted and what is judged."""

import numpy as np

from pygeco import Entries
from pygeco.experiments import tasks


def test_the_half_and_the_validation_part(home):
    data = tasks.load("ml-100k", "half")
    assert data.test.size == int((np.random.default_rng(0).random(1100) < 0.5).sum())
    assert data.train.size + data.test.size == 1100
    other = tasks.load("ml-100k", "half", 1)
    assert other.test.size == int((np.random.default_rng(1).random(1100) < 0.5).sum())
    assert other.test.size != data.test.size
    inner = data.inner
    assert inner.train.size + inner.test.size == data.train.size
    assert 0.05 < inner.test.size / data.train.size < 0.15
    rows, cols, values, shape = data.triplets()
    again = Entries(rows, cols, values, shape)
    assert np.array_equal(again.by_col.values, data.train.by_col.values)
