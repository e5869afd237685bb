"""Empirical Bayes: the small problems, the closed forms, the rank, the scales."""

from types import SimpleNamespace

import numpy as np
import pytest

from pygeco import Entries, LowRank, MatrixCompletion
from pygeco.bayes.evidence import fit_evidence
from pygeco.bayes.posterior import drop_unsupported
from pygeco.bayes.priors import Gaussian
from pygeco.bayes.reasons import contributions
from pygeco.bayes.sweep import new_rows, standardize_entries, sweep
from pygeco.data import make_ratings, split_cells
from pygeco.engines.cpu.threads import get_num_threads, set_num_threads
from pygeco.objectives.entries.half_sweep import Side


def ratings(seed=0, shape=(400, 150), cells=16_000, rank=3, noise=0.4):
    return make_ratings(shape, cells, rank, noise, seed)


def held_out(data, seed=0):
    test = split_cells(len(data.values), 0.1, seed)
    fitted = (data.rows[~test], data.cols[~test], data.values[~test], data.shape)
    return fitted, (data.rows[test], data.cols[test], data.values[test])


@pytest.fixture(scope="module")
def model():
    fitted, test = held_out(ratings())
    return MatrixCompletion(random_state=0).fit(fitted), fitted, test


@pytest.mark.parametrize("rank", [2, 5])
def test_the_evidence_finds_the_rank_of_the_signal(rank) -> None:
    rng = np.random.default_rng(rank)
    U, V = rng.standard_normal((800, rank)), rng.standard_normal((300, rank))
    rows, cols = np.nonzero(rng.random((800, 300)) < 0.25)
    values = np.sum(U[rows] * V[cols], axis=1) + 0.5 * rng.standard_normal(len(rows))
    found = MatrixCompletion(random_state=0).fit((rows, cols, values, (800, 300)))
    assert found.rank_ == rank


@pytest.mark.parametrize(
    ("rank", "block", "wanted"),
    [(11, 12, [12, 4]), (12, 12, [12, 12]), (5, 12, [12]), (21, 18, [18, 18]), (17, 18, [18, 6])],
)
def test_after_a_block_that_lost_some_the_next_is_smaller(rank, block, wanted) -> None:
    """They end with the rank of the signal, which a large block would find no better."""
    rng = np.random.default_rng(rank)
    U, V = rng.standard_normal((600, rank)), rng.standard_normal((300, rank))
    rows, cols = np.nonzero(rng.random((600, 300)) < 0.4)
    values = np.sum(U[rows] * V[cols], axis=1) + 0.5 * rng.standard_normal(len(rows))
    stages = []
    listener = SimpleNamespace(on_sweep=lambda event: stages.append(event.stage))
    found = fit_evidence(
        Entries(rows, cols, values, (600, 300)), rank=100, block=block, listener=listener
    )
    begun = [stage for stage in stages if stage and stage.age == 1]
    assert [stage.block for stage in begun] == wanted
    assert all(stage.now.rank == stage.before + stage.block for stage in begun)
    assert found.posterior.rank == rank


@pytest.mark.parametrize(("cells", "shape"), [(5_000, (300, 100)), (20_000, (800, 1000))])
def test_weak_components_are_not_drowned_where_rows_have_few_cells(cells, shape) -> None:
    """Eight components of falling weight: no worse than ridge ALS tuned on the test cells."""
    rng = np.random.default_rng(0)
    U, V = rng.standard_normal((shape[0], 8)), rng.standard_normal((shape[1], 8))
    weight = 0.7 ** np.arange(8)
    rows, cols = np.divmod(rng.permutation(shape[0] * shape[1])[:cells], shape[1])
    z = np.sum(U[rows] * weight * V[cols], axis=1) / np.linalg.norm(weight)
    values = z + 0.5 * rng.standard_normal(cells)
    test = np.arange(cells) % 7 == 0
    fitted = (rows[~test], cols[~test], values[~test], shape)
    found = MatrixCompletion(random_state=0).fit(fitted)
    error = np.sqrt(np.mean((found.predict(rows[test], cols[test]) - values[test]) ** 2))
    best = min(
        ridge_als(fitted, rank, ridge, (rows[test], cols[test], values[test]))
        for rank in (3, 5)
        for ridge in (0.5, 1.0, 2.0, 4.0)
    )
    assert error < 1.005 * best


