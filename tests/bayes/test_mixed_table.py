"""Cells as coordinates of a Gaussian: codes and what a Gaussian says, against SciPy and Fisher."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from pygeco import LowRankImputer
from pygeco.bayes.column_codes import SHAPES, code_numbers, code_values
from pygeco.bayes.masked_trials import Plan, mask_cells, order_rows
from pygeco.bayes.mixed_draws import draw_cells, draw_model
from pygeco.bayes.mixed_fit import choose_array_form, fit_mixed
from pygeco.bayes.mixed_table import COVERAGES, MixedTable, student_widths, take_narrowest
from pygeco.bayes.table_gaussian import TableGaussian, list_forms


def column(seed=0, n=300):
    rng = np.random.default_rng(seed)
    x = np.exp(rng.standard_normal(n)) + 2
    x[::7] = np.nan
    return x


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("sign", [1, -1])
def test_a_code_is_standard_comes_back_and_does_not_know_units(shape, sign) -> None:
    x = sign * column()
    code = code_numbers(x, shape)
    z = code.encode(x)[:, 0]
    assert np.array_equal(np.isnan(z), np.isnan(x))
    assert np.nanmean(z) == pytest.approx(0, abs=1e-9)
    assert np.nanstd(z) == pytest.approx(1)
    np.testing.assert_allclose(code.decode(z), x, rtol=1e-9)
    steps = np.diff(z[np.argsort(x)][: np.sum(~np.isnan(x))])
    assert np.all(steps >= 0) or np.all(steps <= 0)
    other = code_numbers(1e5 * x, shape)
    np.testing.assert_allclose(other.encode(1e5 * x)[:, 0], z, atol=1e-7)


@pytest.mark.parametrize("shape", SHAPES)
def test_moments_are_those_of_draws(shape) -> None:
    code = code_numbers(column(1), shape)
    mean, deviation = code.moments(np.array([0.3]), np.array([0.4]))
    draws = code.decode(0.3 + 0.4 * np.random.default_rng(0).standard_normal(200_000))
    assert mean[0] == pytest.approx(draws.mean(), rel=0.01)
    assert deviation[0] == pytest.approx(draws.std(), rel=0.03)


def test_skewed_numbers_get_a_power_and_normal_ones_none() -> None:
    rng = np.random.default_rng(2)
    assert code_numbers(np.exp(rng.standard_normal(500)), "power").power == 0
    assert code_numbers(rng.standard_normal(500), "power").power == 1
    mirrored = code_numbers(-np.exp(rng.standard_normal(500)), "power")
    assert (mirrored.power, mirrored.sign) == (0, -1)


@pytest.mark.parametrize("is_ordered", [True, False])
def test_points_of_values_are_standard_and_empty_values_have_none(is_ordered) -> None:
    x = np.random.default_rng(3).choice([1.0, 2.0, 4.0, 9.0], 400, p=[0.5, 0.3, 0.15, 0.05])
    code = code_values(x, np.array([1.0, 2.0, 3.0, 4.0, 9.0]), is_ordered=is_ordered)
    z = code.encode(x)
    assert z.shape == (400, 1 if is_ordered else 3)
    np.testing.assert_allclose(z.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(z.T @ z / 400, np.eye(z.shape[1]), atol=1e-12)
    assert np.isnan(code.encode(np.array([3.0, np.nan, 7.0]))).all()
    if is_ordered:
        assert np.all(np.diff(code.points[[0, 1, 3, 4], 0]) > 0)
    others = np.array([np.nan, -1.0, 1.5, 8.0, 10.0]).repeat(60)  # before, between and after
    rest = code_values(np.concatenate([x, others]), code.values, is_ordered=is_ordered)
    for mine, expected in zip(rest, code, strict=True):
        np.testing.assert_array_equal(mine, expected)


def mixed_table(seed=4):
    """A category of three, a level of four and two numbers, with any covariance."""
    rng = np.random.default_rng(seed)
    codes = (
        code_values(rng.integers(0, 3, 99).astype(float), np.arange(3.0), is_ordered=False),
        code_values(rng.integers(0, 4, 99).astype(float), np.arange(4.0), is_ordered=True),
        code_numbers(rng.standard_normal(99), "plain"),
        code_numbers(rng.standard_normal(99), "plain"),
    )
    root = rng.standard_normal((5, 5))
    gaussian = TableGaussian.of_covariance(0.1 * rng.standard_normal(5), root @ root.T + np.eye(5))
    return MixedTable(codes, gaussian, np.ones((4, len(COVERAGES))))


def test_chances_are_shares_times_the_density_of_the_other_cells() -> None:
    table = mixed_table()
    row = np.array([[np.nan, 2.0, 0.3, np.nan]])
    belief = table.believe(row, [0])[0]
    S, m = table.covariance(), table.gaussian.mean
    known = [2, 3]  # the coordinates of the level and of the first number
    z = table.encode(row)[0, known]
    gain = S[np.ix_(known, [0, 1])] @ np.linalg.inv(S[:2, :2])
    rest = S[np.ix_(known, known)] - gain @ S[np.ix_([0, 1], known)]
    code = table.codes[0]
    expected = [
        share * multivariate_normal(m[known] + gain @ (x - m[:2]), rest).pdf(z)
        for share, x in zip(code.shares, code.points, strict=True)
    ]
    np.testing.assert_allclose(table.chances(0, belief)[0], np.array(expected) / sum(expected))
    nothing = table.believe(np.full((1, 4), np.nan))
    for k in (0, 1):  # a row of which nothing is known gets the shares
        np.testing.assert_allclose(table.chances(k, nothing[k])[0], table.codes[k].shares)


def test_beliefs_are_conditional_moments() -> None:
    table = mixed_table(5)
    X = np.array([[1.0, np.nan, np.nan, 0.4], [np.nan, np.nan, 1.0, np.nan], [2.0, 1.0, 0.1, 0.2]])
    Z, S, m = table.encode(X), table.covariance(), table.gaussian.mean
    beliefs = table.believe(X)
    assert [len(b.rows) for b in beliefs] == [1, 2, 1, 1]
    for i in (0, 1):
        K = ~np.isnan(Z[i])
        gain = S[np.ix_(~K, K)] @ np.linalg.inv(S[np.ix_(K, K)])
        mean = np.full(5, np.nan)
        mean[~K] = m[~K] + gain @ (Z[i, K] - m[K])
        spread = np.full((5, 5), np.nan)
        spread[np.ix_(~K, ~K)] = S[np.ix_(~K, ~K)] - gain @ S[np.ix_(K, ~K)]
        for k, belief in enumerate(beliefs):
            own = slice(table.starts[k], table.starts[k + 1])
            at = np.flatnonzero(belief.rows == i)
            if len(at):
                np.testing.assert_allclose(belief.mean[at[0]], mean[own], atol=1e-10)
                np.testing.assert_allclose(belief.covariance[at[0]], spread[own, own], atol=1e-10)


def test_a_category_is_discriminated_as_fisher_does() -> None:
    rng = np.random.default_rng(6)
    y = rng.integers(0, 3, 3_000)
    numbers = rng.standard_normal((3_000, 2)) + np.array([[0, 0], [1.5, 0], [3, 0.5]])[y]
    X = np.column_stack([y.astype(float), numbers])
    plans = [Plan(1, values=np.arange(3.0)), Plan(2, "plain"), Plan(3, "plain")]
    table = fit_mixed(X, plans, 0).table
    assert 0.5 < table.codes[0].trust < 2
    table = table._replace(codes=(table.codes[0]._replace(trust=1.0), *table.codes[1:]))
    asked = np.column_stack([np.full(200, np.nan), numbers[:200]])
    found = table.chances(0, table.believe(asked, [0])[0])
    expected = LinearDiscriminantAnalysis().fit(numbers, y).predict_proba(numbers[:200])
    assert np.abs(found - expected).max() < 0.02
    assert np.mean(found.argmax(axis=1) == expected.argmax(axis=1)) > 0.98


def test_masked_cells_do_not_depend_on_order_or_units() -> None:
    rng = np.random.default_rng(7)
    X = rng.standard_normal((60, 3))
    X[rng.random(X.shape) < 0.1] = np.nan
    plans = [Plan(11), Plan(12), Plan(13)]
    order, turned = rng.permutation(60), [2, 0, 1]

    def held(X, plans):
        at = order_rows(X, plans, 5)
        return mask_cells(X[at], plans, 5, 0), X[at]

    mask, rows = held(X, plans)
    other, again = held((100 * X + 3)[order][:, turned], [plans[k] for k in turned])
    np.testing.assert_array_equal(other, mask[:, turned])
    np.testing.assert_allclose(again, (100 * rows + 3)[:, turned])
    assert 0.02 < mask.mean() < 0.25


def test_draws_have_the_moments_that_are_believed() -> None:
    table = mixed_table(8)
    X = np.tile([1.0, np.nan, np.nan, 0.4], (4_000, 1))
    beliefs = table.believe(X[:1])
    drawn = draw_cells(table, X, np.random.default_rng(0))
    assert np.array_equal(drawn[:, [0, 3]], X[:, [0, 3]])
    shares = [np.mean(drawn[:, 1] == level) for level in range(4)]
    np.testing.assert_allclose(shares, table.chances(1, beliefs[1])[0], atol=0.03)
    given = X[:4].copy()
    given[:, 1] = np.arange(4)
    means = table.believe(given)[2]
    for level in range(4):  # a drawn level is minded by the number drawn after it
        own = drawn[drawn[:, 1] == level, 2]
        if len(own) > 200:
            center = table.codes[2].decode(means.mean[level])[0]
            spread = np.sqrt(means.covariance[level, 0, 0]) * table.codes[2].scale
            assert own.mean() == pytest.approx(center, abs=5 * spread / np.sqrt(len(own)))
            assert own.std() == pytest.approx(spread, rel=0.2)


def test_drawn_models_scatter_about_the_fitted_one() -> None:
    table = mixed_table(9)
    rng = np.random.default_rng(1)
    drawn = [draw_model(table, 200, rng).covariance() for _ in range(400)]
    scale = np.sqrt(np.outer(*[np.diag(table.covariance())] * 2))
    error = (np.mean(drawn, axis=0) - table.covariance()) / scale
    assert np.abs(error).max() < 0.06  # an inverse Wishart's mean, with its 200 / 194
    spread = np.std([d[0, 0] for d in drawn]) / table.covariance()[0, 0]
    assert spread == pytest.approx(np.sqrt(2 / 200), rel=0.2)


def test_masked_cells_choose_the_form_where_rows_are_fewer_than_columns():
    rng = np.random.default_rng(0)
    walk = np.cumsum(rng.standard_normal((30, 36)), axis=1)  # of no low rank
    flat = rng.standard_normal((10, 1)) @ rng.standard_normal((1, 30))
    flat += 0.3 * rng.standard_normal(flat.shape)
    for X, is_whole in ((walk, True), (flat, False)):
        d = X.shape[1]
        X = np.where(rng.random(X.shape) < 0.1, np.nan, X)
        found = fit_mixed(X, [Plan(k, "plain") for k in range(d)], 0).table.gaussian
        assert (len(found.components) == d - 1) == is_whole
        Z = (X - np.nanmean(X, axis=0)) / np.nanstd(X, axis=0)
        assert choose_array_form(Z, 0) == ("whole" if is_whole else "low rank")
        model = LowRankImputer(random_state=0).fit(X)
        assert (model.n_components_ == d - 1) == is_whole
    assert choose_array_form(np.zeros((31, 30)), 0) is None
    assert list_forms(np.ones((31, 30), bool)) == ("whole",)


def test_the_narrowest_interval_is_that_of_all_intervals() -> None:
    rng = np.random.default_rng(11)
    values = np.array([0.0, 1.0, 2.0, 5.0, 6.0, 9.0])
    chances = rng.dirichlet(np.full(6, 0.5), 300)
    chances[0] = [0.9, 0.1, 0, 0, 0, 0]
    low, high = take_narrowest(chances, values, 0.9)
    assert (low[0], high[0]) == (0, 0)
    for p, a, b in zip(chances, low, high, strict=True):
        every = [
            (values[j] - values[i], -p[i : j + 1].sum())
            for i in range(6)
            for j in range(i, 6)
            if p[i : j + 1].sum() >= 0.9 - 1e-12
        ]
        mass = p[(values >= a) & (values <= b)].sum()
        assert (b - a, -mass) == pytest.approx(min(every), abs=1e-12)


@pytest.mark.parametrize(("rows", "values"), [(300, 20), (800, 28)])
def test_a_category_of_many_values_is_used(rows, values) -> None:
    """Its coordinates know nothing of each other, which is no sign that other columns do not."""
    rng = np.random.default_rng(0)
    place = rng.integers(0, values, rows)
    effect = rng.standard_normal(values)[place]
    full = np.column_stack([place, effect + 0.4 * rng.standard_normal(rows), effect[::-1]])
    X = np.where(rng.random(full.shape) < 0.2, np.nan, full)
    plans = [Plan(1, None, np.arange(float(values))), Plan(2), Plan(3)]
    table = fit_mixed(X, plans, 0).table
    belief = table.believe(X, [1])[0]
    belief = belief.take(~np.isnan(X[belief.rows, 0]))
    error = table.estimate(1, belief, "mean") - full[belief.rows, 1]
    inside = [full[~np.isnan(X[:, 1]) & (X[:, 0] == k), 1] for k in range(values)]
    means = np.array([one.mean() if len(one) else 0.0 for one in inside])
    best = means[place[belief.rows]] - full[belief.rows, 1]
    assert np.mean(error**2) < 1.3 * np.mean(best**2) < 0.6 * full[:, 1].var()


@pytest.mark.parametrize("rows", [2, 10, 50])
def test_widths_of_few_rows_are_those_of_draws(rows) -> None:
    rng = np.random.default_rng(0)
    seen, new = rng.standard_normal((20_000, rows)), rng.standard_normal(20_000)
    off = np.abs(new - seen.mean(axis=1)) / seen.std(axis=1, ddof=0)
    plain = norm.ppf(0.5 + COVERAGES / 2)
    share = [np.mean(off <= wide) for wide in student_widths(rows) * plain]
    np.testing.assert_allclose(share, COVERAGES, atol=0.01)
    np.testing.assert_allclose(student_widths(10**6), 1.0, atol=1e-4)
