"""LowRankImputer: known cells keep their bits, the rest comes from the low rank."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, SimpleImputer
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from pygeco import LowRankImputer
from pygeco.bayes import table_gaussian


def table(seed=0, *, m=80, n=12, rank=2, noise=0.0, missing=0.2):
    """A low-rank table with columns of very different units, and the same with gaps."""
    rng = np.random.default_rng(seed)
    full = rng.standard_normal((m, rank)) @ rng.standard_normal((rank, n))
    full += noise * rng.standard_normal(full.shape)
    full = full * np.geomspace(1e-3, 1e5, n) + np.linspace(-1e4, 1e4, n)
    gaps = rng.random(full.shape) < missing
    return full, np.where(gaps, np.nan, full), gaps


def relative(found, full, gaps):
    return np.sqrt(np.mean((((found - full) / full.std(axis=0))[gaps]) ** 2))


def test_fills_a_low_rank_table():
    full, X, gaps = table()
    found = LowRankImputer(3, alpha=1e-6, random_state=0).fit_transform(X)
    assert relative(found, full, gaps) < 1e-2


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_known_cells_keep_their_bits(dtype):
    _, X, gaps = table(1)
    X = X.astype(dtype)
    X[0, 0], X[1, 1] = -0.0, np.nextafter(dtype(1), dtype(2))
    gaps = np.isnan(X)
    before = X.tobytes()
    found = LowRankImputer(random_state=0).fit_transform(X)
    assert X.tobytes() == before
    assert found.dtype == dtype
    assert found[~gaps].tobytes() == X[~gaps].tobytes()
    assert np.all(np.isfinite(found))


def test_chooses_a_rank_that_beats_the_means():
    full, X, gaps = table(2, noise=0.3, m=150)
    imputer = LowRankImputer(random_state=0).fit(X)
    assert imputer.n_components_ >= 2
    means = SimpleImputer().fit_transform(X)
    assert relative(imputer.transform(X), full, gaps) < 0.6 * relative(means, full, gaps)


def test_pure_noise_gets_little_more_than_the_means():
    rng = np.random.default_rng(3)
    full = rng.standard_normal((100, 6))
    gaps = rng.random(full.shape) < 0.2
    X = np.where(gaps, np.nan, full)
    found = LowRankImputer(random_state=0).fit_transform(X)
    assert relative(found, full, gaps) < 1.1 * relative(
        SimpleImputer().fit_transform(X), full, gaps
    )


def test_new_rows_are_filled_each_by_itself():
    full, X, gaps = table(4, m=160)
    imputer = LowRankImputer(3, alpha=1e-6, random_state=0).fit(X[:120])
    found = imputer.transform(X[120:])
    assert relative(found, full[120:], gaps[120:]) < 1e-2
    for t in (0, 17, 39):
        np.testing.assert_allclose(imputer.transform(X[120 + t : 121 + t])[0], found[t], rtol=1e-6)


def test_units_do_not_matter():
    _, X, gaps = table(5, noise=0.2)
    units = np.geomspace(1e-6, 1e6, X.shape[1])
    shift = np.linspace(-5, 5, X.shape[1])
    plain = LowRankImputer(random_state=0).fit_transform(X)
    other = LowRankImputer(random_state=0).fit_transform(X * units + shift)
    scale = plain.std(axis=0)
    gap = ((other - shift) / units - plain) / scale
    assert np.abs(gap[gaps]).max() < 1e-4


def test_without_components_it_is_the_mean():
    _, X, _ = table(6)
    found = LowRankImputer(0).fit_transform(X)
    np.testing.assert_allclose(found, SimpleImputer().fit_transform(X), rtol=1e-12)


def test_rows_and_columns_without_known_cells():
    _, X, _ = table(7)
    X[3] = np.nan
    X[:, 4] = np.nan
    imputer = LowRankImputer(2, random_state=0).fit(X)
    found = imputer.transform(X)
    others = np.delete(np.arange(12), 4)
    np.testing.assert_allclose(found[3, others], np.nanmean(X[:, others], axis=0), rtol=1e-10)
    assert not found[:, 4].any()
    X[0, 4] = 9.0  # known after the fit only
    assert imputer.transform(X)[0, 4] == 9.0
    assert not LowRankImputer(random_state=0).fit_transform(np.full((4, 3), np.nan)).any()


def test_constant_columns_and_one_column():
    X = np.column_stack([np.full(20, 7.0), np.arange(20.0)])
    X[4, 0], X[5, 1] = np.nan, np.nan
    found = LowRankImputer(random_state=0).fit_transform(X)
    assert found[4, 0] == pytest.approx(7.0)
    single = LowRankImputer(random_state=0).fit_transform([[1.0], [np.nan], [3.0]])
    assert single[1, 0] == 2.0


def test_huge_and_tiny_values_do_not_overflow():
    full, X, gaps = table(8)
    found = LowRankImputer(2, random_state=0).fit_transform(X * 1e200)
    plain = LowRankImputer(2, random_state=0).fit_transform(X)
    np.testing.assert_allclose(found / 1e200, plain, rtol=1e-5, atol=1e-8 * np.abs(full).max())
    assert gaps.any()


def test_in_a_pipeline_with_pandas_output():
    full, X, _ = table(9, noise=0.1)
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])
    target = full[:, 0] / full[:, 0].std()
    pipeline = make_pipeline(LowRankImputer(2, random_state=0), Ridge(1e-3))
    pipeline.set_output(transform="pandas").fit(frame, target)
    filled = pipeline[0].transform(frame)
    assert list(filled.columns) == list(frame.columns)
    assert not filled.isna().any().any()
    assert pipeline.predict(frame.iloc[:5]).shape == (5,)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_components": -1}, "n_components: must be between 0 and 3"),
        ({"n_components": 4}, "n_components: must be between 0 and 3"),
        ({"n_components": "two"}, "n_components: expected an integer or None"),
        ({"alpha": -0.1}, "alpha: must be a finite number ≥ 0 or None"),
        ({"alpha": "small"}, "alpha: must be a finite number ≥ 0 or None, not 'small'"),
    ],
)
def test_bad_parameters_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        LowRankImputer(**settings).fit(np.eye(5, 3))


def test_single_precision_with_a_column_of_zeros_and_one_of_nothing() -> None:
    X = np.array([[1.0, 0.0, np.nan], [2.0, np.nan, np.nan], [3.0, 0.0, np.nan]], np.float32)
    filled = LowRankImputer(1, random_state=0).fit_transform(X)
    assert filled.dtype == np.float32
    np.testing.assert_array_equal(filled[:, 1:], 0.0)


# The error of scikit-learn's IterativeImputer with a fifth of the cells masked, in column
# deviations; breast cancer and diabetes by `benchmarks/imputation.py`, for they take long.
ITERATIVE = {load_breast_cancer: 0.4075, load_diabetes: 0.7148, load_wine: None}


@pytest.mark.parametrize("load", ITERATIVE, ids=lambda load: load.__name__)
def test_as_good_as_the_iterative_imputer_on_real_tables(load) -> None:
    full = np.asarray(load().data, float)
    gaps = np.random.default_rng([0, 5]).random(full.shape) < 0.2
    X = np.where(gaps, np.nan, full)
    bound = ITERATIVE[load]
    if bound is None:
        with warnings.catch_warnings(action="ignore"):  # it has not converged
            bound = relative(IterativeImputer(random_state=0).fit_transform(X), full, gaps)
    assert relative(LowRankImputer(random_state=0).fit_transform(X), full, gaps) <= bound


@pytest.mark.parametrize("noise", [0.1, 1.0])
@pytest.mark.parametrize("shape", [(30, 90), (60, 60), (200, 15), (15, 10)])
def test_the_default_is_no_worse_than_the_rank_that_made_the_table(shape, noise) -> None:
    full, X, gaps = table(10, m=shape[0], n=shape[1], noise=noise)
    found = relative(LowRankImputer(random_state=0).fit_transform(X), full, gaps)
    alphas = (0.01, 0.1, 1.0)
    true = min(
        relative(LowRankImputer(2, alpha=a, random_state=0).fit_transform(X), full, gaps)
        for a in alphas
    )
    assert found < 1.1 * true + 0.01


def test_a_covariance_and_low_rank_fill_alike(monkeypatch) -> None:
    full, X, gaps = table(11, m=150, n=20, noise=0.3)
    wide = LowRankImputer(random_state=0).fit(X)
    monkeypatch.setattr(table_gaussian, "MAX_WORK", 0)
    low = LowRankImputer(random_state=0).fit(X)
    assert wide.n_components_ == 19
    assert low.n_components_ < 12
    assert wide.alpha_ is low.alpha_ is None
    assert relative(low.transform(X), wide.transform(X), gaps) < 0.15
    errors = [relative(model.transform(X), full, gaps) for model in (wide, low)]
    assert errors[1] == pytest.approx(errors[0], rel=0.1)


@pytest.mark.parametrize(("m", "n"), [(90, 7), (20, 40)], ids=["tall", "wide"])
def test_rows_are_the_conditional_means_of_the_gaussian(m, n) -> None:
    _, X, _ = table(12, m=m, n=n, noise=0.4)
    X[5] = np.nan
    model = LowRankImputer(random_state=0).fit(X)
    V = model.components_
    S = (V.T * model.deviations_**2) @ V + model.noise_ * np.eye(n)
    found = model.transform(X)
    standard, other = (X - model.mean_) / model.scale_, (found - model.mean_) / model.scale_
    for z, filled in zip(standard, other, strict=True):
        K = ~np.isnan(z)
        expected = S[np.ix_(~K, K)] @ np.linalg.solve(S[np.ix_(K, K)], z[K])
        np.testing.assert_allclose(filled[~K], expected, atol=1e-6)
    np.testing.assert_allclose(found[5], model.mean_, rtol=1e-12)


def test_given_rank_or_ridge_keeps_the_low_rank_model() -> None:
    _, X, _ = table(13, noise=0.3)
    for settings in ({"n_components": 2}, {"alpha": 0.1}, {"n_components": 2, "alpha": 0.1}):
        model = LowRankImputer(**settings, random_state=0).fit(X)
        assert model.alpha_ is not None
        assert np.array_equal(model.deviations_, np.ones(model.n_components_))
        assert model.noise_ == pytest.approx(model.alpha_ * np.mean(~np.isnan(X)))