def ridge_als(fitted, rank, ridge, test, sweeps=15):
    """The lowest test error on the way of alternating ridge regressions."""
    rows, cols, values, (m, n) = fitted
    U, V = np.zeros((m, rank)), 0.1 * np.random.default_rng(0).standard_normal((n, rank))
    best = np.inf
    for _ in range(sweeps):
        for own, other, mine, theirs in ((U, V, rows, cols), (V, U, cols, rows)):
            grams = np.zeros((len(own), rank, rank)) + ridge * np.eye(rank)
            sides = np.zeros((len(own), rank))
            np.add.at(grams, mine, other[theirs][:, :, None] * other[theirs][:, None, :])
            np.add.at(sides, mine, other[theirs] * values[:, None])
            own[:] = np.linalg.solve(grams, sides[:, :, None])[:, :, 0]
        error = np.sum(U[test[0]] * V[test[1]], axis=1) - test[2]
        best = min(best, float(np.sqrt(np.mean(error**2))))
    return best


@pytest.mark.parametrize("seed", range(3))
def test_pure_noise_is_left_alone(seed) -> None:
    """New noise is predicted as well as by its mean, up to a hundredth."""
    rng = np.random.default_rng(seed)
    rows, cols = np.nonzero(rng.random((300, 200)) < 0.2)
    values = rng.standard_normal(len(rows))
    found = MatrixCompletion(random_state=0).fit((rows, cols, values, (300, 200)))
    assert found.rank_ <= 1
    i, j = np.indices((300, 200))
    new = rng.standard_normal((300, 200))
    assert np.mean((found.predict(i, j) - new) ** 2) < 1.02 * np.mean((values.mean() - new) ** 2)


def test_it_errs_less_than_an_unpenalized_fit_of_any_rank(model) -> None:
    found, fitted, (rows, cols, values) = model
    plain = MatrixCompletion(8, penalty=None, biases=True, random_state=0).fit(fitted)
    best = min(
        np.sqrt(np.mean((plain.biases_.at(rows, cols) + t.A.entries(rows, cols) - values) ** 2))
        for t in plain.path_
    )
    assert np.sqrt(np.mean((found.predict(rows, cols) - values) ** 2)) < 0.95 * best


def test_ninety_percent_intervals_hold_ninety_percent(model) -> None:
    found, _, (rows, cols, values) = model
    mean, deviation = found.predict(rows, cols, return_std=True)
    assert 0.86 < np.mean(np.abs(mean - values) < 1.645 * deviation) < 0.95


@pytest.mark.parametrize(("factor", "shift"), [(1000.0, 0.0), (1.0, 1e4), (-3.0, 7.0)])
def test_scale_and_shift_of_the_values_only_scale_and_shift_the_model(factor, shift) -> None:
    rows, cols, values, shape = ratings(2)
    y = values.astype(float)
    plain = MatrixCompletion(random_state=0).fit((rows, cols, y, shape))
    moved = MatrixCompletion(random_state=0).fit((rows, cols, factor * y + shift, shape))
    expected = factor * plain.predict(rows, cols) + shift
    spread = abs(factor) * y.std()
    assert np.abs(moved.predict(rows, cols) - expected).max() < 1e-5 * spread + 1e-9 * shift
    assert moved.rank_ == plain.rank_


