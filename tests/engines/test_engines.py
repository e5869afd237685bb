"""The laws of an engine, against dense NumPy: one body for "cpu", for "cuda" compiled for the CPU
and, where there is a GPU, for "cuda" itself.
"""

from itertools import pairwise

import numpy as np
import pytest

from cuda_on_cpu import EmulatedCuda, emulated_engine
from noise_cases import make_noisy_cells
from pygeco import Entries, losses
from pygeco.arrays.kinds import host, moved, on
from pygeco.bayes.evidence import fit_evidence
from pygeco.engines import choose_engine
from pygeco.engines.cpu import cells, separable, tiles
from pygeco.engines.cuda import engine as cuda
from pygeco.engines.cuda import products as cuda_products
from pygeco.engines.cuda import tables as cuda_tables
from pygeco.engines.cuda import work_items
from pygeco.engines.cuda.driver import count_gpus
from pygeco.engines.values import LineScales, Ridges, Table

# Each shape by row or by column, the plain one by both.
ORDERS = [
    ((1, 1), False), ((1, 60), True), ((30, 1), False), ((23, 31), False), ((23, 31), True),
    ((3, 140), True),
]  # fmt: skip
TYPES = [np.float32, np.float64]
gpu = pytest.mark.skipif(not count_gpus(), reason="no GPU")


@pytest.fixture(scope="module")
def emulated(tmp_path_factory):
    return emulated_engine(tmp_path_factory.mktemp("kernels"))


# Sizes of tiles, blocks and work items: as they are, and so small that everything is cut in many.
SMALL = {
    "cpu": ((tiles, "TILE_ROWS", 3), (tiles, "TILE_COLS", 4), (tiles, "MAX_SERIAL_CELLS", 0),
            (tiles, "MIN_PART_LINES", 2), (tiles, "MIN_SORT_COLS", 3), (cells, "BLOCK_COUNT", 5),
            (cells, "MAX_SCATTER_RUNS", 3), (cells, "RUN_CELLS_PER_SUM", 1),
            (separable, "CHUNK_CELLS", 16)),
    "emulated": ((work_items, "MIN_ITEM_CELLS", 32), (work_items, "RANGE_BYTES", 64),
                 (work_items, "MIN_RANGE_CELLS", 4), (work_items, "MIN_RANGED_CELLS", 0),
                 (work_items, "MIN_CHUNK_CELLS", 24), (cuda_products, "BLOCK", 64),
                 (work_items, "MAX_PIECE_CELLS", 5), (work_items, "PARTIAL_BYTES", 1 << 14),
                 (cuda, "RUN_CELLS", 1 << 7), (cuda_tables, "RUN_CELLS", 30)),
}  # fmt: skip


@pytest.fixture(
    params=["cpu", "cpu small", "emulated small", pytest.param("cuda", marks=gpu)], ids=str
)
def engine(request, monkeypatch):
    name, *small = request.param.split()
    for module, size, value in SMALL[name] if small else ():
        monkeypatch.setattr(module, size, value)
    return request.getfixturevalue("emulated") if name == "emulated" else choose_engine(name)


