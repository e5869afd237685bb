"""The evidence under losses that outliers pull less: weighted squares that touch them."""

from functools import cache

import numpy as np
import pytest

from pygeco import MatrixCompletion, Ridge, load, losses
from pygeco.algorithm.events import Sweep
from pygeco.arrays.low_rank import LowRank
from pygeco.losses.weighted_squares import Weighing
from pygeco.objectives import Entries

ROBUST = {
    "huber": losses.Huber(0.7),
    "pseudo-huber": losses.PseudoHuber(0.7),
    "log-cosh": losses.LogCosh(),
    "absolute": losses.Absolute(0.3),
}

INTERRUPTED = {"loss": "huber", "posterior": 2, "random_state": 0}
SMALL = (150, 100), 5_000  # cells


def spoiled(shape=(300, 200), cells=15_000, rank=3, share=0.04, seed=0):
    """Cells of a low-rank matrix with noise of deviation 0.3, some of them gross outliers."""
    rng = np.random.default_rng(seed)
    U, V = (rng.standard_normal((size, rank)) for size in shape)
    rows, cols = np.divmod(rng.permutation(shape[0] * shape[1])[:cells], shape[1])
    truth = U @ V.T / np.sqrt(rank) + 0.5 * rng.standard_normal(shape[0])[:, None] + 2
    values = truth[rows, cols] + 0.3 * rng.standard_normal(cells)
    bad = rng.random(cells) < share
    values[bad] += 8 * rng.standard_normal(bad.sum())
    return (rows, cols, values, shape), truth


@cache
def squared_fit() -> MatrixCompletion:
    return MatrixCompletion(random_state=0).fit(spoiled()[0])


@cache
def whole_fit() -> tuple[MatrixCompletion, list[int]]:
    """A fit that nothing interrupts, and the sweeps that it told of."""
    told = []
    whole = MatrixCompletion(callback=told.append, **INTERRUPTED).fit(spoiled(*SMALL)[0])
    return whole, [s.sweeps for s in told if isinstance(s, Sweep)]


def error(model, truth) -> float:
    return float(np.sqrt(np.mean((model.to_dense() - truth) ** 2)))


@pytest.mark.parametrize("name", ROBUST)
def test_touching_squares_lie_nowhere_below_the_loss(name) -> None:
    loss = ROBUST[name]
    assert loss.robust
    assert not losses.Squared().robust
    assert not losses.Quantile(0.3).robust
    x = np.concatenate([-np.logspace(-6, 3, 60), [0.0], np.logspace(-6, 3, 60)])
    w, zero = loss.weights(x), np.zeros_like(x)
    assert w[60] == 1.0
    np.testing.assert_allclose(w, loss.weights(-x))
    assert np.all(np.diff(w[60:]) <= 1e-12)
    assert w[-1] < 0.01
    bend = 0.5 * float(loss.curvature(np.zeros(1), np.zeros(1))[0])
    value = loss.value(x, zero)
    touching = value[:, None] + bend * w[:, None] * (x**2 - x[:, None] ** 2)
    assert np.all(touching >= value - 1e-9 * (1 + np.abs(touching)))
    single = loss.weights(x.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, w, rtol=1e-4)


def test_weights_to_a_power_over_their_mean() -> None:
    loss, x = losses.Huber(0.5), np.array([0.1, -1.0, 5.0], np.float32)
    found = Weighing(loss, 2, 0.25).weights(x)
    np.testing.assert_allclose(found, np.array([1, 0.25, 0.01]) / 0.25, rtol=1e-6)
    assert found.dtype == np.float32
    assert Weighing.settled(loss, x) == Weighing(loss, 1, 1.0)
    assert Weighing.settled(losses.Huber(), x).power == 2


def heavy_middle(x, weights):
    """The median of x; with weights (of which no two sums are alike), where half of them lies."""
    if weights is None:
        return np.median(x)
    order = np.argsort(x)
    return x[order][np.searchsorted(np.cumsum(weights[order]), weights.sum() / 2)]