def test_a_half_sweep_is_the_posterior_of_a_row() -> None:
    """Mean and variances of one row against the formula, at the fitted priors and noise."""
    entries = Entries(*ratings(3))
    now = fit_evidence(entries, rank=5, max_sweeps=8).posterior
    data = standardize_entries(entries, center=True).data
    after, _ = sweep(data, now)
    i = int(np.argmax(data.by_row.counts() > 5))
    own = slice(data.by_row.pointers[i], data.by_row.pointers[i + 1])
    j, y = data.by_row.indices[own], data.by_row.values[own]
    Z = np.column_stack([now.cols.factor[j], np.ones(len(j))]).astype(float)
    spread = np.append(now.cols.variance[j].sum(axis=0), 0.0)
    precision = now.row_prior.precision + now.tau * (Z.T @ Z + np.diag(spread))
    side = now.row_prior.precision @ now.row_prior.center + now.tau * Z.T @ (y - now.cols.bias[j])
    mean = np.linalg.solve(precision, side)
    np.testing.assert_allclose(np.append(after.rows.factor[i], after.rows.bias[i]), mean, atol=1e-4)
    variance = np.diag(np.linalg.inv(precision))
    found = np.append(after.rows.variance[i], after.rows.bias_variance[i])
    np.testing.assert_allclose(found, variance, rtol=1e-3)


def test_expected_error_is_what_it_says() -> None:
    """Σ E[(y − ŷ)²] against a sum over the cells with the variances of both sides."""
    data = standardize_entries(Entries(*ratings(4)), center=True).data
    now = fit_evidence(Entries(*ratings(4)), rank=4, max_sweeps=8).posterior
    after, error = sweep(data, now)
    rows = np.repeat(np.arange(data.shape[0]), data.by_row.counts())
    cols = data.by_row.indices
    r, c = after.rows, after.cols
    z = np.sum(r.factor[rows] * c.factor[cols], axis=1) + r.bias[rows] + c.bias[cols]
    noise = after.variance(rows, cols) / after.scale**2 - 1 / after.tau
    expected = np.sum((data.by_row.values - z).astype(float) ** 2 + noise)
    assert error == pytest.approx(expected, rel=1e-4)


def test_the_prior_is_the_most_likely_gaussian() -> None:
    rng = np.random.default_rng(0)
    side = Side(
        rng.standard_normal((50_000, 2)) @ [[2.0, 0.0], [1.0, 0.5]] + [3.0, -1.0],
        0.1 * rng.standard_normal(50_000),
        np.full((50_000, 2), 0.25),
        np.full(50_000, 0.01),
    )
    prior = Gaussian.of(side, np.ones(50_000, bool), offset=True)
    expected = np.array([[5.25, 0.5, 0], [0.5, 0.5, 0], [0, 0, 0.02]])
    np.testing.assert_allclose(np.linalg.inv(prior.precision), expected, atol=0.1)
    np.testing.assert_allclose(prior.center, [3, -1, 0], atol=0.05)


@pytest.mark.parametrize("parts", [(), ("global",), ("global", "row"), ("column",)])
def test_an_offset_that_is_switched_off_stays_zero(parts) -> None:
    found = MatrixCompletion(4, biases=parts, random_state=0).fit(tuple(ratings(5)))
    assert (np.abs(found.biases_.row).max() > 1e-3) == ("row" in parts)
    assert (np.abs(found.biases_.col).max() > 1e-3) == ("column" in parts)
    assert (found.biases_.mean != 0) == ("global" in parts)


def test_pruning_keeps_the_matrix_of_the_live_directions() -> None:
    entries = Entries(*ratings(6))
    now = fit_evidence(entries, rank=10, max_sweeps=8).posterior
    again = drop_unsupported(now)
    a = LowRank(now.rows.factor, np.ones(now.rank), now.cols.factor).to_dense()
    b = LowRank(again.rows.factor, np.ones(again.rank), again.cols.factor).to_dense()
    assert again.rank <= now.rank
    assert np.linalg.norm(a - b) < 0.1 * np.linalg.norm(a)


def test_new_rows_that_repeat_fitted_ones_get_their_predictions(model) -> None:
    found, (rows, cols, values, shape), _ = model
    coordinates = found.transform((rows, cols, values, shape))
    assert coordinates.shape == (shape[0], found.rank_ + 1)
    whole = found.inverse_transform(coordinates)
    np.testing.assert_allclose(whole[rows, cols], found.predict(rows, cols), atol=0.05)
    side = new_rows(found.posterior_, Entries(rows, cols, values, shape))
    np.testing.assert_allclose(side.bias, found.posterior_.rows.bias, atol=0.05)


