"""The same list for all."""

import numpy as np

from pygeco.rivals import popular


def test_columns_are_scored_by_their_rows() -> None:
    X = np.random.default_rng(0).random((20, 6)) < 0.5
    found = popular(X)
    np.testing.assert_array_equal(found.score_rows(np.array([1, 4])), [X.sum(axis=0)] * 2)
