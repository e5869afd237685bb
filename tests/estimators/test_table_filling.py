"""Tables of any types: filled in their types, by laws of order, names and units."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import pygeco
from pygeco import Columns, LowRankImputer
from pygeco.estimators import _table_filling


def make_table(seed=0, n=300, missing=0.2):
    """One hidden number, which all columns tell of; whole, and with gaps."""
    rng = np.random.default_rng(seed)
    u = rng.standard_normal(n)

    def near(noise):
        return u + noise * rng.standard_normal(n)

    full = pd.DataFrame(
        {
            "number": 3 * near(0.3) + 50,
            "income": np.exp(near(0.4)) * 1_000,
            "visits": pd.array(rng.poisson(np.exp(1.5 + 0.8 * u)), "Int64"),
            "smokes": pd.array(near(0.4) > 0, "boolean"),
            "grade": pd.Categorical.from_codes(
                np.digitize(near(0.3), [-1, 0, 1]), ["A", "B", "C", "D"], ordered=True
            ),
            "city": pd.Categorical.from_codes(
                np.digitize(near(0.3), [-0.6, 0.6]), ["Oslo", "Bonn", "Rome"]
            ),
            "born": pd.Timestamp("1990-01-01") + pd.to_timedelta(np.round(900 * near(0.3)), "D"),
        }
    )
    gaps = rng.random(full.shape) < missing
    table = full.copy()
    for k, name in enumerate(table):
        table.loc[gaps[:, k], name] = pd.NA
    return full, table, gaps


FULL, TABLE, GAPS = make_table()


@pytest.fixture(scope="module")
def model():
    return LowRankImputer(random_state=0).fit(TABLE)


def share_equal(found, name):
    at = GAPS[:, TABLE.columns.get_loc(name)]
    return np.mean(found[name][at].astype(str) == FULL[name][at].astype(str))


def test_all_kinds_are_filled_in_their_types(model) -> None:
    before = TABLE.copy()
    found = model.transform(TABLE)
    pd.testing.assert_frame_equal(TABLE, before)
    assert found.dtypes.equals(TABLE.dtypes)
    assert not found.isna().any().any()
    for k, name in enumerate(TABLE):
        known = ~GAPS[:, k]
        assert found[name][known].equals(TABLE[name][known])
    kinds = ["number", "positive", "count", "yes/no", "levels", "category", "number"]
    assert list(model.columns_.kinds.values()) == kinds
    for name in ("number", "born"):
        error = (found[name] - FULL[name])[GAPS[:, TABLE.columns.get_loc(name)]] / FULL[name].std()
        assert np.sqrt(np.mean(error.to_numpy() ** 2)) < 0.5
    assert (found["income"] > 0).all()
    assert np.all(found["born"].dt.normalize() == found["born"])  # dates stay dates
    assert share_equal(found, "smokes") > 0.75
    assert share_equal(found, "city") > 0.6
    assert share_equal(found, "grade") > 0.5


def test_other_packages_give_the_same_cells(model) -> None:
    found = model.transform(TABLE)
    frame = pl.from_pandas(TABLE)
    order = {"grade": ["A", "B", "C", "D"]}  # which polars has not kept
    other = clone(model).set_params(columns=order).fit(frame).transform(frame)
    assert other.schema == frame.schema
    np.testing.assert_allclose(other["number"].to_numpy(), found["number"], rtol=1e-4)
    assert other["city"].to_list() == found["city"].tolist()
    arrow = pa.Table.from_pandas(TABLE)
    filled = clone(model).fit(arrow).transform(arrow)
    assert filled.schema.equals(arrow.schema)
    assert filled.column("visits").to_pylist() == found["visits"].tolist()


def test_the_order_of_rows_and_columns_does_not_matter(model) -> None:
    rng = np.random.default_rng(1)
    rows, names = rng.permutation(len(TABLE)), list(TABLE.columns[rng.permutation(7)])
    turned = TABLE.iloc[rows][names]
    found = clone(model).fit(turned).transform(turned).sort_index()[list(TABLE.columns)]
    expected = model.transform(TABLE)
    np.testing.assert_allclose(found["number"], expected["number"], rtol=1e-6)
    for name in ("visits", "smokes", "grade", "city", "born"):
        assert found[name].astype(str).tolist() == expected[name].astype(str).tolist()


def test_names_of_categories_and_units_do_not_matter(model) -> None:
    names = {"Oslo": "zz", "Bonn": "mm", "Rome": "aa"}
    other = TABLE.assign(
        city=TABLE["city"].astype("str").map(names).astype("category"),
        number=TABLE["number"] * 1e6 - 3e7,
        income=TABLE["income"] / 1e3,
    )
    found = clone(model).fit(other).transform(other)
    expected = model.transform(TABLE)
    assert found["city"].tolist() == [names[city] for city in expected["city"]]
    np.testing.assert_allclose((found["number"] + 3e7) / 1e6, expected["number"], rtol=1e-6)
    np.testing.assert_allclose(found["income"] * 1e3, expected["income"], rtol=1e-6)
    assert found["grade"].tolist() == expected["grade"].tolist()


@pytest.mark.parametrize("name", list(TABLE.columns))
def test_a_column_alone_gets_what_its_own_cells_say(name) -> None:
    alone = TABLE[[name]]
    found = LowRankImputer(random_state=0).fit_transform(alone)[name]
    filled = found[GAPS[:, TABLE.columns.get_loc(name)]]
    known = alone[name].dropna()
    assert filled.nunique() == 1
    if name in ("smokes", "city"):
        assert filled.iloc[0] == known.mode()[0]
    elif name == "grade":
        assert filled.iloc[0] == known.sort_values().iloc[(len(known) - 1) // 2]
    elif name == "born":
        assert abs(filled.iloc[0] - known.mean()) < pd.Timedelta(days=1)
    else:
        assert float(filled.iloc[0]) == pytest.approx(known.astype(float).mean(), rel=0.1)


def test_new_rows_are_filled_each_by_itself_and_blocks_do_not_show(model, monkeypatch) -> None:
    _, table, _ = make_table(5, n=40)
    found = model.transform(table)
    monkeypatch.setattr(_table_filling, "BLOCK_ROWS", 7)
    pd.testing.assert_frame_equal(model.transform(table), found)
    pd.testing.assert_frame_equal(model.transform(table.iloc[[3]]), found.iloc[[3]])
    assert model.transform(table.iloc[:0]).shape == (0, 7)
    strange = table.assign(city="Lima")  # a category that the fit has not seen says nothing
    assert (model.transform(strange)["city"] == "Lima").all()


@pytest.mark.parametrize("name", TABLE.columns)
def test_a_row_may_come_alone_without_a_cell_that_tells_the_type(model, name) -> None:
    row = FULL.iloc[[7]]
    typed = row.assign(**{name: row[name].mask([True])})
    expected = model.transform(typed)
    for nothing in (None, pd.NA, np.nan):
        given = row.assign(**{name: [nothing]}, index=0).drop(columns="index")
        found = model.transform(given)
        if nothing is not np.nan or name != "visits":  # a number, which stays one
            pd.testing.assert_frame_equal(found, expected)
        for one in (*model.impute_interval(given), *model.sample_imputations(given, 2, 0)):
            assert one.dtypes.equals(found.dtypes)
    other = pl.from_pandas(row).with_columns(pl.lit(None).alias(name))
    filled = model.transform(other)
    assert str(filled[name][0]) == str(pl.from_pandas(expected)[name][0])
    assert str(model.transform(pa.table(other))[name][0]) == str(pa.table(filled)[name][0])


def test_ways_to_fill(model) -> None:
    table = TABLE.assign(grade=TABLE["grade"].cat.codes.replace(-1, np.nan).astype(float))
    found = {
        way: LowRankImputer(fill=way, random_state=0).fit_transform(table)
        for way in ("auto", "mean", "median")
    }
    gaps = GAPS[:, 4]
    assert set(found["auto"]["grade"]) <= {0, 1, 2, 3}
    assert found["auto"]["grade"].equals(found["median"]["grade"])
    true = FULL["grade"].cat.codes[gaps]
    errors = {way: found[way]["grade"][gaps] - true for way in found}
    assert np.mean(errors["mean"] ** 2) < np.mean(errors["auto"] ** 2)
    assert found["median"]["income"][GAPS[:, 1]].mean() < found["mean"]["income"][GAPS[:, 1]].mean()
    with pytest.raises(ValueError, match="fill: expected one of auto, mean, median"):
        LowRankImputer(fill="mode").fit(TABLE)


def test_a_file_keeps_all_of_it(model, tmp_path) -> None:
    model.save(tmp_path / "model")
    other = pygeco.load(tmp_path / "model")
    pd.testing.assert_frame_equal(other.transform(TABLE), model.transform(TABLE))
    assert other.columns_ == model.columns_
    given = LowRankImputer(columns=Columns({"grade": "category"}), random_state=0).fit(TABLE)
    given.save(tmp_path / "given")
    assert pygeco.load(tmp_path / "given").columns.kinds == {"grade": "category"}


@pytest.mark.parametrize("rare", ["b{}", "a!{}", "zz{}"])
def test_what_is_not_filled_in_does_not_count_for_what_is(rare) -> None:
    """The thirty most frequent of many categories, or levels by hand, among any other texts."""
    rng = np.random.default_rng(0)
    top = [f"a{k:02d}" for k in range(30)]
    many = rng.permutation([*top * 40, *["a20"] * 60, *(rare.format(k) for k in range(300))])
    model = LowRankImputer(random_state=0).fit(pd.DataFrame({"a": np.arange(1560.0), "b": many}))
    assert model.transform(pd.DataFrame({"a": [3.0], "b": [None]}, dtype=object))["b"][0] == "a20"
    np.testing.assert_allclose(np.unique(model.table_.codes[0].shares), [40 / 1260, 100 / 1260])
    some = pd.DataFrame({"g": rng.permutation([*["lo", "mid", "hi"] * 9, "mid", rare.format(1)])})
    model = LowRankImputer(columns={"g": ["lo", "mid", "hi"]}, random_state=0).fit(some)
    np.testing.assert_allclose(model.table_.codes[0].shares, [9 / 28, 10 / 28, 9 / 28])


def test_sparse_columns_come_back_dense_and_streams_are_told(model) -> None:
    sparse = TABLE.assign(number=TABLE["number"].astype(pd.SparseDtype(float, np.nan)))
    pd.testing.assert_frame_equal(model.transform(sparse), model.transform(TABLE))
    assert clone(model).fit(sparse).columns_ == model.columns_
    np.testing.assert_array_equal(model.impute_std(sparse), model.impute_std(TABLE))
    for ask in (model.fit, model.transform, model.impute_interval):
        with pytest.raises(ValueError, match="X: a RecordBatchReader is no table"):
            ask(pa.table(TABLE).to_reader())


def test_in_a_pipeline_with_categories() -> None:
    data = load_iris(as_frame=True)
    table = data.data.assign(size=pd.cut(data.data.iloc[:, 0], 3, labels=["s", "m", "l"]))
    table = table.mask(np.random.default_rng(0).random(table.shape) < 0.2)
    imputer = LowRankImputer(add_indicator=True, random_state=0).set_output(transform="pandas")
    steps = make_pipeline(imputer, OneHotEncoder(handle_unknown="ignore"), LogisticRegression())
    assert steps.fit(table, data.target).score(table, data.target) > 0.9
    names = list(imputer.get_feature_names_out())
    assert names[:5] == list(table.columns)
    assert names[5:] == [f"missingindicator_{name}" for name in table.columns]


def test_wrong_tables_are_told(model) -> None:
    with pytest.raises(ValueError, match="feature names"):
        model.transform(TABLE.drop(columns="city"))
    with pytest.raises(ValueError, match="no column can be filled"):
        LowRankImputer().fit(pd.DataFrame({"a": [np.nan, np.nan]}))
    with pytest.raises(ValueError, match="columns: kinds of columns need a table"):
        LowRankImputer(columns={"a": "number"}).fit(np.eye(3))


def test_positive_numbers_and_counts_stay_so_in_plain_shape() -> None:
    table = TABLE[["income", "visits", "number"]].iloc[:60]  # too few cells to choose a shape by
    model = LowRankImputer(random_state=0).fit(table)
    assert model.shape_ == "plain"
    low, _ = model.impute_interval(table, 0.99)
    for found in (model.transform(table), low, *model.sample_imputations(table, 3, 0)):
        assert (found["income"] >= table["income"].min()).all()
        assert (found["visits"] >= 0).all()


def test_skewed_numbers_are_filled_better_than_by_a_plain_gaussian() -> None:
    full = load_wine(as_frame=True).data
    full = np.exp(3 * (full - full.mean()) / full.std())
    gaps = np.random.default_rng(2).random(full.shape) < 0.2
    table = full.mask(gaps)
    found = LowRankImputer(random_state=0).fit(table)
    assert found.shape_ in ("power", "ranks")
    plain = LowRankImputer(random_state=0).fit_transform(table.to_numpy())
    mine = np.abs(np.log(found.transform(table).to_numpy()) - np.log(full))[gaps].mean().mean()
    theirs = np.abs(np.log(np.maximum(plain, full.min())) - np.log(full))[gaps].mean().mean()
    assert mine < 0.8 * theirs


LARGE = {
    "UInt64": pd.array(np.uint64(2**63 + 7) + (np.arange(60) % 41).astype("uint64"), "UInt64"),
    "Int64": pd.array(-(2**53) - 1 - np.arange(60) % 41, "Int64"),
    "ns": pd.to_datetime(1_700_000_000_123_456_789 + np.arange(60) % 41),
    "span": pd.to_timedelta(2**61 + np.arange(60) % 41, "ns"),
    "time": pd.array(np.arange(60) % 41, "int64[pyarrow]").astype("time64[ns][pyarrow]"),
}


@pytest.mark.parametrize("kind", LARGE)
@pytest.mark.parametrize("is_constant", [False, True])
def test_what_float64_does_not_tell_apart_is_told_apart(kind, is_constant, tmp_path) -> None:
    """Filled by a column that says it, and no known cell changes."""
    cells = LARGE[kind][[5] * 60] if is_constant else LARGE[kind]
    full = pd.DataFrame({"a": np.arange(60) % 41 + 0.5, "b": cells})
    table = full.copy()
    table.loc[::7, "b"] = None
    model = LowRankImputer(random_state=0).fit(table)
    found = model.transform(table)
    assert found.dtypes.equals(full.dtypes)
    integer = {"time": "int64[pyarrow]", "UInt64": "uint64"}.get(kind, "int64")
    whole = [frame["b"].astype(integer) for frame in (found, full)]
    error = [int(mine) - int(true) for mine, true in zip(*whole, strict=True)]
    assert not any(error[k] for k in range(60) if k % 7)
    assert max(map(abs, error)) <= (0 if is_constant else 2)
    model.save(tmp_path / "model")
    pd.testing.assert_frame_equal(pygeco.load(tmp_path / "model").transform(table), found)
