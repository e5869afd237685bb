"""Products of tall arrays by blocks: NumPy's numbers, and the same bits for any threads."""

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

from pygeco import Entries, MatrixCompletion, minimize
from pygeco.arrays.tall import multiply, multiply_transposed
from pygeco.data import make_ratings
from pygeco.engines.cpu import columns, pieces, tall
from pygeco.engines.cpu.tall import MAX_BLOCKS, SUMMED_ROWS, WORK
from pygeco.engines.cpu.threads import limit_threads

ROWS = [1, SUMMED_ROWS, SUMMED_ROWS + 1, 3 * SUMMED_ROWS + 5, MAX_BLOCKS * SUMMED_ROWS + 77]


@pytest.fixture
def eager(monkeypatch) -> None:
    """However small they are."""
    monkeypatch.setattr(tall, "MIN_WORK", 0)


def lay_out(X, layout):
    """The same numbers: by row, by column, or as part of wider rows."""
    wide = np.full((len(X), X.shape[1] + 3), np.nan, X.dtype)
    wide[:, 1:-2] = X
    return {"row": X, "column": np.asfortranarray(X), "part": wide[:, 1:-2]}[layout]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("layout", ["row", "column", "part"])
def test_products_are_those_of_double_precision(rows, layout, dtype, eager) -> None:
    rng = np.random.default_rng(rows)
    X = rng.standard_normal((rows, 5)).astype(dtype)
    Y, B = rng.standard_normal((rows, 4)).astype(dtype), rng.standard_normal((3, 5)).astype(dtype)
    given, other = lay_out(X, layout), lay_out(Y, layout)
    error = np.finfo(dtype).eps * 8
    found = WORK.times(given, B.T)
    assert found is not None
    assert found.dtype == dtype
    np.testing.assert_allclose(found, X.astype(float) @ B.T, atol=5 * error * 10)
    for partner, exact in ((other, Y), (given, X)):
        found = WORK.inner(given, partner)
        assert found is not None
        assert found.dtype == dtype
        size = np.abs(X.T).astype(float) @ np.abs(exact)
        assert np.all(np.abs(found - X.T.astype(float) @ exact) <= 10 * error * size + 1e-300)
    np.testing.assert_array_equal(found, found.T)


def test_shapes_that_do_not_fit_are_not_read(eager) -> None:
    """By their addresses BLAS would read beyond them."""
    X, B = np.ones((600, 5)), np.ones((5, 3))
    for wrong in (B[:4], np.ones((6, 3)), np.ones((5, 0))[:4]):
        assert WORK.times(X, wrong) is None
        with pytest.raises(ValueError, match="mismatch in its core dimension"):
            multiply(X, wrong)
    for wrong in (X[:599], np.ones((601, 2)), X[:1]):
        assert WORK.inner(X, wrong) is None
        assert WORK.inner(wrong, X) is None
        with pytest.raises(ValueError, match="mismatch in its core dimension"):
            multiply_transposed(X, wrong)
    none = np.ones((5, 0))
    assert WORK.times(X, none) is None  # BLAS would complain on standard output
    assert multiply(X, none).shape == (600, 0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bits_depend_neither_on_threads_nor_on_those_of_blas(dtype) -> None:
    X = np.random.default_rng(0).standard_normal((40_000, 20)).astype(dtype)
    found = []
    for threads, blas in ((1, 1), (2, 1), (2, 2)):
        with limit_threads(threads), ThreadpoolController().limit(limits=blas, user_api="blas"):
            found.append((WORK.times(X, X[:20]), WORK.inner(X, X)))
    for one, two in zip(*found[:2], strict=True):
        np.testing.assert_array_equal(one, two)
    for one, two in zip(*found[1:], strict=True):
        np.testing.assert_array_equal(one, two)


def test_what_was_there_before_does_not_matter(eager, monkeypatch) -> None:
    monkeypatch.setattr(tall.np, "empty", lambda *args: np.full(*args[:1], np.nan, *args[1:]))
    X = np.ones((1000, 2))
    np.testing.assert_array_equal(WORK.times(X, np.eye(2)), X)
    np.testing.assert_array_equal(WORK.inner(X, X), np.full((2, 2), 1000.0))


def test_what_is_not_a_number_stays_in_its_row(eager) -> None:
    X = np.ones((2000, 2))
    X[700, 0], X[1500, 1] = np.nan, np.inf
    found = WORK.times(X, np.eye(2) + 1)
    assert found is not None
    assert np.isfinite(found).all(axis=1).sum() == 1998
    assert np.isnan(WORK.inner(X, X)[0, 0])


@pytest.mark.parametrize(
    "X",
    [
        np.ones((0, 3)),
        np.ones((3, 0)),
        np.ones((4, 3), int),
        np.ones((4, 3), np.float16),
        np.ones((8, 6))[::2, ::2],
        np.ones((4, 3))[::-1],
        np.ones(3),
    ],
    ids=["no rows", "no columns", "whole", "half", "gaps", "backwards", "vector"],
)
def test_what_blas_cannot_read_is_left_to_numpy(X, eager) -> None:
    assert WORK.times(X, np.ones((X.shape[-1], 2))) is None
    assert WORK.inner(X, X) is None


def test_mixed_precisions_and_small_products_are_left_to_numpy() -> None:
    X = np.ones((100_000, 30))
    assert WORK.times(X, np.ones((30, 30), np.float32)) is None
    wide = WORK.times(X.astype(np.float32), np.full((30, 2), 0.1))  # in that of the small one
    np.testing.assert_allclose(wide, 3.0, rtol=1e-15)
    assert WORK.inner(X, X.astype(np.float32)) is None
    assert WORK.times(X[:1000], np.eye(30)) is None
    assert WORK.inner(X[:1000], X[:1000]) is None


@pytest.mark.parametrize("fit", ["path", "evidence"])
def test_whole_fits_have_the_same_bits_for_any_number_of_threads(fit, eager, monkeypatch) -> None:
    monkeypatch.setattr(pieces, "MIN_NUMBERS", 1)
    monkeypatch.setattr(columns, "MIN_SPAN", 1)
    rows, cols, values, shape = make_ratings((1300, 700), 30_000)
    found = []
    for threads in (1, 2):
        with limit_threads(threads):
            if fit == "path":
                A = minimize(Entries(rows, cols, values, shape), 4, random_state=0).A
                found.append(A.entries(rows, cols))
            else:
                model = MatrixCompletion(posterior=2, random_state=0)
                found.append(model.fit((rows, cols, values, shape)).predict(rows, cols))
    np.testing.assert_array_equal(*found)
