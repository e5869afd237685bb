"""Each kernel against dense NumPy, with any number of threads, and beyond 2³¹ cells."""

import mmap

import numba
import numpy as np
import pytest
import scipy.sparse as sp

from pygeco.arrays.coded import encode_values
from pygeco.engines.cpu import cells as orders
from pygeco.engines.cpu import products as cpu
from pygeco.engines.cpu.cells import BLOCK_COUNT, block_bounds
from pygeco.engines.cpu.engine import ENGINE
from pygeco.engines.cpu.threads import set_num_threads
from pygeco.engines.protocol import Engine
from pygeco.engines.values import LineScales

SHAPES = [(1, 1), (1, 40), (40, 1), (30, 50), (700, 20)]
TYPES = [np.float32, np.float64]


def cells(shape, dtype=float, weights=False, seed=0, share=0.4):
    rng = np.random.default_rng(seed)
    rows, cols = np.nonzero(rng.random(shape) < share)
    order = rng.permutation(len(rows))
    rows, cols = rows[order], cols[order]
    y = rng.standard_normal(len(rows)).astype(dtype)
    w = rng.uniform(0.5, 2.0, len(rows)).astype(dtype) if weights else None
    Y = sp.coo_array((y, (rows, cols)), shape).toarray().astype(float)
    W = sp.coo_array((np.ones(len(y)) if w is None else w, (rows, cols)), shape).toarray()
    return ENGINE.both_orders(rows, cols, y, w, shape), Y, W


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("index", [np.int32, np.int64, np.uint16])
@pytest.mark.parametrize("shape", SHAPES)
def test_orders_are_those_of_scipy(shape, index, dtype) -> None:
    rng = np.random.default_rng(0)
    rows, cols = (x.astype(index) for x in np.nonzero(rng.random(shape) < 0.5))
    values = rng.standard_normal(len(rows)).astype(dtype)
    shuffled = rng.permutation(len(rows))
    by_row, by_col = ENGINE.both_orders(
        rows[shuffled], cols[shuffled], values[shuffled], None, shape
    )
    matrix = sp.coo_array((values, (rows, cols)), shape)
    for found, expected in ((by_row, matrix.tocsr()), (by_col, matrix.tocsc())):
        expected.sort_indices()
        np.testing.assert_array_equal(found.pointers, expected.indptr)
        np.testing.assert_array_equal(found.indices, expected.indices)
        np.testing.assert_array_equal(found.values, expected.data)
        assert found.pointers.dtype == np.int64
        assert found.indices.dtype == np.int32
        assert found.values.dtype == dtype


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("sums", [1, 10**9])
def test_products_the_other_way(monkeypatch, sums, shape, dtype) -> None:
    monkeypatch.setattr(orders, "RUN_CELLS_PER_SUM", sums)  # many runs, or one
    both, Y, _ = cells(shape, dtype)
    rng = np.random.default_rng(1)
    for order, matrix in zip(both, (Y, Y.T), strict=True):
        x = rng.standard_normal(matrix.shape[0])
        found = ENGINE.transposed_product(order, order.values, 0.5, x, matrix.shape[1])
        np.testing.assert_allclose(found, 0.5 * matrix.T @ x, atol=1e-12)
        rounded = ENGINE.transposed_product(
            order, order.values, 0.5, x.astype("f"), matrix.shape[1]
        )
        np.testing.assert_allclose(rounded, 0.5 * matrix.T @ x.astype("f"), atol=1e-12)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_products_with_several_columns(shape, dtype) -> None:
    """Of every number of vectors of columns side by side, and of those that are left."""
    both, Y, _ = cells(shape, dtype)
    rng = np.random.default_rng(1)
    for columns in (0, 1, 16, 21, 40, 64, 70, 81):
        for order, matrix in zip(both, (Y, Y.T), strict=True):
            X = rng.standard_normal((matrix.shape[1], columns)).astype(dtype)
            found = ENGINE.products(order, order.values, 0.5, X)
            wanted = 0.5 * matrix @ X.astype(float)
            size = 0.5 * abs(matrix) @ abs(X.astype(float))
            assert np.all(abs(found - wanted) <= 8 * np.finfo(dtype).eps * size + 1e-12)


def test_products_of_long_rows_keep_their_digits() -> None:
    """Sums of many cells are not summed in single precision, which would lose three digits."""
    count = 200_001
    at = np.arange(count, dtype=np.int32)
    tenths = np.full(count, 0.1, np.float32)
    order, _ = ENGINE.both_orders(0 * at, at, tenths, None, (1, count))
    found = ENGINE.products(order, order.values, 1.0, np.ones((count, 3), np.float32))
    np.testing.assert_allclose(found, count * float(np.float32(0.1)), rtol=1e-6)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_matvec(shape, dtype) -> None:
    (by_row, by_col), Y, _ = cells(shape, dtype)
    rng = np.random.default_rng(1)
    for order, matrix in ((by_row, Y), (by_col, Y.T)):
        x, out = rng.standard_normal(matrix.shape[1]), np.full(matrix.shape[0], np.nan)
        cpu.matvec(order.pointers, order.indices, order.values, order.blocks, 0.5, x, out)
        np.testing.assert_allclose(out, 0.5 * matrix @ x, atol=1e-12)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("rank", [0, 1, 5])
