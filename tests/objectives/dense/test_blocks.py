"""Passes over a dense table across the boundaries of its tiles and blocks, of any size, both ways:
a pass knows nothing of how it was cut, and a line nothing of its neighbors.
"""

from itertools import product

import numpy as np
import pytest

from oracles import random_low_rank
from pygeco import Dense
from pygeco.engines.cpu import tiles
from pygeco.losses import Huber, PseudoHuber, Squared

SHAPES = [(1, 40), (40, 1), (13, 31), (31, 13), (30, 30)]
TILES = [(1, 1), (1, 64), (64, 1), (4, 5), (13, 13), (256, 512)]


@pytest.fixture(params=TILES, ids=str)
def tile(request, monkeypatch):
    """Tiles of at most so many rows and columns, shared out among threads."""
    monkeypatch.setattr(tiles, "TILE_ROWS", request.param[0])
    monkeypatch.setattr(tiles, "TILE_COLS", request.param[1])
    monkeypatch.setattr(tiles, "MAX_SERIAL_CELLS", 0)
    monkeypatch.setattr(tiles, "MIN_PART_LINES", 3)
    monkeypatch.setattr(tiles, "MIN_SORT_COLS", request.param[1])


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
    each = np.random.default_rng(2).uniform(1.0, 60.0, shape[1])
    for seen, threshold in product((None, mask), (15.0, each)):
        found = Dense(Y, mask=seen).outliers(A, threshold)
        assert found.shape == shape
        assert found.has_canonical_format
        rest = Y.astype(float) - A.to_dense()
        far = (np.abs(rest) > threshold) & (True if seen is None else seen)
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
    rest, found = np.abs(Y - Z), objective.deviations(A)
    middle = [np.median(rest[at, j]) if at.any() else 0.0 for j, at in enumerate(seen.T)]
    np.testing.assert_allclose(found.medians, middle, atol=1e-12)
    np.testing.assert_array_equal(found.counts, seen.sum(axis=0))
