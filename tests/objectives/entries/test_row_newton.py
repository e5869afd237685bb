"""Rows, columns and offsets under every loss, against a general optimizer."""

import numpy as np
import pytest
import scipy.optimize

from loss_cases import CASES, sample
from pygeco import Entries, losses
from pygeco.objectives.entries import row_newton
from pygeco.objectives.entries.biases import fit_biases, settle_scale
from pygeco.objectives.entries.fold_in import fold_in
from pygeco.objectives.entries.row_newton import minimize_side

EVERY = pytest.mark.parametrize("name", CASES)
LOSSES = pytest.mark.parametrize("name", [name for name in CASES if name != "squared"])


def cells(name, shape, seed=0):
    rng = np.random.default_rng(seed)
    seen = rng.random(shape) < 0.6
    seen[3], seen[:, 2] = False, False
    rows, cols = np.nonzero(seen)
    loss, _, y = sample(name, len(rows), seed)
    w = rng.uniform(0.5, 2, len(rows))
    return loss, rows, cols, y, w


@EVERY
@pytest.mark.parametrize("columns", [False, True])
def test_each_row_is_at_its_minimum(name, columns, monkeypatch):
    monkeypatch.setattr(row_newton, "MAX_GRAM_FLOATS", 60)  # several blocks of rows
    shape, s, ridge = (14, 12), 3, np.array([0.1, 0.2, 0.4])
    loss, rows, cols, y, w = cells(name, shape)
    rng = np.random.default_rng(1)
    row, col = rng.standard_normal(shape[0]), rng.standard_normal(shape[1])
    entries = Entries(rows, cols, y, shape, loss=loss, sample_weight=w).shift(row, col)
    shift = row[rows] + col[cols]
    if name == "squared":  # this one moves its targets instead
        entries, shift = Entries(rows, cols, y, shape, loss=loss, sample_weight=w), 0 * shift
    own, other = (cols, rows) if columns else (rows, cols)
    fixed = rng.standard_normal((shape[0 if columns else 1], s))
    start = rng.standard_normal((shape[1 if columns else 0], s))
    found = minimize_side(entries, start, fixed, columns=columns, ridge=ridge)
    for i, x in enumerate(found):
        at = own == i
        F = fixed[other[at]]

        def goal(x, F=F, at=at):
            z = F @ x + shift[at]
            slope = F.T @ (w[at] * loss.slope(z, y[at])) + 2 * ridge * x
            return w[at] @ loss.value(z, y[at]) + ridge @ (x * x), slope

        best = scipy.optimize.minimize(goal, np.zeros(s), jac=True, options={"gtol": 1e-9})
        assert goal(x)[0] <= best.fun + 1e-9 * (1 + abs(best.fun))


@EVERY
def test_rows_without_cells_and_without_a_ridge(name):
    loss, rows, cols, y, w = cells(name, (14, 12))
    entries = Entries(rows, cols, y, (14, 12), loss=loss, sample_weight=w)
    fixed = np.random.default_rng(1).standard_normal((12, 2))
    found = fold_in(entries, fixed, offset=np.zeros(12), ridge=0.0)
    np.testing.assert_array_equal(found[3], 0)
    assert np.all(np.isfinite(found))


@pytest.mark.parametrize("name", ["huber", "log-cosh", "quantile"])
def test_a_row_with_few_cells_takes_the_smallest_vector(name):
    loss = CASES[name][0]
    entries = Entries([0], [1], [2.0], (1, 3), loss=loss)
    V = np.array([[1.0, 0.0], [3.0, 4.0], [0.0, 1.0]])
    found = fold_in(entries, V, offset=np.zeros(3), ridge=0.0)
    np.testing.assert_allclose(found[0], 2 * V[1] / 25, rtol=1e-5)


def test_rows_of_no_coordinates():
    entries = Entries([0, 1], [1, 0], [2.0, 1.0], loss="huber")
    assert fold_in(entries, np.zeros((2, 0)), offset=np.zeros(2), ridge=0.0).shape == (2, 0)


@LOSSES
def test_biases_are_at_the_minimum(name):
    shape = (14, 12)
    loss, rows, cols, y, w = cells(name, shape)
    entries = Entries(rows, cols, y, shape, loss=loss, sample_weight=w)
    ridge = 0.0 if loss.regression else 0.5

    def goal(mean, row, col):
        z = mean + row[rows] + col[cols]
        return w @ loss.value(z, y) + ridge * (row @ row + col @ col)

    found = fit_biases(entries, ("global", "row", "column"))
    reached = goal(found.mean, found.row, found.col)
    best = scipy.optimize.minimize(
        lambda x: goal(found.mean, x[:14], x[14:]), np.zeros(26), options={"gtol": 1e-7}
    )
    assert reached <= best.fun + 1e-4 * (1 + abs(best.fun))
    assert found.row[3] == 0
    assert found.col[2] == 0
    alone = fit_biases(entries, ("global",)).mean
    flat = np.zeros(14), np.zeros(12)
    middle = scipy.optimize.minimize_scalar(lambda t: goal(t, *flat), options={"xtol": 1e-12})
    assert goal(alone, *flat) <= middle.fun * (1 + 1e-10) + 1e-12


def test_scale_comes_from_the_residuals_of_the_offsets():
    rng = np.random.default_rng(0)
    row, col = 5 * rng.standard_normal(80), 5 * rng.standard_normal(60)
    rows, cols = np.nonzero(rng.random((80, 60)) < 0.5)
    y = row[rows] + col[cols] + 0.3 * rng.standard_normal(len(rows))
    entries = Entries(rows, cols, y, (80, 60), loss="huber")
    assert entries.loss.delta > 5
    scaled = settle_scale(entries, losses.Huber())
    assert scaled.loss.delta == pytest.approx(0.6, rel=0.1)
    assert settle_scale(entries, losses.Huber(2.0)) is entries
    far = rng.random(len(y)) < 0.02
    spoilt = np.where(far, 1e6, 0.3 * rng.standard_normal(len(y)))
    entries = Entries(rows, cols, spoilt, (80, 60), loss="huber")
    assert settle_scale(entries, losses.Huber()).loss.delta == pytest.approx(0.6, rel=0.1)


@pytest.mark.parametrize("steps", [1, 2, 5])
@pytest.mark.parametrize("room", [1, 8, 1 << 23])
def test_a_row_takes_the_same_steps_in_any_company(steps, room, monkeypatch):
    """Rows whose first trials are all too long get more of them; their neighbors do not."""
    rng = np.random.default_rng(5)
    y = rng.standard_normal((9, 12)) * np.geomspace(1e-2, 1e4, 9)[:, None]
    fixed = rng.standard_normal((12, 2))
    monkeypatch.setattr(row_newton, "MAX_GRAM_FLOATS", room)

    def solve(rows):
        i, j = np.indices((len(rows), 12)).reshape(2, -1)
        entries = Entries(i, j, y[rows].reshape(-1), loss=losses.LogCosh(1.0))
        return minimize_side(entries, np.zeros((len(rows), 2)), fixed, steps=steps)

    alone = np.concatenate([solve([i]) for i in range(9)])
    np.testing.assert_allclose(solve(range(9)), alone, rtol=1e-9)
