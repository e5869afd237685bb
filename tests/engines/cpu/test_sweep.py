"""Half-sweeps against dense algebra, where rows have as many cells as a chunk, or one more."""

from functools import cache

import numpy as np
import pytest

from pygeco import Entries
from pygeco.engines.cpu.row_tables import CHUNK
from pygeco.objectives.entries.half_sweep import Side, half_sweep

COUNTS = [0, 1, CHUNK - 1, 2, CHUNK, CHUNK + 1, 0, 3, 2 * CHUNK - 1, 2 * CHUNK, 2 * CHUNK + 1]
COLUMNS = 2 * CHUNK + 9
TAU = 0.7


@cache
def make(dtype, s, weighted):
    """Cells, both sides, and weights and values as dense tables."""
    rng = np.random.default_rng(0)
    rows = np.repeat(np.arange(len(COUNTS)), COUNTS)
    cols = np.concatenate([rng.permutation(COLUMNS)[:count] for count in COUNTS])
    values = rng.standard_normal(len(rows)).astype(dtype)
    weights = (rng.uniform(0.5, 2, len(rows)) if weighted else np.ones(len(rows))).astype(dtype)
    shape = len(COUNTS), COLUMNS
    entries = Entries(rows, cols, values, shape, sample_weight=weights if weighted else None)
    dense = np.zeros((2, *shape))
    dense[:, rows, cols] = values, weights

    def side(size):
        factor, bias = rng.standard_normal((size, s)), rng.standard_normal(size)
        parts = factor, bias, rng.uniform(0, 0.3, (size, s)), rng.uniform(0, 0.3, size)
        return Side(*(part.astype(dtype) for part in parts))

    return entries, side(shape[0]), side(shape[1]), dense


def solve(partner, values, weights, prior, offsets, vague):
    """Means, variances and Σ w Var(ŷ) of all rows, by dense algebra."""
    V, W = (np.asarray(x, float) for x in (partner.factor, partner.variance))
    beyond = np.ones((len(V), 1)) if offsets else np.zeros((len(V), 0))
    X, S = np.hstack([V, beyond]), np.hstack([W, 0 * beyond]) * vague
    means, variances, uncertainty = [], [], 0.0
    for y, w in zip(values, weights, strict=True):
        data = X.T @ (w[:, None] * X) + np.diag(w @ S)
        inverse = np.linalg.inv(prior + TAU * data)
        mean = inverse @ (TAU * X.T @ (w * (y - partner.bias)))
        means.append(mean)
        variances.append(np.diag(inverse))
        uncertainty += (w @ S) @ mean**2 + np.diag(inverse) @ np.diag(data)
        uncertainty += vague * (w @ np.asarray(partner.bias_variance, float))
    return np.array(means), np.array(variances), uncertainty


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("vague", [False, True])
@pytest.mark.parametrize("offsets", [False, True])
@pytest.mark.parametrize("s", [1, 7, 8, 9, 16, 17, 24, 32, 33])
def test_rows_of_any_length_are_solved_as_dense_systems(s, offsets, vague, weighted, dtype):
    entries, own, partner, (values, weights) = make(dtype, s, weighted)
    given = partner if vague else Side(*partner[:2])
    prior = np.diag(np.linspace(1, 3, s + offsets))
    found = half_sweep(
        entries.by_row, own, given, prior=prior, tau=TAU, variances=True, offsets=offsets
    )
    means, variances, uncertainty = solve(partner, values, weights, prior, offsets, vague)
    rtol = 2e-4 if dtype == np.float32 else 1e-10
    np.testing.assert_allclose(found.side.factor, means[:, :s], rtol=rtol, atol=rtol)
    np.testing.assert_allclose(found.side.variance, variances[:, :s], rtol=rtol)
    if offsets:
        np.testing.assert_allclose(found.side.bias, means[:, s], rtol=rtol, atol=rtol)
        np.testing.assert_allclose(found.side.bias_variance, variances[:, s], rtol=rtol)
    assert found.uncertainty == pytest.approx(uncertainty, rel=rtol)


def test_a_row_is_solved_alike_wherever_it_stands():
    # Tables are used again for other rows, and are not cleared between them.
    entries, own, partner, _ = make(np.float32, 9, True)
    order = np.random.default_rng(1).permutation(len(COUNTS))
    cells = entries.by_row
    rows = np.argsort(order)[np.repeat(np.arange(len(COUNTS)), COUNTS)]
    given = rows, np.asarray(cells.indices), np.asarray(cells.values), entries.shape
    moved = Entries(*given, sample_weight=np.asarray(cells.weights))
    prior = np.eye(10)
    first = half_sweep(entries.by_row, own, partner, prior=prior, variances=True).side
    again = half_sweep(
        moved.by_row, Side(*(x[order] for x in own)), partner, prior=prior, variances=True
    ).side
    for one, two in zip(first, again, strict=True):
        np.testing.assert_array_equal(one[order], two)
