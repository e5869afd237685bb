"""Columns side by side against NumPy's, in every precision, bit by bit."""

import numpy as np
import pytest

from pygeco.engines.cpu import pieces
from pygeco.engines.cpu.pieces import multiply_rows, stack_columns
from pygeco.engines.cpu.threads import limit_threads

REALS = [np.float32, np.float64]


@pytest.fixture(autouse=True)
def eager(monkeypatch) -> None:
    """However few the numbers are, and a few rows a part."""
    monkeypatch.setattr(pieces, "MIN_NUMBERS", 1)
    monkeypatch.setattr(pieces, "PART_NUMBERS", 64)


def make(m, k, dtype):
    return np.random.default_rng(m + k).standard_normal((m, k)).astype(dtype)


@pytest.mark.parametrize("m", [1, 7, 300])
@pytest.mark.parametrize("new", REALS)
@pytest.mark.parametrize("old", REALS)
def test_columns_of_any_layout(m, old, new) -> None:
    wide = make(m, 9, old)
    column = np.broadcast_to(np.ones(1, new), m)
    parts = [wide, wide[:, 2], wide[::-1], wide[:, 3:8], wide[:, :0], wide[:, 4:5], column]
    found = stack_columns(parts, new)
    assert found is not None
    assert found.flags.c_contiguous
    assert found.dtype == new
    np.testing.assert_array_equal(found, np.column_stack(parts).astype(new))


@pytest.mark.parametrize("dtype", REALS)
def test_factors_are_those_of_the_columns(dtype) -> None:
    X, factors = make(300, 5, dtype), np.array([2.0, -0.3, 0.0, 1e30, np.inf], dtype)
    found = stack_columns([X[:, :2], X[:, 2:]], dtype, factors)
    np.testing.assert_array_equal(found, X * factors)


@pytest.mark.parametrize("dtype", REALS)
def test_factors_of_rows(dtype) -> None:
    X, factors = make(300, 5, dtype), make(300, 2, dtype)[:, 1]
    found = multiply_rows(X[:, 1:4], factors)
    np.testing.assert_array_equal(found, factors[:, None] * X[:, 1:4])
    for bad in (factors[:5], factors[:, None], factors.astype(np.float16)):
        assert multiply_rows(X, bad) is None
    assert multiply_rows(X[:, 0], factors) is None


def test_no_number_is_too_ugly() -> None:
    X = np.array([[np.nan, np.inf, -0.0], [5e-324, 1e300, -np.inf]])
    for new in REALS:
        with np.errstate(over="ignore"):
            expected = X.astype(new)
        found = stack_columns([X], new)
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


@pytest.mark.parametrize(
    "X",
    [make(8, 6, float)[:, ::2], np.asfortranarray(make(8, 6, float)), np.ones((4, 3), int)],
    ids=["gaps", "by column", "whole"],
)
def test_what_is_left_to_numpy(X) -> None:
    assert stack_columns([X], np.float64) is None
    assert stack_columns([np.ones((len(X), 2)), X], np.float64) is None


def test_few_numbers_and_mixed_factors_are_left_to_numpy(monkeypatch) -> None:
    X = make(10, 3, np.float32)
    assert stack_columns([X], np.float64, np.ones(3)) is None
    assert stack_columns([X], np.int64) is None
    assert stack_columns([X[:0]], np.float64) is None
    assert stack_columns([X, X[:4]], np.float32) is None
    assert stack_columns([X], np.float32, np.ones(2, np.float32)) is None
    assert stack_columns([X], np.float32, np.array(2, np.float32)) is None
    monkeypatch.setattr(pieces, "MIN_NUMBERS", 31)
    assert stack_columns([X], np.float64) is None


def test_threads_change_nothing() -> None:
    X = make(50_000, 3, np.float32)
    for threads in (1, 2):
        with limit_threads(threads):
            np.testing.assert_array_equal(stack_columns([X, X], float), np.column_stack([X, X]))