def test_a_prediction_is_the_sum_of_its_reasons(model) -> None:
    found, (rows, cols, values, _shape), _ = model
    whole = found.predict(found_rows := np.array([7]), np.array([3]))[0]
    reasons = found.explain(7, 3, k=10_000)
    assert reasons.base + reasons.contributions.sum() == pytest.approx(whole, abs=0.05)
    assert set(reasons.columns) == set(cols[rows == found_rows[0]])
    assert np.all(np.diff(np.abs(reasons.contributions)) <= 1e-12)
    own = rows == 7
    base, parts, _ = contributions(found.posterior_, cols[own], values[own], np.ones(own.sum()), 3)
    assert base == pytest.approx(reasons.base)
    assert len(parts) == own.sum()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.filterwarnings("ignore:X. every value is")  # one case is all fours
def test_ugly_input_gives_a_finite_model(dtype) -> None:
    cases = [
        ([0], [0], [3.0], (1, 1)),
        ([0, 0, 0], [0, 1, 2], [1.0, 2.0, 3.0], (1, 3)),
        ([0, 1, 2], [0, 0, 0], [5.0, 5.0, 5.0], (3, 1)),
        ([0, 3], [1, 2], [1.0, -1.0], (6, 5)),
        (*np.nonzero(np.ones((20, 10))), np.full(200, 4.0), (20, 10)),
        (*np.nonzero(np.ones((20, 10))), 1e30 * np.arange(200.0), (20, 10)),
    ]
    for rows, cols, values, shape in cases:
        found = MatrixCompletion(random_state=0).fit(
            (np.array(rows), np.array(cols), np.array(values, dtype), shape)
        )
        dense = found.to_dense()
        assert dense.dtype == dtype
        assert np.isfinite(dense).all()
    constant = MatrixCompletion(random_state=0).fit(np.full((20, 10), 4.0))
    np.testing.assert_allclose(constant.to_dense(), 4.0)


def test_same_seed_same_bits_for_any_number_of_threads() -> None:

    data = tuple(ratings(7))
    before = get_num_threads()
    try:
        found = []
        for threads in {1, before}:
            set_num_threads(threads)
            m = MatrixCompletion(posterior=3, random_state=0).fit(data)
            found.append(m.predict(data[0], data[1]).tobytes())
    finally:
        set_num_threads(before)
    assert len(set(found)) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"penalty": "best"}, "penalty: unknown name 'best'"),
        (
            {"penalty": "evidence", "loss": "quantile"},
            "penalty: the evidence is not known for loss",
        ),
        ({"penalty": None, "posterior": 5}, "posterior: draws need penalty='evidence'"),
        ({"posterior": -1}, "posterior: expected a number of sweeps"),
        ({"rank": 0}, "rank: must be between 1 and"),
        ({"rank": "some"}, "rank: expected an integer or 'auto'"),
        ({"biases": "rows"}, "biases: unknown part 'rows'"),
    ],
)
def test_bad_arguments_are_named(arguments, message) -> None:
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        MatrixCompletion(**arguments).fit(tuple(ratings()))


@pytest.mark.parametrize("seed", [1, 4, 9, 15])
def test_rows_and_columns_in_two_groups_keep_their_components(seed) -> None:
    """A block of which nothing lives turned the basis, and three sweeps told all to be fading."""
    rng = np.random.default_rng(seed)
    shape, table = (350, 180), np.full((350, 180), np.nan)
    truth = np.zeros(shape)
    for at in (np.s_[:200, :100], np.s_[200:, 100:]):
        m, n = truth[at].shape
        truth[at] = rng.standard_normal((m, 3)) @ rng.standard_normal((3, n))
        seen = np.where(rng.random((m, n)) < 0.3, 0.1 * rng.standard_normal((m, n)), np.nan)
        table[at] = truth[at] + seen
    found = fit_evidence(Entries.from_dense(table), rank=20, seed=0).posterior
    error = (found.factors().to_dense() + _offsets(found) - truth)[table == table]
    assert found.rank in (5, 6)  # one of six may hide in the offsets
    assert np.sqrt(np.mean(error**2)) < 0.06  # √(6 · 530 / 7,900) of the noise; it was 1.4


def _offsets(found):
    biases = found.biases()
    return biases.mean + biases.row[:, None] + biases.col
