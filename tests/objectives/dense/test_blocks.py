"""Passes over a dense table across the boundaries of its tiles and blocks, of any size, both ways:
a pass knows nothing of how it was cut, and a line nothing of its neighbours.
"""

import numpy as np
import pytest

from oracles import random_low_rank
from pygeco import Dense, Entries
from pygeco.engines.cpu import tiles
from pygeco.losses import Huber, PseudoHuber, Squared
from pygeco.objectives.dense import sweep as dense_sweep

SHAPES = [(1, 40), (40, 1), (13, 31), (31, 13), (30, 30)]
TILES = [(1, 1), (1, 64), (64, 1), (4, 5), (13, 13), (256, 512)]


@pytest.fixture(params=TILES, ids=str)
def tile(request, monkeypatch):
    """Tiles of at most so many rows and columns, shared out among threads."""
    monkeypatch.setattr(tiles, "TILE_ROWS", request.param[0])
    monkeypatch.setattr(tiles, "TILE_COLS", request.param[1])
    monkeypatch.setattr(tiles, "MAX_SERIAL_CELLS", 0)
    monkeypatch.setattr(tiles, "MIN_PART_LINES", 3)


def table(shape, dtype=float, order="C", seed=0):
    rng = np.random.default_rng(seed)
    Y = 20 * rng.standard_normal(shape)
    if np.dtype(dtype).kind != "f":
        return np.asarray(Y + 100, order=order).clip(0, 255).astype(dtype)
    Y[rng.random(shape) < 0.2] = np.nan
    Y[0, 0] = 3.0
    return np.asarray(Y, dtype, order=order)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.usefixtures("tile")
def test_outliers_are_those_of_the_dense_matrix(shape, dtype, order) -> None:
    Y, A = table(shape, dtype, order), random_low_rank(shape, 1)
    mask = np.random.default_rng(1).random(shape) < 0.9
    mask[0, 0] = True
    for seen in (None, mask):
        found = Dense(Y, mask=seen).outliers(A, 15.0)
        assert found.shape == shape
        assert found.has_canonical_format
        rest = Y.astype(float) - A.to_dense()
        far = (np.abs(rest) > 15.0) & (True if seen is None else seen)
        np.testing.assert_array_equal(found.indices, np.nonzero(far)[1])
        np.testing.assert_array_equal(np.diff(found.indptr), far.sum(axis=1))
        np.testing.assert_allclose(found.toarray(), np.where(far, rest, 0.0), rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("loss", [Squared(), Huber(8.0), PseudoHuber(8.0)], ids=lambda x: x.name)
@pytest.mark.usefixtures("tile")
def test_sums_over_lines_are_those_of_the_dense_matrix(shape, order, loss) -> None:
    Y, A = table(shape, order=order), random_low_rank(shape, 2)
    rng = np.random.default_rng(2)
    W = rng.uniform(0, 2, shape) * (rng.random(shape) < 0.8)
    W[0, 0] = 1.0
    objective = Dense(Y, loss, sample_weight=W)
    seen = ~np.isnan(Y) & (W > 0)
    w, y, Z = W * seen, np.where(seen, Y, 1.0), A.to_dense()
    value, slope = w * loss.value(Z, y), w * loss.slope(Z, y)
    if loss.clipped is None:
        bend = w * loss.stiffness(Z, y)
    else:  # the secant, of which reweighted squares are made
        bend = np.abs(slope) / np.maximum(np.abs(Z - y), 1e-300)
    for columns in (False, True):
        P, Q = (A.V, A.left) if columns else (A.left, A.V)
        found = objective.lines(columns, P, Q, Q, curved=True)
        turn = np.transpose if columns else np.asarray
        expected = (
            turn(slope) @ Q,
            turn(value).sum(axis=1),
            turn(bend).sum(axis=1),
            np.einsum("ij,jk,jl->ikl", turn(bend), Q, Q),
        )
        for part, known in zip(found, expected, strict=True):
            np.testing.assert_allclose(part, known, rtol=1e-10, atol=1e-10)
    total, heaviest, infinite = objective.engine.census(objective.table)
    assert (total, heaviest, infinite) == (pytest.approx(w.sum()), w.max(), 0)
    medians = [np.median(Y[at, j]) if at.any() else 0.0 for j, at in enumerate(seen.T)]
    np.testing.assert_allclose(objective.medians(), medians, atol=1e-12)


WIDE = 20  # columns: more than have their systems formed in every case
ROOMS = [1, 3 * WIDE**2, 7 * WIDE**2, 1 << 25]


@pytest.fixture(params=ROOMS)
def room(request, monkeypatch):
    """Room for the systems of so many lines at once."""
    monkeypatch.setattr(dense_sweep, "ROOM", request.param)


@pytest.mark.parametrize("side", ["column", "row"])
@pytest.mark.parametrize("loss", [Squared(), Huber(2.0), PseudoHuber(2.0)], ids=lambda x: x.name)
@pytest.mark.usefixtures("room")
def test_half_sweep_is_the_argmin_of_each_line_alone(side, loss) -> None:
    rng = np.random.default_rng(3)
    fixed = rng.standard_normal((90, WIDE))
    fixed[::4] *= 30  # where such a cell is missing, a line's system is like no other's
    lines = rng.standard_normal((15, WIDE)) @ fixed.T + rng.standard_normal((15, 90))
    lines[rng.random(lines.shape) < 0.1] += 50
    lines[rng.random(lines.shape) < 0.3] = np.nan
    ridge = rng.uniform(0, 1e-4, 15)

    def solve(some):
        Y = lines[some].T if side == "column" else lines[some]
        objective = Dense(Y, loss)
        own = ridge[some] / objective.total_weight
        start = np.zeros((len(own), WIDE))
        W = objective.half_sweep(fixed, start, side=side, ridge=own)
        found = objective.lines(side == "column", W, fixed, fixed)
        slope = found.sides + 2 * ridge[some][:, None] * W
        assert np.abs(slope).max() < 1e-4 * np.abs(fixed).sum(axis=0).max()
        return W

    together = solve(np.arange(15))
    alone = np.concatenate([solve(np.array([i])) for i in range(15)])
    np.testing.assert_allclose(together, alone, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", [float, np.float32, np.uint8])
@pytest.mark.parametrize("at", [(0, 0), (600, 3), (699, 299)])
def test_a_level_of_a_single_cell_is_a_level(dtype, at) -> None:
    rng = np.random.default_rng(4)
    Y = rng.integers(1, 4, (700, 300)).astype(dtype)
    Y[at] = 9
    found, known = Dense(Y, "ordinal"), Entries.from_dense(Y.astype(float), loss="ordinal")
    assert found.loss.levels == (1.0, 2.0, 3.0, 9.0)
    assert found.loss.thresholds == pytest.approx(known.loss.thresholds)
    assert found.table.values[at] == 3
    mask = np.ones(Y.shape, bool)
    mask[at] = False  # a cell that is not observed has no level
    assert Dense(Y, "ordinal", mask=mask).loss.levels == (1.0, 2.0, 3.0)


def test_labels_are_of_one_kind_in_all_rows() -> None:
    Y = np.ones((600, 4))
    Y[:256:2], Y[599, 3] = 0.0, -1.0
    with pytest.raises(ValueError, match="labels −1 and"):
        Dense(Y, "logistic")
    np.testing.assert_array_equal(Dense(Y[256:], "logistic").table.values, Y[256:])
    np.testing.assert_array_equal(Dense(Y[:256], "logistic").table.values, 2 * Y[:256] - 1)