def test_cells_are_weighted_alike_in_both_orders_and_count_as_before() -> None:
    (rows, cols, values, shape), truth = spoiled()
    weights = np.random.default_rng(1).uniform(0.5, 2.0, len(rows))
    A, b, c = LowRank.from_dense(truth - 2, 3), np.full(shape[0], 0.5), np.full(shape[1], 1.5)
    x = A.to_dense()[rows, cols] + b[rows] + c[cols] - values
    for given in (None, weights):
        entries = Entries(rows, cols, values, shape, loss="huber", sample_weight=given)
        cells, weighing = entries.reweigh(A, b, c, losses.Huber())
        middle = heavy_middle(x, given)
        delta = 2 * 1.4826 * heavy_middle(np.abs(x - middle), given)
        assert weighing.loss.delta == pytest.approx(delta)
        expected = np.minimum(1, delta / np.abs(x)) ** 2 * (1 if given is None else given)
        mean = expected.sum() / entries.total_weight
        assert weighing.mean == pytest.approx(mean)
        order = np.lexsort((cols, rows))
        np.testing.assert_allclose(cells.by_row.weights, expected[order] / mean, rtol=1e-6)
        order = np.lexsort((rows, cols))
        np.testing.assert_allclose(cells.by_col.weights, expected[order] / mean, rtol=1e-6)
        assert cells.by_row.weights.sum() == pytest.approx(cells.total_weight)
        assert cells.squared
        stated, _ = entries.reweigh(A, b, c, losses.Huber(0.6))  # touching, as the user says
        expected = np.minimum(1, 0.6 / np.abs(x)) * (1 if given is None else given)
        expected *= entries.total_weight / expected.sum()
        np.testing.assert_allclose(stated.by_col.weights, expected[order], rtol=1e-6)


@pytest.mark.parametrize("name", ROBUST)
def test_outliers_are_seen_through(name) -> None:
    data, truth = spoiled()
    model = MatrixCompletion(loss=name, random_state=0).fit(data)
    assert model.rank_ == 3
    assert error(model, truth) < 0.25 * error(squared_fit(), truth)
    path = MatrixCompletion(3, loss=name, penalty=Ridge(1e-5), biases=True, random_state=0)
    assert error(model, truth) < error(path.fit(data), truth)
    if name == "huber":  # δ is twice the noise, by the model's own residuals
        assert model.loss_.delta == pytest.approx(0.6, rel=0.15)


def test_a_tenth_of_gross_outliers_leaves_no_trace() -> None:
    """Noise of 0.01 beside outliers of 20: what is found is off by the noise."""
    rng = np.random.default_rng(0)
    truth = rng.standard_normal((100, 2)) @ rng.standard_normal((2, 30))
    seen = truth + 0.01 * rng.standard_normal(truth.shape)
    seen = np.where(rng.random(truth.shape) < 0.1, 20 * rng.standard_normal(truth.shape), seen)
    for share in (0.5, 0.9):
        rows, cols = np.nonzero(rng.random(truth.shape) < share)
        model = MatrixCompletion(loss="huber", random_state=0)
        model.fit((rows, cols, seen[rows, cols], truth.shape))
        assert model.rank_ == 2
        assert error(model, truth) < 0.02
        assert model.loss_.delta == pytest.approx(0.02, rel=0.2)
        _, deviation = model.predict(rows, cols, return_std=True)
        np.testing.assert_allclose(deviation, 20 * 0.1**0.5, rtol=0.15)  # one in ten is wild
        low, high = model.predict_interval(rows, cols, 0.8)
        given = seen[rows, cols]
        clean = np.abs(given - truth[rows, cols]) < 0.1
        assert ((low <= given) & (given <= high))[clean].mean() > 0.85
        assert 0.02 < (high - low)[clean].mean() < 0.06  # ordinary cells have their own size


def test_without_outliers_little_is_lost() -> None:
    data, truth = spoiled(share=0.0)
    plain, robust = (
        MatrixCompletion(loss=loss, random_state=0).fit(data) for loss in ("squared", "huber")
    )
    assert error(robust, truth) < 1.03 * error(plain, truth)
    rows, cols = data[:2]
    _, deviation = robust.predict(rows[:9], cols[:9], return_std=True)
    np.testing.assert_allclose(
        deviation, plain.predict(rows[:9], cols[:9], return_std=True)[1], rtol=0.1
    )


def test_units_scale_the_model() -> None:
    (rows, cols, values, shape), _ = spoiled()
    one, other = (
        MatrixCompletion(loss="huber", random_state=0).fit((rows, cols, unit * values, shape))
        for unit in (1.0, 1e6)
    )
    assert one.rank_ == other.rank_
    np.testing.assert_allclose(1e6 * one.to_dense(), other.to_dense(), rtol=1e-3, atol=1e4)


def test_a_new_row_is_weighted_too() -> None:
    (rows, cols, values, shape), truth = spoiled()
    model, plain = (
        MatrixCompletion(loss=loss, random_state=0).fit((rows, cols, values, shape))
        for loss in ("huber", "squared")
    )
    again = model.inverse_transform(model.transform((rows, cols, values, shape)))
    np.testing.assert_allclose(again, model.to_dense(), atol=0.1)
    row = np.full((1, shape[1]), np.nan)
    row[0, ::4] = truth[0, ::4]
    clean = model.inverse_transform(model.transform(row))
    row[0, 8] += 100.0
    spoilt = model.inverse_transform(model.transform(row))
    assert np.abs(spoilt - clean).max() < 0.5
    assert np.abs(plain.inverse_transform(plain.transform(row)) - clean).max() > 2
    model.partial_fit(([0], [8], [truth[0, 8] + 100.0]))
    assert abs(model.predict([0], [8])[0] - truth[0, 8]) < 1.0


