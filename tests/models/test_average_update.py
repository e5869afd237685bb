"""A mean of draws takes in new cells: it moves as the posterior does."""

import copy

import numpy as np
import pytest

from fake_device import FakeArray
from pygeco import LowRank, MatrixCompletion, engines
from pygeco.bayes.posterior import Posterior
from pygeco.bayes.priors import Gaussian
from pygeco.data import make_ratings
from pygeco.models.average_update import (
    Change,
    Growth,
    choose_sources,
    find_renewed,
    move_matrix,
)
from pygeco.objectives.entries.half_sweep import Side

ROWS, COLS, VALUES, SHAPE = make_ratings((90, 60), 2400, rank=2, noise=0.4, dtype=np.float64)
LATE = np.arange(len(ROWS)) % 10 == 3
EARLY = (ROWS[~LATE], COLS[~LATE], VALUES[~LATE], SHAPE)
NO_GROWTH = Growth(np.zeros(0, int), np.zeros(0, int))
NEW = (ROWS[LATE], COLS[LATE], VALUES[LATE], SHAPE)


def fit(cells=EARLY, **settings) -> MatrixCompletion:
    return MatrixCompletion(posterior=6, random_state=0, clip=False, **settings).fit(cells)


@pytest.fixture(scope="module")
def whole() -> MatrixCompletion:
    return fit((ROWS, COLS, VALUES, SHAPE))


def make_posterior(U, V, scale) -> Posterior:
    sides = [Side(x.astype(np.float32), np.zeros(len(x), np.float32)) for x in (U, V)]
    priors = [Gaussian(np.eye(3), np.zeros(3), np.ones(len(x), bool), offset=True) for x in (U, V)]
    return Posterior(*sides, *priors, tau=1.0, mean=0.0, scale=scale)


def test_a_matrix_of_full_rank_moves_by_the_difference_itself() -> None:
    rng = np.random.default_rng(0)
    U, V, P, Q = (rng.integers(-4, 5, (size, 2)).astype(float) for size in (7, 5, 7, 5))
    A = LowRank.from_dense(rng.standard_normal((7, 5)))
    change = Change(make_posterior(U, V, 3.0), make_posterior(P, Q, 3.0), (NO_GROWTH, NO_GROWTH))
    moved = move_matrix(A, change)
    # With all of ℝ⁵ in the span of the rows, nothing is lost in the first step; U has rank 5 of 7.
    left = A.to_dense() + 3.0 * (P - U) @ V.T
    basis = np.linalg.qr(left)[0]
    expected = left + basis @ basis.T @ (3.0 * P @ (Q - V).T)
    np.testing.assert_allclose(moved.to_dense(), expected, atol=1e-9)
    assert moved.orthonormal


def test_a_line_is_renewed_where_a_fifth_of_its_cells_is_new() -> None:
    growth = Growth(np.array([0, 0, 8, 9, 7]), np.array([0, 1, 10, 10, 7]))
    np.testing.assert_array_equal(find_renewed(growth), [False, True, True, False, False])
    sources = choose_sources(growth, np.random.default_rng(0))
    np.testing.assert_array_equal(sources[[0, 3, 4]], [0, 3, 4])
    assert np.isin(sources[[1, 2]], [2, 3, 4]).all()
    many = Growth(np.append(np.arange(1, 101), 0), np.append(np.arange(1, 101), 60))
    sources = [choose_sources(many, np.random.default_rng(seed))[-1] for seed in range(200)]
    np.testing.assert_array_equal(np.unique(sources), np.arange(51, 68))


def test_the_error_is_that_of_a_full_fit(whole) -> None:
    model = fit()
    rows, cols = ROWS[LATE], COLS[LATE]

    def errors():
        found = model.predict(rows, cols)
        return np.sqrt(np.mean((found - VALUES[LATE]) ** 2)), model.to_dense()

    before, old = errors()
    model.partial_fit(NEW)
    after, found = errors()
    full = whole.to_dense()
    assert after < 0.95 * before  # these cells are fitted now
    assert np.linalg.norm(found - full) < 0.8 * np.linalg.norm(old - full)
    assert model.rank_ == model.factors_.rank
    np.testing.assert_allclose(model.average_.row, model.model_.biases.row)


def test_a_new_row_is_what_transform_makes_of_it(whole) -> None:
    model = copy.deepcopy(whole)
    before = model.to_dense()
    none = np.zeros(0, int)
    assert model.partial_fit((none, none, np.zeros(0), SHAPE)).to_dense().tobytes() == (
        before.tobytes()
    )
    cols = np.arange(0, 60, 2)
    values = before[11, cols]
    folded = model.predict((np.zeros(30, int), cols, values, (1, 60)))[0]
    model.partial_fit((np.full(30, 90), cols, values, (91, 60)))
    after = model.to_dense()
    # Its columns move with it a little: each of them has a new cell.
    np.testing.assert_allclose(after[90], folded, atol=0.1)
    others = np.setdiff1d(np.arange(60), cols)
    np.testing.assert_allclose(after[90, others], folded[others], atol=2e-2)
    np.testing.assert_allclose(after[:90, others], before[:, others], atol=1e-4)


