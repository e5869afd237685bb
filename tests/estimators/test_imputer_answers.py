"""How sure an imputer is: deviations, intervals, chances, draws; of tables and of arrays."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_wine

from pygeco import LowRankImputer


@pytest.fixture(scope="module")
def wine():
    """Numbers and a class; whole, with gaps, where they are, and a fit."""
    data = load_wine(as_frame=True)
    full = data.data.assign(kind=pd.Categorical(data.target.map({0: "a", 1: "b", 2: "c"})))
    gaps = np.random.default_rng(1).random(full.shape) < 0.2
    table = full.copy()
    for k, name in enumerate(full):
        table.loc[gaps[:, k], name] = np.nan
    return full, table, gaps, LowRankImputer(random_state=0).fit(table)


def test_intervals_cover_what_they_promise(wine) -> None:
    full, table, gaps, model = wine
    shares = {}
    for coverage in (0.5, 0.9):
        low, high = model.impute_interval(table, coverage)
        true, ends = full.iloc[:, :-1], (low.iloc[:, :-1], high.iloc[:, :-1])
        inside = (ends[0] <= true) & (true <= ends[1])
        shares[coverage] = inside.to_numpy()[gaps[:, :-1]].mean()
    assert shares[0.9] == pytest.approx(0.9, abs=0.04)  # 460 cells
    assert shares[0.5] == pytest.approx(0.5, abs=0.07)
    assert low.dtypes.equals(table.dtypes)
    with pytest.raises(ValueError, match="coverage: must be between 0 and 1"):
        model.impute_interval(table, 90)


def test_deviations_are_the_size_of_errors(wine) -> None:
    full, table, gaps, model = wine
    std, filled = model.impute_std(table), model.transform(table)
    assert not std[~gaps].any()
    assert np.all(std[gaps] >= 0)
    error = (filled.iloc[:, :-1] - full.iloc[:, :-1]).to_numpy()
    z = (error / np.where(std[:, :-1] > 0, std[:, :-1], 1))[gaps[:, :-1]]
    assert np.sqrt(np.mean(z**2)) == pytest.approx(1, abs=0.15)
    rmse = np.sqrt([np.mean(error[gaps[:, k], k] ** 2) for k in range(13)])
    assert np.median(model.imputation_std_[:-1] / rmse) == pytest.approx(1, abs=0.2)
    assert model.imputation_std_[-1] < 0.15  # the share of classes that are wrong


def test_chances_are_ones_at_known_cells_and_honest_elsewhere(wine) -> None:
    full, table, gaps, model = wine
    chances = model.impute_proba(table, "kind")
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    codes = full["kind"].cat.codes.to_numpy()
    known = ~gaps[:, -1]
    assert np.array_equal(chances[known], np.eye(3)[codes[known]])
    assert np.mean(chances[~known, codes[~known]]) > 0.8
    with pytest.raises(ValueError, match="column: 'alcohol' is none of categories"):
        model.impute_proba(table, "alcohol")


def test_samples_differ_where_cells_are_missing_and_average_to_the_means(wine) -> None:
    _, table, gaps, model = wine
    draws = model.sample_imputations(table, 30, random_state=0)
    again = model.sample_imputations(table, 1, random_state=0)[0]
    pd.testing.assert_frame_equal(draws[0], again)
    assert draws[0].dtypes.equals(table.dtypes)
    numbers = np.array([draw.iloc[:, :-1].to_numpy() for draw in draws])
    known = ~gaps[:, :-1]
    assert np.all(numbers[:, known] == table.iloc[:, :-1].to_numpy()[known])
    spread, std = numbers.std(axis=0)[~known], model.impute_std(table)[:, :-1][~known]
    assert np.median(spread / std) == pytest.approx(1, abs=0.15)
    filled = model.transform(table).iloc[:, :-1].to_numpy()[~known]
    error = (numbers.mean(axis=0)[~known] - filled) / std
    assert np.sqrt(np.mean(error**2)) < 0.4  # thirty draws: 0.18, and what the models differ by
    with pytest.raises(ValueError, match="k: expected an integer"):
        model.sample_imputations(table, 0)


def test_multiple_imputation_covers_a_regression() -> None:
    """Rubin's interval for a slope holds the truth about as often as it should."""
    rng = np.random.default_rng(3)
    hits = []
    for t in range(40):
        x = rng.standard_normal(120)
        y = 0.7 * x + rng.standard_normal(120)
        X = np.column_stack([x, y, x + y + rng.standard_normal(120)])
        X[rng.random(120) < 0.4, 0] = np.nan
        model = LowRankImputer(random_state=0).fit(X)
        slopes, errors = [], []
        for draw in model.sample_imputations(X, 8, random_state=t):
            a, b = draw[:, 0] - draw[:, 0].mean(), draw[:, 1] - draw[:, 1].mean()
            slopes.append(a @ b / (a @ a))
            errors.append(np.sum((b - slopes[-1] * a) ** 2) / 118 / (a @ a))
        total = np.mean(errors) + (1 + 1 / 8) * np.var(slopes, ddof=1)
        hits.append(abs(np.mean(slopes) - 0.7) < 1.96 * np.sqrt(total))
    assert np.mean(hits) >= 0.85


