"""The largest products of each row against sorting all, with ties and hidden cells."""

import numba
import numpy as np
import pytest

from pygeco.engines import choose_local_engine, limit_threads
from pygeco.engines.cpu import largest
from pygeco.engines.cpu.threads import set_num_threads
from pygeco.engines.values import Largest


def hide_some(rng, shape):
    """Cells by row, and the same as a table."""
    table = rng.random(shape) < 0.3
    pointers = np.concatenate([[0], np.cumsum(table.sum(axis=1))])
    return (pointers, np.nonzero(table)[1].astype(np.int32)), table


@pytest.mark.parametrize("kind", ["spread", "ties", "equal"])
def test_largest_products_are_those_of_a_sort(kind, monkeypatch) -> None:
    monkeypatch.setattr(largest, "MIN_ROWS", 5)
    monkeypatch.setattr(largest, "LINES", 2)
    rng = np.random.default_rng(0)
    for m, n, k in ((23, 211, 7), (23, 211, 211), (1, 5, 5), (12, 40, 39), (0, 9, 2)):
        left, right = (rng.integers(-3, 4, (size, 2)).astype(np.float32) for size in (m, n))
        if kind == "spread":
            left, right = (
                rng.standard_normal(x.shape).astype(np.float32) ** 3 for x in (left, right)
            )
        if kind == "equal":
            left[:] = 0
        (one, first), (two, second) = (hide_some(rng, (m + 3, n)) for _ in range(2))
        rows, allowed = rng.permutation(m + 3)[:m], rng.random(n) < 0.9
        asked = Largest(left, right, rows, (one, two), allowed, k)
        columns, found = choose_local_engine(left).largest_products(asked)
        scores = left @ right.T
        scores[(first | second)[rows] | ~allowed] = -np.inf
        for t in range(m):
            order = np.sort(np.argsort(-scores[t], kind="stable")[:k])
            order = order[scores[t, order] > -np.inf]
            np.testing.assert_array_equal(columns[t, : len(order)], order)
            np.testing.assert_allclose(found[t, : len(order)], scores[t, order], rtol=1e-6)
            assert np.all(columns[t, len(order) :] == -1)
            assert np.all(np.isneginf(found[t, len(order) :]))


@pytest.mark.parametrize(("m", "n", "s"), [(300, 700, 33), (129, 1500, 64), (65, 40, 5)])
def test_bits_do_not_depend_on_the_threads(m, n, s, monkeypatch) -> None:
    monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", 5)
    set_num_threads(5)
    rng = np.random.default_rng(2)
    left, right = (rng.standard_normal((size, s)).astype(np.float32) for size in (m, n))
    asked = Largest(left, right, np.arange(m), (), None, 9)
    found = []
    for threads in (1, 2, 3, 5):
        with limit_threads(threads):
            found.append(choose_local_engine(left).largest_products(asked))
    for other in found[1:]:
        np.testing.assert_array_equal(other[0], found[0][0])
        assert other[1].tobytes() == found[0][1].tobytes()


def test_sums_of_lines_are_products_with_zeros_and_ones(monkeypatch) -> None:
    monkeypatch.setattr(largest, "LINES", 3)
    rng = np.random.default_rng(1)
    cells, table = hide_some(rng, (11, 30))
    lines = rng.standard_normal((30, 9)).astype(np.float32)
    rows = rng.permutation(11)[:10]
    engine = choose_local_engine(lines)
    found = engine.sum_lines(lines, rows, *cells)
    np.testing.assert_allclose(found, table[rows].astype(float) @ lines, atol=1e-5)
    plainly = super(type(engine), engine).sum_lines(lines, rows, *cells)
    np.testing.assert_allclose(found, plainly, atol=1e-5)