def test_deviations_shrink_where_cells_come() -> None:
    model = fit()
    thin = int(np.argmin(np.bincount(EARLY[0], minlength=90)))
    spread = model.model_.spread(np.full(60, thin), np.arange(60)).mean()
    new = np.setdiff1d(np.arange(60), EARLY[1][EARLY[0] == thin])
    model.partial_fit((np.full(len(new), thin), new, np.full(len(new), 3.0), SHAPE))
    assert model.model_.spread(np.full(60, thin), np.arange(60)).mean() < 0.7 * spread


@pytest.mark.parametrize("draws", [5, 24])
def test_intervals_of_new_rows_hold_nine_in_ten(draws) -> None:
    shares, shape, old = [], (160, 100), 130
    for seed in range(3):
        rng = np.random.default_rng(seed)
        A = rng.standard_normal((160, 2)) @ rng.standard_normal((2, 100))
        Y = A + 0.6 * rng.standard_normal(100) + 0.7 * rng.standard_normal(shape)
        known = rng.random(shape) < 0.2
        early, late = np.nonzero(known[:old]), np.nonzero(known & (np.arange(160) >= old)[:, None])
        model = MatrixCompletion(posterior=draws, pattern=False, random_state=seed, clip=False)
        model.fit((*early, Y[early], (old, 100))).partial_fit((*late, Y[late], shape))
        hidden = np.nonzero(~known & (np.arange(160) >= old)[:, None])
        low, high = model.predict_interval(*hidden, 0.9)
        shares.append(np.mean((low <= Y[hidden]) & (Y[hidden] <= high)))
    assert 0.87 < np.mean(shares) < 0.96


def test_cells_given_again_make_nothing_more_certain(whole) -> None:
    every = np.arange(90)[:, None], np.arange(60)
    before = whole.model_.spread(*every)
    for values in (VALUES, VALUES[::-1]):
        model = copy.deepcopy(whole)
        for _ in range(2):
            model.partial_fit((ROWS, COLS, values, SHAPE))
        assert len(model.seen_.values) == len(VALUES)
        assert model.model_.spread(*every).mean() > 0.9 * before.mean()


@pytest.mark.parametrize("draws", [0, 6])
def test_cells_given_again_leave_rows_with_attributes_where_they_were(draws) -> None:
    """Each moved towards its own cells, which the effects of its attributes know already."""
    rng = np.random.default_rng(0)
    groups = np.arange(150) // 3
    U = rng.standard_normal((50, 2))[groups] + 0.4 * rng.standard_normal((150, 2))
    Y = U @ rng.standard_normal((2, 80)) + 0.7 * rng.standard_normal((150, 80))
    rows, cols = np.nonzero(rng.random(Y.shape) < 0.12)
    cells = (rows, cols, Y[rows, cols], Y.shape)
    model = MatrixCompletion(posterior=draws, pattern=False, random_state=0, clip=False)
    model.fit(cells, row_attributes=np.eye(50)[groups])
    before = model.to_dense()
    moves = np.abs(model.partial_fit(cells).to_dense() - before)
    assert moves.max() < 0.03 * before.std()  # 0.11 of it, counted twice


def test_a_device_takes_in_the_same(monkeypatch) -> None:
    monkeypatch.setitem(engines.ENGINE_MODULES, "fake", "fake_device")
    monkeypatch.setitem(engines.ENGINE_OF_PACKAGE, "fake_device", "fake")
    wide = (np.append(NEW[0], 90), np.append(NEW[1], 60), np.append(NEW[2], 4.0), (91, 61))
    means = np.bincount(ROWS, VALUES) / np.bincount(ROWS)
    told = {"row_attributes": means[:, None]}
    for settings, given in (
        ({"pattern": True}, told),
        ({"posterior": 0}, {}),
        ({"posterior": 0, "penalty": None, "rank": 2}, {}),
    ):
        plain = MatrixCompletion(**{"posterior": 3, "random_state": 0, **settings})
        other = MatrixCompletion(**plain.get_params()).set_params(engine="fake")
        plain.fit(EARLY, **given)
        other.fit(EARLY, **given)
        plain.partial_fit(wide)
        other.partial_fit(wide)
        assert isinstance(other.factors_.U, FakeArray)
        np.testing.assert_allclose(other.predict(ROWS, COLS), plain.predict(ROWS, COLS), atol=1e-4)
        if plain.posterior_ is not None:
            both = [m.predict([90, 3], [60, 5], return_std=True)[1] for m in (plain, other)]
            np.testing.assert_allclose(*both, rtol=1e-3)