@pytest.mark.parametrize("shape", SHAPES)
def test_residuals(shape, rank, weights, dtype) -> None:
    (order, _), Y, W = cells(shape, dtype, weights)
    rng = np.random.default_rng(2)
    P, Q = rng.standard_normal((shape[0], rank)), rng.standard_normal((shape[1], rank))
    out, sums = np.empty_like(order.values), np.empty((len(order.blocks) - 1, 2))
    cpu.residuals(*order[:5], P, Q, out, sums)
    Z = P @ Q.T
    R = np.where(W > 0, Z - Y, 0.0)
    at = np.repeat(np.arange(shape[0]), order.counts()), order.indices
    np.testing.assert_allclose(out, (W * R)[at], rtol=2e-6 if dtype is np.float32 else 1e-9)
    total = [np.sum(W * R * R), np.sum(W * R * Z)]
    np.testing.assert_allclose(sums.sum(axis=0), total, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("coded", [False, True])
@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("dtype", TYPES)
def test_residuals_of_rows_and_ranks_of_any_length(dtype, weights, coded) -> None:
    """Rows that fill groups of cells and vectors of numbers, or leave some; sums in float64."""
    lengths = [0, 1, 7, 8, 9, 15, 16, 17, 0, 33]
    shape = len(lengths), 40
    rng = np.random.default_rng(0)
    rows = np.repeat(np.arange(len(lengths)), lengths)
    cols = np.concatenate([rng.permutation(40)[:count] for count in lengths])
    y = rng.integers(1, 6, len(rows)).astype(dtype)
    w = rng.uniform(0.5, 2.0, len(rows)).astype(dtype) if weights else None
    order, _ = ENGINE.both_orders(rows, cols, y, w, shape)
    plain, heavy = order.values, order.weights if weights else np.ones_like(order.values)
    if coded:
        order = order._replace(values=encode_values(plain))
    for rank in (0, 1, 7, 8, 9, 16, 19):
        P, Q = (rng.standard_normal((size, rank)).astype(dtype) for size in shape)
        own, other = P.astype(float)[rows], Q.astype(float)[order.indices]
        z = np.einsum("tk,tk->t", own, other)
        wanted = (heavy * (z - plain).astype(float)).astype(float)
        out = ENGINE.residuals(order, P, Q)
        np.testing.assert_allclose(out.data, wanted, rtol=1e-6 if dtype is np.float32 else 1e-12)
        X = rng.standard_normal((shape[1], 3))
        fresh = ENGINE.fresh_products(order, P, Q, 0.5, X)
        S = sp.csr_array((wanted, order.indices, order.pointers), shape)
        np.testing.assert_allclose(fresh.data, 0.5 * S @ X, atol=1e-10)
        for found in (out, fresh):
            np.testing.assert_allclose(found.squares, np.sum(wanted * (z - plain)), rtol=1e-12)
            np.testing.assert_allclose(found.inner, wanted @ z, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_cross_grams(shape, weights) -> None:
    (_, order), _, W = cells(shape, float, weights)
    rng = np.random.default_rng(3)
    X, x = rng.standard_normal((shape[0], 4)), rng.standard_normal(shape[0])
    out = np.full((shape[1], 4), np.nan)
    cpu.cross_grams(order.pointers, order.indices, order.weights, order.blocks, X, x, out)
    np.testing.assert_allclose(out, np.einsum("ij,i,ik->jk", W, x, X), atol=1e-10)


@pytest.mark.parametrize("weights", [False, True])
def test_row_systems(weights) -> None:
    (order, _), Y, W = cells((9, 12), float, weights)
    rng = np.random.default_rng(4)
    V, offset = rng.standard_normal((12, 3)), rng.standard_normal(12)
    grams, sides = np.full((5, 3, 3), np.nan), np.full((5, 3), np.nan)
    cpu.row_systems(
        order.pointers, order.indices, order.values, order.weights, 2, offset, V, grams, sides
    )
    part = slice(2, 7)
    np.testing.assert_allclose(grams, np.einsum("ij,jk,jl->ikl", W[part], V, V), atol=1e-12)
    np.testing.assert_allclose(sides, (W * (Y - offset))[part] @ V, atol=1e-12)


@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="this machine has one thread")
def test_kernels_give_the_same_bits_for_any_number_of_threads() -> None:
    (by_row, by_col), _, _ = cells((900, 700), np.float32, True, share=0.05)
    rng = np.random.default_rng(5)
    P, Q, x = rng.standard_normal((900, 6)), rng.standard_normal((700, 6)), rng.standard_normal(700)

    def results(threads: int) -> list[np.ndarray]:
        set_num_threads(threads)
        y, out = np.empty(900), np.empty_like(by_row.values)
        sums, crossed = np.empty((len(by_row.blocks) - 1, 2)), np.empty((700, 6))
        cpu.matvec(by_row.pointers, by_row.indices, by_row.values, by_row.blocks, 1.0, x, y)
        cpu.residuals(*by_row[:5], P, Q, out, sums)
        cpu.cross_grams(
            by_col.pointers,
            by_col.indices,
            by_col.weights,
            by_col.blocks,
            P,
            P[:, 0].copy(),
            crossed,
        )
        scattered = ENGINE.transposed_product(by_row, by_row.values, 1.0, P[:, 0], 700)
        return [y, out, sums, crossed, scattered]

    for one, two in zip(results(1), results(2), strict=True):
        np.testing.assert_array_equal(one, two)


def test_blocks_cover_every_group_once_and_share_the_work() -> None:
    rng = np.random.default_rng(0)
    for groups in (1, 3, 5000):
        counts = rng.geometric(0.01, groups) - 1
        pointers = np.concatenate([[0], np.cumsum(counts)])
        blocks = block_bounds(pointers)
        assert blocks[0] == 0
        assert blocks[-1] == groups
        assert np.all(np.diff(blocks) > 0)
        assert len(blocks) - 1 <= BLOCK_COUNT
    load = np.diff(pointers[blocks])
    assert load.max() <= 3 * pointers[-1] / BLOCK_COUNT + counts.max()
    far = block_bounds(np.array([0, 2**31 + 5, 2**32 + 9]))
    assert list(far) == [0, 1, 2]


def sparse_memory(count: int, dtype) -> np.ndarray:
    """Zeros of which only the touched pages exist."""
    size = count * np.dtype(dtype).itemsize
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
    try:
        return np.frombuffer(mmap.mmap(-1, size, flags=flags), dtype)
    except (OSError, ValueError) as error:
        pytest.skip(f"this machine gives no {size / 2**30:.0f} GiB of address space: {error}")


@pytest.mark.skipif(not hasattr(mmap, "MAP_ANONYMOUS"), reason="needs anonymous memory maps")
def test_cells_beyond_two_to_the_31() -> None:
    """Two groups of cells that lie at offsets no 32-bit integer can hold."""
    first, stop = 2**31 + 5, 2**31 + 12
    pointers = np.array([first, first + 3, stop])
    blocks = np.array([0, 1, 2])
    indices, values, out = (sparse_memory(stop, t) for t in (np.int32, np.float32, np.float32))
    where = slice(first, stop)
    indices[where] = [0, 2, 3, 0, 1, 2, 3]
    values[where] = np.arange(1, 8)
    Y = np.array([[1.0, 0.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0]])
    seen, none = Y > 0, np.zeros(0, np.float32)
    rng = np.random.default_rng(0)
    P, Q = rng.standard_normal((2, 3)), rng.standard_normal((4, 3))

    product = np.empty(2)
    cpu.matvec(pointers, indices, values, blocks, 1.0, Q[:, 0].copy(), product)
    np.testing.assert_allclose(product, Y @ Q[:, 0])
    sums = np.empty((2, 2))
    cpu.residuals(pointers, indices, values, none, blocks, P, Q, out, sums)
    np.testing.assert_allclose(out[where], (P @ Q.T - Y)[seen], rtol=1e-5)
    crossed = np.empty((2, 3))
    cpu.cross_grams(pointers, indices, none, blocks, Q, Q[:, 1].copy(), crossed)
    np.testing.assert_allclose(crossed, np.einsum("ij,j,jk->ik", 1.0 * seen, Q[:, 1], Q))
    grams, sides = np.empty((2, 3, 3)), np.empty((2, 3))
    cpu.row_systems(pointers, indices, values, none, 0, np.zeros(4), Q, grams, sides)
    np.testing.assert_allclose(grams, np.einsum("ij,jk,jl->ikl", 1.0 * seen, Q, Q))
    np.testing.assert_allclose(sides, Y @ Q)


@pytest.mark.parametrize("shape", SHAPES)
def test_scaled_products_are_those_of_any_engine(shape) -> None:
    both, _, _ = cells(shape, np.float32)
    rng = np.random.default_rng(2)
    for order, size in zip(both, shape[::-1], strict=True):
        X = rng.standard_normal((size, 19)).astype("f")
        own, pull = (rng.random(order.groups).astype("f") for _ in range(2))
        other, shift = rng.random(size).astype("f"), rng.random(19).astype("f")
        for scales in (LineScales(own, None, pull, shift), LineScales(None, other, pull, shift)):
            found = ENGINE.scaled_products(order, order.values, X, scales)
            wanted = Engine.scaled_products(ENGINE, order, order.values, X, scales)
            np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)
