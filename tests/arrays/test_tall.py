"""Products of tall arrays are NumPy's, unless someone with more cores takes them."""

import numpy as np
import pytest

from pygeco.arrays import tall


class Loud:
    """Takes products of one column, and says so by a sign."""

    def times(self, X, B):
        return -(X @ B) if X.shape[1] == 1 else None

    def inner(self, X, Y):
        return -(X.T @ Y) if X.shape[1] == 1 else None

    def times_rows(self, X, factors):
        return -factors[:, None] * X if X.shape[1] == 1 else None

    def stack(self, parts, dtype, factors):
        found = np.column_stack(parts).astype(dtype)
        found = found if factors is None else found * factors
        return -found if parts[0].shape[1] == 1 else None


@pytest.mark.parametrize("columns", [1, 2])
def test_who_was_asked_last_is_asked_first(columns, monkeypatch) -> None:
    rng = np.random.default_rng(0)
    X, B = rng.standard_normal((7, columns)), rng.standard_normal((columns, 3))
    sign = -1 if columns == 1 else 1
    monkeypatch.setattr(tall, "_OFFERED", [])
    np.testing.assert_array_equal(tall.multiply(X, B), X @ B)
    np.testing.assert_array_equal(tall.multiply_transposed(X, X), X.T @ X)
    tall.offer_work(Loud())
    np.testing.assert_array_equal(tall.multiply(X, B), sign * (X @ B))
    np.testing.assert_array_equal(tall.multiply_transposed(X, X), sign * (X.T @ X))
    np.testing.assert_array_equal(tall.multiply_columns(X, B[:, 0]), sign * X * B[:, 0])
    np.testing.assert_array_equal(tall.multiply_rows(X, X[:, 0]), sign * X[:, :1] * X)
    stacked = tall.stack_columns([X, X[:, 0]], np.float32)
    np.testing.assert_array_equal(stacked, sign * np.column_stack([X, X[:, 0]]).astype("f"))