class Problem:
    """Cells in an engine's arrays, and the same as dense arrays Y and W, zero where unobserved."""

    def __init__(self, engine, shape, dtype, weights, columns=False, seed=0):
        rng = self.rng = np.random.default_rng(seed)
        seen = rng.random(shape) < 0.6
        seen[0, 0] = True
        rows, cols = np.nonzero(seen)
        order = rng.permutation(len(rows))
        rows, cols = rows[order], cols[order]
        y = rng.standard_normal(len(rows)).astype(dtype)
        w = rng.uniform(0.5, 2.0, len(rows)).astype(dtype) if weights else None
        self.engine, self.dtype = engine, dtype
        given = [None if x is None else on(x, engine.kind) for x in (rows, cols, y, w)]
        self.both = engine.both_orders(*given, shape)
        self.cells = self.both[int(columns)]
        Y, W = np.zeros(shape), np.zeros(shape)
        Y[rows, cols], W[rows, cols] = y, 1.0 if w is None else w
        self.Y, self.W = (Y.T, W.T) if columns else (Y, W)
        self.groups, self.others = self.Y.shape
        # Of what the engine "cpu" finds in double precision, and a GPU in that of the cells.
        self.digits = 9 if engine.name == "cpu" or dtype is np.float64 else 6

    def normal(self, *shape, dtype=float):
        x = self.rng.standard_normal(shape).astype(dtype)
        return x, on(x, self.engine.kind)

    def at_cells(self, dense):
        """The numbers at the cells, in their order."""
        counts = np.diff(host(self.cells.pointers))
        return dense[np.repeat(np.arange(self.groups), counts), host(self.cells.indices)]

    def close(self, found, expected, digits=None):
        digits = {np.float32: 4, np.float64: 10}[self.dtype] if digits is None else digits
        scale = max(1.0, float(np.abs(expected).max(initial=0.0)))
        np.testing.assert_allclose(host(found), expected, rtol=0, atol=scale * 10.0**-digits)


@pytest.fixture(params=ORDERS, ids=str)
def problem(request, engine):
    def make(dtype=np.float64, weights=True):
        return Problem(engine, request.param[0], dtype, weights, request.param[1])

    return make


@pytest.mark.parametrize("dtype", TYPES)
def test_orders_are_sorted_and_hold_every_cell(problem, dtype) -> None:
    p = problem(dtype)
    pointers, indices = host(p.cells.pointers), host(p.cells.indices)
    assert pointers.dtype == np.int64
    assert indices.dtype == np.int32
    np.testing.assert_array_equal(np.diff(pointers), np.count_nonzero(p.W, axis=1))
    np.testing.assert_array_equal(indices, np.nonzero(p.W)[1])
    np.testing.assert_array_equal(host(p.cells.values), p.Y[p.W > 0].astype(dtype))
    np.testing.assert_array_equal(host(p.cells.weights), p.W[p.W > 0].astype(dtype))


def test_the_other_order(engine) -> None:
    p = Problem(engine, (23, 31), np.float64, False)
    by_row, by_col = p.both
    found = engine.reorder_by_column(by_row, by_col, by_row.values)
    if engine.name == "cpu":
        assert found is None
    else:
        np.testing.assert_array_equal(host(found), host(by_col.values))


@pytest.mark.parametrize("dtype", TYPES)
def test_products(problem, dtype) -> None:
    p = problem(dtype)
    x, x_here = p.normal(p.others)
    p.close(p.engine.product(p.cells, p.cells.values, 0.5, x_here), 0.5 * p.Y @ x, p.digits)
    x, x_here = p.normal(p.groups)
    found = p.engine.transposed_product(p.cells, p.cells.values, 0.5, x_here, p.others)
    p.close(found, 0.5 * p.Y.T @ x, 10)
    for k in (1, 5, 37):
        X, X_here = p.normal(p.others, k)
        p.close(p.engine.products(p.cells, p.cells.values, 0.5, X_here), 0.5 * p.Y @ X)
    # Numbers at the cells may have another precision than the cells' own.
    other = p.cells.values.astype(np.float32 if dtype is np.float64 else np.float64)
    p.close(p.engine.products(p.cells, other, 0.5, X_here), 0.5 * p.Y @ X, 4)


@pytest.mark.parametrize("columns", [False, True])
def test_products_by_ranges_that_no_block_keeps(emulated, columns, monkeypatch) -> None:
    sizes = {"RANGE_BYTES": 8, "WIDE_RANGE_BYTES": 64, "MAX_PIECE_CELLS": 5}
    for name, value in {**sizes, "MIN_RANGED_CELLS": 0, "MIN_RANGE_CELLS": 4}.items():
        monkeypatch.setattr(work_items, name, value)
    p = Problem(emulated, (23, 31), np.float64, False, columns)
    ranges = p.cells.blocks.ranges
    assert ranges.parts > 1
    assert not ranges.is_shared
    x, x_here = p.normal(p.others)
    p.close(emulated.product(p.cells, p.cells.values, 0.5, x_here), 0.5 * p.Y @ x)