def test_reasons_know_the_weights() -> None:
    (rows, cols, values, shape), _ = spoiled()
    weights = np.random.default_rng(1).uniform(0.2, 3.0, len(rows))
    for loss in ("squared", "huber"):
        model = MatrixCompletion(loss=loss, random_state=0)
        model.fit((rows, cols, values, shape), sample_weight=weights)
        reasons = model.explain(7, 3, k=10_000)
        whole = model.predict([7], [3])[0]
        assert reasons.base + reasons.contributions.sum() == pytest.approx(whole, abs=0.05)


class EnoughError(Exception):
    pass


@pytest.mark.parametrize("sweeps", [1, 15, 30, 60])
def test_a_fit_that_was_interrupted_goes_on_to_the_same_bits(sweeps, tmp_path) -> None:
    data, _ = spoiled(*SMALL)
    whole, counts = whole_fit()
    assert counts == sorted(set(counts))

    def stop(sweep) -> bool:
        if isinstance(sweep, Sweep) and sweep.sweeps >= min(sweeps, counts[-1]):
            raise EnoughError
        return False

    with pytest.raises(EnoughError):
        MatrixCompletion(callback=stop, **INTERRUPTED).fit(data, checkpoint=tmp_path / "c")
    again = MatrixCompletion(**INTERRUPTED).fit(data, checkpoint=tmp_path / "c")
    np.testing.assert_array_equal(again.to_dense(), whole.to_dense())
    assert again.loss_ == whole.loss_


def test_a_saved_model_folds_the_same(tmp_path) -> None:
    data, _ = spoiled()
    model = MatrixCompletion(loss="huber", random_state=0).fit(data)
    model.save(tmp_path / "m.geco")
    again = load(tmp_path / "m.geco")
    assert again.posterior_.weighing == model.posterior_.weighing
    assert model.posterior_.weighing.mean < 1
    np.testing.assert_array_equal(again.transform(data), model.transform(data))


@pytest.mark.parametrize("loss", ["squared", "huber", "pseudo-huber"])
def test_the_step_of_the_path_speaks_of_the_loss(loss) -> None:
    (rows, cols, values, shape), _ = spoiled()
    model = MatrixCompletion(loss=loss, random_state=0).fit((rows, cols, values, shape))
    z, step = model.predict(rows, cols), model.path_[-1]
    assert step.objective == pytest.approx(np.mean(model.loss_.value(z, values)), rel=1e-4)
    G = np.zeros(shape)
    G[rows, cols] = model.loss_.slope(z, values) / len(values)
    A = model.factors_.to_dense()
    assert step.certificate.inner == pytest.approx(np.sum(G * A), abs=1e-4 * step.objective)
    assert step.certificate.sigma == pytest.approx(np.linalg.norm(G, 2), rel=0.05)


@pytest.mark.parametrize("name", ["squared", *ROBUST, "quantile"])
def test_the_answer_goes_with_the_units_of_the_data(name) -> None:
    rng = np.random.default_rng(0)
    Y = rng.standard_normal((40, 2)) @ rng.standard_normal((2, 30)) + 0.3 * rng.standard_t(
        3, (40, 30)
    )
    at = np.nonzero(rng.random(Y.shape) < 0.6)
    settings = {"loss": name, "random_state": 0, "pattern": False}
    plain, large = (
        MatrixCompletion(**settings).fit((*at, size * Y[at], Y.shape)).to_dense() / size
        for size in (1.0, 731.0)
    )
    np.testing.assert_allclose(large, plain, atol=1e-5 * np.abs(plain).max())


@pytest.mark.parametrize("name", ["huber", "absolute"])
def test_deviations_and_intervals_know_of_wild_cells(name) -> None:
    rng = np.random.default_rng(0)
    truth = rng.standard_normal((120, 2)) @ rng.standard_normal((2, 90))
    Y = truth + 0.3 * rng.standard_t(2.5, truth.shape)
    known = rng.random(Y.shape) < 0.5
    cells = (*np.nonzero(known), Y[known], Y.shape)
    model = MatrixCompletion(loss=name, random_state=0, pattern=False).fit(cells)
    rows, cols = np.nonzero(~known)
    values, deviation = model.predict(rows, cols, return_std=True)
    np.testing.assert_allclose(np.mean(deviation**2), np.mean((values - Y[~known]) ** 2), rtol=0.25)
    low, high = model.predict_interval(rows, cols, 0.9)
    assert 0.88 < np.mean((low <= Y[~known]) & (Y[~known] <= high)) < 0.92