def test_arrays_have_deviations_intervals_and_samples_too() -> None:
    full = np.asarray(load_diabetes(scaled=False).data, float)
    gaps = np.random.default_rng(4).random(full.shape) < 0.2
    X = np.where(gaps, np.nan, full)
    model = LowRankImputer(random_state=0).fit(X)
    low, high = model.impute_interval(X)
    assert np.mean(((low <= full) & (full <= high))[gaps]) == pytest.approx(0.9, abs=0.05)
    np.testing.assert_allclose((low + high)[gaps] / 2, model.transform(X)[gaps])
    draw = model.sample_imputations(X, 1, random_state=0)[0]
    assert np.array_equal(draw[~gaps], X[~gaps])
    assert np.isfinite(draw).all()
    assert np.all(model.imputation_std_ < full.std(axis=0) * 1.01)
    given = LowRankImputer(2, random_state=0).fit(X)
    with pytest.raises(ValueError, match="does not know how sure it is"):
        given.impute_std(X)


@pytest.mark.parametrize("together", [0.0, 1.0])
def test_intervals_of_a_few_rows_are_as_wide_as_they_have_to_be(together) -> None:
    """Ten rows say little of their own deviations, too."""
    inside = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        full = together * rng.standard_normal((10, 1)) + rng.standard_normal((10, 4))
        gaps = rng.random(full.shape) < 0.15
        gaps[:3] = False
        X = np.where(gaps, np.nan, full)
        low, high = LowRankImputer(random_state=0).fit(X).impute_interval(X)
        inside.append(((low <= full) & (full <= high))[gaps])
    assert np.concatenate(inside).mean() == pytest.approx(0.9, abs=0.08)


def test_indicators_of_an_array() -> None:
    X = np.random.default_rng(5).standard_normal((30, 3))
    X[3, 0] = X[5, 2] = np.nan
    model = LowRankImputer(add_indicator=True, random_state=0)
    found = model.fit_transform(X)
    assert found.shape == (30, 5)
    np.testing.assert_array_equal(found[:, 3:], np.isnan(X)[:, [0, 2]])
    names = ["x0", "x1", "x2", "missingindicator_x0", "missingindicator_x2"]
    assert list(model.get_feature_names_out()) == names


@pytest.mark.parametrize("settings", [{}, {"n_components": 1}], ids=str)
def test_columns_that_would_be_called_alike_are_refused(settings) -> None:
    X = np.random.default_rng(6).standard_normal((30, 3))
    X[3, 0] = X[5, 1] = np.nan
    model = LowRankImputer(add_indicator=True, random_state=0, **settings)
    for names, sentence in (
        (["missingindicator_b", "b", "c"], "X: has a column 'missingindicator_b', as add_ind"),
        (["b", "b", "c"], "X: two columns are called 'b'; rename one."),
    ):
        with pytest.raises(ValueError, match=sentence):
            model.fit(pd.DataFrame(X, columns=names))


@pytest.mark.parametrize("is_table", [False, True], ids=["array", "table"])
@pytest.mark.parametrize("rest", [0, 2])
def test_a_column_of_one_value_gets_it_for_certain(is_table, rest) -> None:
    rng = np.random.default_rng(7)
    X = np.column_stack([np.full(12, 0.1), rng.standard_normal((12, rest))])
    X[[3, 8], 0] = np.nan
    given = pd.DataFrame(X, columns=list("abc")[: rest + 1]) if is_table else X
    model = LowRankImputer(random_state=0).fit(given)
    answers = *model.impute_interval(given, 0.99), *model.sample_imputations(given, 3, 0)
    for found in (model.transform(given), *answers):
        assert np.all(np.asarray(found)[:, 0] == 0.1)
    assert np.all(model.impute_std(given)[:, 0] == 0)
    assert model.imputation_std_[0] == 0