@pytest.mark.parametrize("dtype", TYPES)
def test_scaled_products(problem, dtype) -> None:
    p = problem(dtype)
    for k in (1, 37):
        (X, X_here), (shift, shift_here) = p.normal(p.others, k), p.normal(k)
        (own, own_here), (pull, pull_here) = p.normal(p.groups), p.normal(p.groups)
        other, other_here = p.normal(p.others)
        data = p.cells.values
        for given, left, right in (
            (LineScales(own_here, None, pull_here, shift_here), own, np.ones(p.others)),
            (LineScales(None, other_here, pull_here, shift_here), np.ones(p.groups), other),
        ):
            given = LineScales(*(None if x is None else x.astype(dtype) for x in given))
            found = p.engine.scaled_products(p.cells, data, X_here.astype(dtype), given)
            assert found.dtype == dtype
            p.close(found, left[:, None] * (p.Y @ (right[:, None] * X)) - np.outer(pull, shift))


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("dtype", TYPES)
def test_residuals(problem, dtype, weights) -> None:
    p = problem(dtype, weights)
    for s in (0, 1, 5, 19):
        (P, P_here), (Q, Q_here) = p.normal(p.groups, s), p.normal(p.others, s)
        Z = P @ Q.T
        found = p.engine.residuals(p.cells, P_here, Q_here)
        p.close(found.data, p.at_cells(p.W * (Z - p.Y)), 5 if dtype is np.float32 else 10)
        sums = [np.sum(p.W * (Z - p.Y) ** 2), np.sum(p.W * (Z - p.Y) * Z)]
        p.close([found.squares, found.inner], sums, p.digits)
        alone = p.engine.fresh_products(p.cells, P_here, Q_here, 1.0, Q_here[:, :0])
        p.close([alone.squares, alone.inner], sums, p.digits)


@pytest.mark.parametrize("weights", [False, True])
def test_grams(problem, weights) -> None:
    for dtype in TYPES:
        p = problem(dtype, weights)
        for s in (0, 1, 8, 11):
            (Q, Q_here), (x, x_here) = p.normal(p.others, s), p.normal(p.others)
            crossed = p.engine.cross_grams(p.cells, Q_here, x_here)
            p.close(crossed, np.einsum("ij,j,jk->ik", p.W, x, Q), 10)
            grams, sides = p.engine.moments(p.cells, Q_here)
            expected = np.einsum("ij,jk,jl->ikl", p.W, Q, Q)
            p.close(grams, expected, 10)
            p.close(sides, (p.W * p.Y) @ Q, 10)
            part = slice(p.groups // 3, p.groups)
            found = p.engine.row_systems(p.cells, part, x_here, Q_here)
            p.close(found.grams, expected[part], 10)
            p.close(found.sides, ((p.W * (p.Y - x)) @ Q)[part], 10)


@pytest.mark.parametrize("loss", [losses.Huber(0.7), losses.LogCosh()], ids=["huber", "log-cosh"])
@pytest.mark.parametrize("weights", [False, True])
def test_any_loss(problem, loss, weights) -> None:
    for dtype in TYPES:
        p = problem(dtype, weights)
        (P, P_here), (Q, Q_here) = p.normal(p.groups, 6), p.normal(p.others, 6)
        Z = P @ Q.T
        value, slope = p.W * loss.value(Z, p.Y), p.W * loss.slope(Z, p.Y)
        bend = p.W * loss.stiffness(Z, p.Y)
        p.close([p.engine.total(p.cells, loss, P_here, Q_here)], [value.sum()])
        found = p.engine.slopes(p.cells, loss, P_here, Q_here)
        p.close(found.data, p.at_cells(slope))
        p.close([found.value, found.inner], [value.sum(), np.sum(slope * Z)])
        for size in (4, 6):
            some = Q[:, :size]
            found = p.engine.systems(p.cells, loss, P_here, Q_here, size)
            p.close(found.sides, slope @ some)
            p.close(found.values, value.sum(axis=1))
            if dtype is np.float64:  # in float32 a cell near the kink may fall on its other side
                p.close(found.grams, np.einsum("ij,jk,jl->ikl", bend, some, some))
            flat = p.engine.systems(p.cells, loss, P_here, Q_here, size, curved=False)
            p.close(flat.sides, slope @ some)
        part = slice(p.groups // 2, p.groups)
        run = p.cells._replace(pointers=p.cells.pointers[part.start : part.stop + 1])
        found = p.engine.systems(run, loss, P_here[part], Q_here, 6)
        p.close(found.sides, (slope @ Q)[part])


def solved(p, s, ridges, start, W, spread):
    """Every group's system, by NumPy's solver."""
    P = np.column_stack([ridges.partner, np.ones((p.others, int(ridges.offsets)))])
    out, variances, uncertainty = [], [], 0.0
    for i in range(p.groups):
        gram = (P * W[i][:, None]).T @ P
        more = np.zeros(P.shape[1])
        more[:s] = W[i] @ spread
        r = p.Y[i] - ridges.bias
        curvature = gram + np.diag(more)
        system = ridges.tau * curvature + ridges.ridge[i] * ridges.prior
        side = ridges.tau * P.T @ (W[i] * r) + ridges.ridge[i] * ridges.shift
        x = np.linalg.solve(system, side)
        covariance = np.linalg.inv(system)
        out.append(x)
        variances.append(np.diag(covariance))
        uncertainty += W[i] @ ridges.bias_variance + x @ (more * x)
        uncertainty += np.diag(covariance) @ np.diag(curvature)
    return np.array(out), np.array(variances), uncertainty


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("offsets", [False, True])
@pytest.mark.parametrize(
    ("s", "columns"), [(0, True), (1, False), (9, True), (34, False), (67, True)]
)
def test_half_sweeps(engine, s, offsets, weights, columns) -> None:
    if s + offsets == 0:
        return
    for dtype in TYPES:
        p = Problem(engine, (13, 40), dtype, weights, columns)
        d = s + offsets
        factor = p.rng.standard_normal((p.others, s)).astype(dtype)
        spread = p.rng.uniform(0, 0.2, (p.others, s)).astype(dtype)
        bias, other = p.rng.standard_normal(p.others), p.rng.uniform(0, 0.1, p.others)
        A = p.rng.standard_normal((d, d + 3))
        plain = Ridges(
            factor, bias, spread, other, p.rng.uniform(0.5, 2, p.groups), A @ A.T / d + np.eye(d),
            p.rng.standard_normal(d), 1.7, 0.0, None, offsets,
        )  # fmt: skip
        here = moved(plain, engine.kind)._replace(prior=plain.prior, shift=plain.shift)
        start = on(np.zeros((p.groups, d), dtype), engine.kind)
        found = engine.half_sweep(p.cells, start, here, variances=True)
        out, variances, uncertainty = solved(p, s, plain, start, p.W, spread)
        digits = 3 if dtype is np.float32 else 9
        p.close(found.out, out, digits)
        p.close(found.variance, variances, digits)
        p.close([found.uncertainty / uncertainty], [1.0], digits)
        # A draw is the mean plus L⁻ᵀ noise, so its covariance is Λ⁻¹: here, for unit noise.
        noise = on(p.rng.standard_normal((p.groups, d)).astype(dtype), engine.kind)
        drawn = engine.half_sweep(p.cells, start, here._replace(noise=noise), variances=False)
        p.close(drawn.mean, out, digits)
        again = engine.half_sweep(p.cells, start, here._replace(noise=-noise), variances=False)
        p.close((host(drawn.out) + host(again.out)) / 2, out, digits)
        assert drawn.variance is None
        assert float(np.abs(host(drawn.out) - out).max()) > 1e-3


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("s", [1, 20, 27, 64])
def test_half_sweeps_for_factors_alone(engine, s, weights) -> None:
    """Rows of one work item and of several, to the rounding of single precision."""
    p = Problem(engine, (9, 50), np.float32, weights)
    factor = p.rng.standard_normal((50, s)).astype(np.float32)
    ridge, start = p.rng.uniform(5, 9, 9), p.rng.standard_normal((9, s)).astype(np.float32)
    A, bias = p.rng.standard_normal((s, s + 3)), p.rng.standard_normal(50)
    prior, shift = A @ A.T / s + np.eye(s), p.rng.standard_normal((9, s))
    here = (on(x, engine.kind) for x in (factor, bias, ridge, shift, start))
    factor_here, bias_here, ridge_here, shift_here, start_here = here
    ridges = Ridges(
        factor_here, bias_here, None, None, ridge_here, prior, shift_here, 1.7, 0.01, None, False,
    )  # fmt: skip
    found = engine.half_sweep(p.cells, start_here, ridges, variances=False)
    assert found.uncertainty == 0.0
    X, expected = factor.astype(float), []
    for w, y, own, pull, begin in zip(p.W, p.Y, ridge, shift, start, strict=True):
        G = (X.T * w) @ X
        hold = 0.01 * 1.7 * np.trace(G) / s
        right = 1.7 * X.T @ (w * (y - bias)) + own * pull + hold * begin
        expected.append(np.linalg.solve(1.7 * G + own * prior + hold * np.eye(s), right))
    error = np.linalg.norm(host(found.out) - expected) / np.linalg.norm(expected)
    assert error < 2e-6


@pytest.mark.parametrize("columns", [False, True])
def test_half_sweeps_about_a_center_for_each_row(engine, columns) -> None:
    p = Problem(engine, (13, 40), np.float64, True, columns)
    d = 6
    factor, bias = p.rng.standard_normal((p.others, d - 1)), p.rng.standard_normal(p.others)
    centers = p.rng.standard_normal((p.groups, d))
    A = p.rng.standard_normal((d, d + 3))
    P = A @ A.T / d
    ridges = Ridges(
        on(factor, engine.kind), on(bias, engine.kind), None, None,
        on(p.rng.uniform(0.5, 2, p.groups), engine.kind), P, on(centers @ P, engine.kind), 1.7, 0.0,
        None, True,
    )  # fmt: skip
    start = on(np.zeros((p.groups, d)), engine.kind)
    found = host(engine.half_sweep(p.cells, start, ridges, variances=False).out)
    for i, (weights, y, ridge) in enumerate(zip(p.W, p.Y, host(ridges.ridge), strict=True)):
        Z = np.column_stack([factor, np.ones(p.others)])
        right = ridge * P @ centers[i] + 1.7 * Z.T @ (weights * (y - bias))
        expected = np.linalg.solve(ridge * P + 1.7 * (Z * weights[:, None]).T @ Z, right)
        np.testing.assert_allclose(found[i], expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("s", [1, 6, 19, 45, 70])
def test_half_sweeps_before_a_background(engine, s, dtype) -> None:
    """Rows of fewer cells than unknowns and of more, and unknowns beyond a tile and a square."""
    p = Problem(engine, (9, 40), dtype, True)
    factor = (p.rng.standard_normal((40, s)) / np.sqrt(s)).astype(dtype)
    e, back, ridge = p.rng.uniform(0.1, 3, s), p.rng.uniform(0.2, 2, 9), p.rng.uniform(0.1, 1, 9)
    here = (on(x, engine.kind) for x in (factor, ridge, back))
    partner, ridges_here, back_here = here
    ridges = Ridges(
        partner, None, None, None, ridges_here, np.eye(s), np.zeros(s), 1.0, 0.0, None, False,
        back_here, e,
    )  # fmt: skip
    start = on(np.zeros((9, s), dtype), engine.kind)
    found = engine.half_sweep(p.cells, start, ridges, variances=False)
    expected, left = [], 0.0
    for w, y, b, r in zip(p.W, p.Y, back, ridge, strict=True):
        right = factor.T.astype(float) @ (w * y)
        M = (factor.T.astype(float) * w) @ factor + np.diag(b * e + r)
        expected.append(np.linalg.solve(M, right))
        left += np.sum(w * y * y) - right @ expected[-1]
    p.close(found.out, np.array(expected), 3 if dtype is np.float32 else 9)
    assert found.unexplained == pytest.approx(left, rel=1e-4 if dtype is np.float32 else 1e-9)


@pytest.mark.parametrize("columns", [False, True])
def test_small_noise_is_found_beside_large_values(engine, columns) -> None:
    """Long columns: sums of squares in single precision hold nothing of residuals of 1e-4."""
    length = 120 if isinstance(engine, EmulatedCuda) else 2500
    shape = (length, 12) if columns else (12, length)
    data = make_noisy_cells(shape, 1e-4, share=0.8)
    rows, cols, values, _ = data.fitted
    given = [on(x, engine.kind) for x in (rows, cols, values)]
    found = fit_evidence(Entries(*given, shape, engine=engine), rank=2, max_sweeps=15).posterior
    assert found.tau / found.scale**2 == pytest.approx(data.precision, rel=0.15)


@pytest.mark.parametrize("columns", [False, True])
def test_a_singular_system_stays_near_its_start(engine, columns) -> None:
    p = Problem(engine, (6, 8), np.float64, False, columns)
    factor = np.zeros((p.others, 3))
    factor[:, 0] = 1.0  # two of three unknowns are free
    begin, begin_here = p.normal(p.groups, 3)
    ridges = Ridges(
        on(factor, engine.kind), None, None, None, None, np.zeros((3, 3)), np.zeros(3), 1.0, 1e-10,
        None, False,
    )  # fmt: skip
    found = host(engine.half_sweep(p.cells, begin_here, ridges, variances=False).out)
    some = p.W.sum(axis=1) > 0
    np.testing.assert_allclose(found[some, 1:], begin[some, 1:], rtol=1e-6)
    mean = p.Y.sum(axis=1)[some] / p.W.sum(axis=1)[some]
    np.testing.assert_allclose(found[some, 0], mean, atol=1e-8)


def table(engine, values, *weights):
    working = np.float32 if np.can_cast(values.dtype, np.float32) else np.float64
    here = tuple(on(np.broadcast_to(w, values.shape), engine.kind) for w in weights)
    return Table(on(values, engine.kind), here, np.dtype(working), engine)


@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.float32, np.float64])
@pytest.mark.parametrize("loss", [losses.Squared(), losses.Huber(0.7), losses.LogCosh()], ids=str)
@pytest.mark.parametrize("weights", [False, True])
def test_lines_of_a_table(engine, kind, loss, weights) -> None:
    rng = np.random.default_rng(0)
    Y = (10 * rng.random((17, 29))).astype(kind)
    seen = np.ones(Y.shape)
    if np.dtype(kind).kind == "f":
        seen[rng.random(Y.shape) < 0.2] = 0
        Y[seen == 0] = np.nan
    w = (
        rng.uniform(0.0, 2.0, (17, 1)) * (rng.random((17, 1)) < 0.8)
        if weights
        else np.ones((17, 1))
    )
    data = table(engine, Y, *((w,) if weights else ()))
    P, Q = rng.standard_normal((17, 3)), rng.standard_normal((29, 3))
    W, target, Z = w * seen, np.where(seen > 0, Y, 1.0), P @ Q.T
    value, slope = W * loss.value(Z, target), W * loss.slope(Z, target)
    secant = np.abs(slope) / np.maximum(np.abs(Z - target), 1e-300)
    fused = loss.clipped is not None
    bend = secant if fused else W * loss.stiffness(Z, target)
    for by_row in (True, False):
        for k in (0, 4):
            X = rng.standard_normal((29 if by_row else 17, k))
            here = (on(F, engine.kind) for F in (P, Q, X))
            found = engine.lines(data, loss, *here, by_row=by_row, curved=True)
            axis = int(by_row)
            turned = slope if by_row else slope.T
            heavy = bend if by_row else bend.T
            expected = (
                turned @ X, value.sum(axis), bend.sum(axis), np.einsum("ij,jk,jl->ikl", heavy, X, X)
            )  # fmt: skip
            for part, known in zip(found, expected, strict=True):
                scale = max(1.0, np.abs(known).max(initial=0.0))
                np.testing.assert_allclose(host(part), known, rtol=0, atol=3e-5 * scale)


@pytest.mark.parametrize("kind", [np.uint8, np.float32, np.float64])
@pytest.mark.parametrize("weights", [False, True])
def test_medians_census_and_outliers_of_a_table(engine, kind, weights) -> None:
    rng = np.random.default_rng(1)
    for rows in (1, 2, 9, 10):
        Y = np.round(20 * rng.standard_normal((rows, 12)) + (100 if kind is np.uint8 else 0))
        Y = Y.astype(kind)
        if kind is not np.uint8:
            Y[rng.random(Y.shape) < 0.3] = np.nan
            Y[:, 3] = np.nan
        w = (rng.random(Y.shape) < 0.7).astype(float) * 1.5 if weights else np.ones(Y.shape)
        data = table(engine, Y, *((w,) if weights else ()))
        seen = ~np.isnan(Y.astype(float)) & (w > 0)
        columns = [Y[seen[:, j], j].astype(float) for j in range(12)]
        expected = [np.median(column) if len(column) else 0.0 for column in columns]
        np.testing.assert_allclose(host(engine.medians(data)), expected, rtol=1e-6)
        total, heaviest, infinite = engine.census(data)
        assert total == pytest.approx(np.sum(w * seen))
        assert heaviest == pytest.approx(np.max(w * seen, initial=0.0))
        assert infinite == 0
        zero = on(np.zeros((rows, 1)), engine.kind), on(np.zeros((12, 1)), engine.kind)
        i, j, r = (host(x) for x in engine.residuals_beyond(data, *zero, 15.0))
        far = seen & (np.abs(np.nan_to_num(Y.astype(float))) > 15)
        np.testing.assert_array_equal([i, j], np.nonzero(far))
        np.testing.assert_allclose(r, Y[far], rtol=1e-6)
    wild = np.array([[1.0, np.inf], [np.nan, -np.inf]], np.float32)
    assert engine.census(table(engine, wild))[2] == 2


@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.float32, np.float64])
@pytest.mark.parametrize("weights", [False, True])
def test_deviations_of_columns_and_a_threshold_for_each(engine, kind, weights) -> None:
    rng = np.random.default_rng(2)
    for rows, cols in ((1, 12), (2, 12), (9, 30), (10, 1), (40, 12)):
        Y = np.round(20 * rng.standard_normal((rows, cols)) + 100).clip(0, 255).astype(kind)
        if np.dtype(kind).kind == "f":
            Y[rng.random(Y.shape) < 0.3] = np.nan
            Y[:, cols // 2] = np.nan
        w = (rng.random(Y.shape) < 0.7) * rng.uniform(0.5, 2.0, Y.shape)
        data = table(engine, Y, *((w,) if weights else ()))
        seen = ~np.isnan(Y.astype(float)) & ((w > 0) | (not weights))
        limits = rng.uniform(1.0, 40.0, cols)
        for rank in (0, 3):
            P, Q = 3 * rng.standard_normal((rows, rank)), 3 * rng.standard_normal((cols, rank))
            here = on(P, engine.kind), on(Q, engine.kind)
            rest = np.abs(Y.astype(float) - P @ Q.T)
            known = [rest[at, j] for j, at in enumerate(seen.T)]
            found = engine.deviations(data, *here)
            expected = [np.median(column) if len(column) else 0.0 for column in known]
            np.testing.assert_allclose(host(found.medians), expected, rtol=1e-5, atol=1e-5)
            lower = [column[column <= np.median(column)] for column in known if len(column)]
            some = seen.any(axis=0)
            np.testing.assert_allclose(
                host(found.quartiles)[some], [*map(np.median, lower)], rtol=1e-5, atol=1e-5
            )
            assert not host(found.quartiles)[~some].any()
            np.testing.assert_array_equal(host(found.counts), seen.sum(axis=0))
            i, j, _ = map(host, engine.residuals_beyond(data, *here, on(limits, engine.kind)))
            np.testing.assert_array_equal([i, j], np.nonzero(seen & (rest > limits)))


def test_top_k(engine) -> None:
    scores = np.array([[3, 1, 3, 2], [-np.inf, 5, -np.inf, -np.inf]], np.float32)
    found, values = (host(x) for x in engine.top_k(on(scores, engine.kind), 3))
    np.testing.assert_array_equal(found, [[0, 2, 3], [1, -1, -1]])
    np.testing.assert_array_equal(values, [[3, 3, 2], [5, -np.inf, -np.inf]])


def test_work_items_cover_every_cell_once() -> None:
    rng = np.random.default_rng(0)
    for groups in (1, 7, 300):
        counts = rng.geometric(0.002, groups) - 1
        counts[0] = 0
        pointers = 5 + np.concatenate([[0], np.cumsum(counts)])
        items = work_items.split_groups(pointers)
        lengths = np.diff(items.starts)
        assert lengths.max(initial=0) <= items.length
        assert items.starts[0] == 5
        assert items.starts[-1] == pointers[-1]
        np.testing.assert_array_equal(items.starts[items.first], pointers)
        np.testing.assert_array_equal(np.add.reduceat(lengths, items.first[:-1]), counts)
        for most in (1, 3, 10**6):
            groups_of, items_of = zip(*work_items.runs(items, most), strict=True)
            assert groups_of[0].start == items_of[0].start == 0
            assert groups_of[-1].stop == groups
            assert all(a.stop == b.start for a, b in pairwise(groups_of))
            assert all(
                items.first[g.stop] == p.stop for g, p in zip(groups_of, items_of, strict=True)
            )
            assert all(p.stop - p.start <= max(most, items.first[g.stop] - items.first[g.start])
                       for g, p in zip(groups_of, items_of, strict=True))  # fmt: skip


@pytest.mark.skipif(bool(count_gpus()), reason="there is a GPU")
def test_without_a_gpu_the_error_is_clear_and_cupy_is_left_alone() -> None:
    import sys

    with pytest.raises(RuntimeError, match="engine: 'cuda' needs an NVIDIA GPU and its driver"):
        choose_engine("cuda")
    assert "cupy" not in sys.modules


def test_a_row_that_single_precision_cannot_hold_stays_as_it_was(engine) -> None:
    values = on(np.array([0.0, 2e27, 1e30], np.float32), engine.kind)
    rows, cols = (on(np.array(x), engine.kind) for x in ([0, 0, 1], [0, 1, 0]))
    by_col = engine.both_orders(rows, cols, values, None, (2, 2))[1]
    entries = Entries.__new__(Entries)
    entries._take(by_col, by_col, (2, 2))
    fixed, start = (on(np.array(x), engine.kind) for x in ([[-8e-19], [1.0]], [[3.0], [5.0]]))
    found = entries.half_sweep(fixed, start, side="column")
    np.testing.assert_allclose(host(found), [[1e30], [5.0]], rtol=1e-3)
