"""Attributes of any table as a matrix: against scikit-learn's encoders, and its laws."""

import datetime as dt
import json
import warnings

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.preprocessing import MultiLabelBinarizer, OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import pygeco
from pygeco import Attributes
from pygeco.errors import AttributeWarning
from pygeco.estimators._attribute_coding import Group

BY_NAME = "The columns of a table are found by their names, in any order, and others passed over."


@parametrize_with_checks(
    [Attributes()],
    expected_failed_checks=lambda _: {"check_dataframe_column_names_consistency": BY_NAME},
)
def test_scikit_learn_checks(estimator, check) -> None:
    check(estimator)


def people(n: int = 40, seed: int = 0, gaps: bool = True) -> dict[str, list]:
    """A table with a column of each kind, some cells missing."""
    rng = np.random.default_rng(seed)
    genres = ["Action", "Children's", "Drama", "Sci-Fi"]
    first = dt.date(1950, 1, 1)
    table = {
        "user_id": [int(k) for k in 1000 - 7 * np.arange(n)],
        "age": rng.normal(40, 12, n).tolist(),
        "visits": rng.integers(0, 9, n).tolist(),
        "sex": rng.choice(["F", "M", "X"], n).tolist(),
        "member": rng.choice([True, False], n).tolist(),
        "likes": [list(rng.choice(genres, rng.integers(1, 4), False)) for _ in range(n)],
        "born": [first + dt.timedelta(days=int(d)) for d in rng.integers(0, 9000, n)],
    }
    table["likes"] = [[str(word) for word in row] for row in table["likes"]]
    table["genres"] = ["|".join(row) for row in table["likes"]]
    for name in table if gaps else ():
        if name != "user_id":
            for k in rng.choice(n, 4, replace=False):
                table[name][k] = None
    return table


def dense(found) -> np.ndarray:
    assert isinstance(found, sp.csr_array)
    assert found.dtype == np.float32
    assert found.has_canonical_format
    return found.toarray()


def columns(encoder, name: str) -> list[int]:
    names = encoder.get_feature_names_out().tolist()
    return [k for k, one in enumerate(names) if one == name or one.startswith(f"{name}=")]


KINDS = {
    "pyarrow": lambda t: t,
    "chunks": lambda t: pa.concat_tables([t.slice(0, 11), t.slice(11)]),
    "pandas": lambda t: t.to_pandas(),
    "index": lambda t: t.to_pandas().set_index("user_id"),
    "categorical": lambda t: t.to_pandas().astype({"sex": "category"}),
    "polars": pl.from_arrow,
    "duckdb": duckdb.from_arrow,
    "reader": lambda t: t.to_reader(max_chunksize=7),
    "arrays": lambda t: {name: t.column(name).to_numpy() for name in t.column_names},
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_package_gives_the_same_matrix(kind) -> None:
    table = people()
    wanted = dense(Attributes().fit_transform(table))
    encoder = Attributes()
    found = dense(encoder.fit_transform(KINDS[kind](pa.table(table))))
    order = [k for group in Attributes().fit(table).groups_ for k in columns(encoder, group.name)]
    np.testing.assert_array_equal(found[:, order], wanted)
    assert encoder.id_column_ == "user_id"
    assert encoder.ids_.tolist() == table["user_id"]
    assert encoder.n_features_in_ == len(table)


def test_numbers_are_those_of_the_standard_scaler() -> None:
    table = people()
    encoder = Attributes().fit(table)
    raw = np.array([[table[name][k] for name in ("age", "visits")] for k in range(40)], float)
    oracle = np.nan_to_num(StandardScaler().fit_transform(raw))
    found = dense(encoder.transform(table))
    np.testing.assert_allclose(found[:, columns(encoder, "age")], oracle[:, :1], atol=1e-6)
    np.testing.assert_allclose(found[:, columns(encoder, "visits")], oracle[:, 1:], atol=1e-6)
    days = [[np.nan if day is None else day.toordinal()] for day in table["born"]]
    oracle = np.nan_to_num(StandardScaler().fit_transform(days))
    np.testing.assert_allclose(found[:, columns(encoder, "born")], oracle, atol=1e-6)


@pytest.mark.parametrize("name", ["sex", "member"])
def test_categories_are_those_of_the_one_hot_encoder(name) -> None:
    table = people(gaps=False)
    encoder = Attributes().fit(table)
    oracle = OneHotEncoder(sparse_output=False)
    wanted = oracle.fit_transform(np.array(table[name], object)[:, None])
    np.testing.assert_array_equal(
        dense(encoder.transform(table))[:, columns(encoder, name)], wanted
    )
    names = [f"{name}={level}" for level in oracle.categories_[0]]
    assert [encoder.get_feature_names_out()[k] for k in columns(encoder, name)] == names


def test_codes_are_numbers_unless_named_and_then_in_the_order_of_numbers() -> None:
    table = {"code": [10, 2, 1, 10, 2, 1], "x": [1.0, 2, 3, 4, 5, 6]}
    assert Attributes().fit(table).groups_ == (Group("code", 1, "number"), Group("x", 1, "number"))
    for categories in (["code"], "code", (0,)):
        encoder = Attributes(categories=categories).fit(table)
        assert encoder.groups_[0] == Group("code", 3, "category")
    names = encoder.get_feature_names_out().tolist()
    assert names == ["code=1", "code=2", "code=10", "x"]
    # A table with a gap holds the same codes as floats.
    gap = pd.DataFrame({"code": [10, None, 7], "x": 1.0})
    with pytest.warns(AttributeWarning, match="1 row.* 'code' that the fit did not have.* '7'"):
        found = dense(encoder.transform(gap))
    np.testing.assert_allclose(found[:, :3], [[0, 0, 1], [1 / 3] * 3, [1 / 3] * 3], rtol=1e-6)


@pytest.mark.parametrize("name", ["likes", "genres"])
def test_lists_are_those_of_the_label_binarizer(name) -> None:
    table = people(gaps=False)
    oracle = MultiLabelBinarizer()
    ones = oracle.fit_transform(table["likes"])
    encoder = Attributes().fit({name: table[name]})
    assert encoder.groups_ == (Group(name, 4, "list"),)
    found = dense(encoder.transform({name: table[name]}))
    np.testing.assert_allclose(found, ones / np.sqrt(ones.sum(axis=1, keepdims=True)), rtol=1e-6)
    np.testing.assert_allclose(np.sum(found**2, axis=1), 1, rtol=1e-6)
    assert encoder.get_feature_names_out().tolist() == [f"{name}={c}" for c in oracle.classes_]


def test_words_are_trimmed_counted_once_and_parted_by_the_separator() -> None:
    table = {"tags": ["a; b ;a", " c", "a;;", "b"]}
    found = Attributes(separator=";").fit(table)
    r = np.sqrt(0.5)
    np.testing.assert_allclose(
        dense(found.transform(table)), [[r, r, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0]], rtol=1e-6
    )
    table = {"tags": ["a", "b", "a", "b"]}
    assert Attributes(lists=["tags"]).fit(table).groups_ == (Group("tags", 2, "list"),)
    whole = Attributes(categories=["g"]).fit({"g": ["a|b", "a", "a|b"]})
    assert whole.get_feature_names_out().tolist() == ["g=a", "g=a|b"]
    # An empty list has no word; one that is missing has its own level.
    lists = Attributes().fit({"tags": [[], ["b"], None, ["b", "a"]]})
    found = dense(lists.transform({"tags": [[], None]}))
    np.testing.assert_array_equal(found, [[0, 0, 0], [0, 0, 1]])
    # One word is not constant where some rows lack it.
    found = dense(Attributes().fit_transform({"tags": [["a"], [], ["a"]]}))
    np.testing.assert_array_equal(found, [[1], [0], [1]])


@pytest.mark.parametrize("seed", range(3))
def test_permuted_rows_give_permuted_rows(seed) -> None:
    table = people(seed=seed)
    order = np.random.default_rng(seed).permutation(40)
    mixed = {name: [values[k] for k in order] for name, values in table.items()}
    one, two = Attributes().fit(table), Attributes().fit(mixed)
    np.testing.assert_allclose(
        dense(two.transform(mixed)), dense(one.transform(table))[order], atol=1e-6
    )
    np.testing.assert_array_equal(dense(one.transform(mixed)), dense(one.transform(table))[order])


@pytest.mark.parametrize(("scale", "shift"), [(1e-3, 0.0), (1.0, 1e6), (-2e5, 3.0), (1e300, 0)])
def test_scale_and_shift_of_a_number_change_nothing_but_its_sign(scale, shift) -> None:
    age = np.random.default_rng(1).normal(size=30)
    age[[3, 9]] = np.nan
    plain = dense(Attributes().fit_transform({"age": age}))
    moved = dense(Attributes().fit_transform({"age": scale * age + shift}))
    np.testing.assert_allclose(moved, np.sign(scale) * plain, atol=1e-5)


@pytest.mark.parametrize("kind", ["dict", "pandas", "polars"])
def test_one_row_is_that_row_of_all(kind) -> None:
    table = people()
    make = {"dict": dict, "pandas": pd.DataFrame, "polars": pl.DataFrame}[kind]
    encoder = Attributes().fit(make(table))
    whole = dense(encoder.transform(make(table)))
    for k in range(0, 40, 4):
        row = make({name: [values[k]] for name, values in table.items()})
        np.testing.assert_array_equal(dense(encoder.transform(row))[0], whole[k])


def test_missing_levels_have_their_own_column_if_the_fit_met_some() -> None:
    table = {"sex": ["F", None, "M", "F"], "job": ["a", "b", "b", "a"]}
    encoder = Attributes().fit(table)
    names = ["sex=F", "sex=M", "sex=missing", "job=a", "job=b"]
    assert encoder.get_feature_names_out().tolist() == names
    asked = {"sex": [None, "F", ""], "job": [None, "a", "b"]}
    half = [0.5, 0.5]
    wanted = [[0, 0, 1, *half], [1, 0, 0, 1, 0], [0, 0, 1, 0, 1]]
    np.testing.assert_array_equal(dense(encoder.transform(asked)), wanted)
    with pytest.warns(AttributeWarning) as told:
        found = dense(encoder.transform({"sex": ["Z", "M"], "job": ["y", "z"]}))
    assert len(told) == 1
    assert told[0].filename == __file__
    assert "1 row(s) have levels of column 'sex'" in str(told[0].message)
    assert "such as 'Z', and in 'job'; they count as the average" in str(told[0].message)
    np.testing.assert_array_equal(found, [[0.5, 0.25, 0.25, *half], [0, 1, 0, *half]])
    # Of a list the words that are known count; without any it is the average.
    lists = Attributes().fit({"g": ["a|b", "a", "b", "b"]})
    with pytest.warns(AttributeWarning, match="2 row"):
        found = dense(lists.transform({"g": ["a|z", "y|z", "b"]}))
    r = np.sqrt(0.5)
    np.testing.assert_allclose(found, [[1, 0], [(1 + r) / 4, (2 + r) / 4], [0, 1]], rtol=1e-6)


def test_what_says_nothing_is_left_out_and_said() -> None:
    n = 30
    table = {
        "id": np.arange(n),
        "title": [f"Film {k // 1.02}" for k in range(n)],
        "one": ["x"] * n,
        "flag": [True] * n,
        "zero": np.zeros(n),
        "gone": [None] * n,
        "nan": np.full(n, np.nan),
        "blank": [" ", ""] * (n // 2),
        "age": np.arange(n) % 7,
    }
    with pytest.warns(AttributeWarning) as told:
        encoder = Attributes().fit(table)
    assert [str(one.message).split(",")[0] for one in told] == [
        "X: 'title' is left out as an identifier"
    ]
    assert told[0].filename == __file__
    assert encoder.dropped_ == {
        "title": "identifier",
        **dict.fromkeys(["one", "flag", "zero"], "constant"),
        **dict.fromkeys(["gone", "nan", "blank"], "no known value"),
    }
    assert encoder.groups_ == (Group("age", 1, "number"),)
    kept = Attributes(categories=["title"]).fit(table)
    assert kept.groups_[0].size == len(set(table["title"]))
    many = {"word": np.repeat([f"w{k}" for k in range(5001)], 2), "x": np.arange(10002.0)}
    with pytest.warns(AttributeWarning, match="one level a row or more than 5,000"):
        assert Attributes().fit(many).dropped_ == {"word": "identifier"}


@pytest.mark.parametrize(
    ("table", "found"),
    [
        ({"age": [1, 2, 2], "userId": [5, 6, 7]}, "userId"),
        ({"Movie ID": ["a", "b"], "x": [1, 2]}, "Movie ID"),
        ({"director_id": [1, 1], "movie_id": [3, 4], "x": [1, 2]}, "movie_id"),
        ({"item": ["a", "b"], "x": [1, 2]}, "item"),
        ({"item": ["a", "a", "b"], "x": [1, 2, 3]}, None),
        ({"x": [1, 2], "pages": [3, 4]}, None),
        ({"age": [1, 2], "postcode": ["3", "4"]}, None),
        ({"code": [f"c{k}" for k in range(12)], "x": np.arange(12) % 5}, "code"),
        ({"code": np.arange(12) / 2, "x": np.arange(12) % 5}, None),
        ({"code": np.arange(12), "x": np.arange(12) % 5}, "code"),
        ({"born": np.arange(12).astype("M8[D]"), "x": np.arange(12) % 5}, None),
        ({"code": np.arange(12)}, None),
    ],
)
def test_the_column_of_ids_is_found(table, found) -> None:
    for given in (table, pa.table(table)):
        encoder = Attributes().fit(given)
        assert encoder.id_column_ == found
        assert found not in [group.name for group in encoder.groups_]
    if found is not None:
        other = Attributes(id_column=None, categories=[found]).fit(table)
        assert other.id_column_ is other.ids_ is None
        assert found in [group.name for group in other.groups_]


def test_columns_are_found_by_name_in_any_order() -> None:
    table = people()
    encoder = Attributes().fit(table)
    mixed = {"more": [1] * 40} | {name: table[name] for name in reversed(table)}
    del mixed["user_id"]
    np.testing.assert_array_equal(dense(encoder.transform(mixed)), dense(encoder.transform(table)))
    del mixed["sex"], mixed["age"]
    with pytest.raises(ValueError, match=r"^X: lacks 'age', 'sex', which the fit had; its columns"):
        encoder.transform(mixed)


def test_matrices_have_groups() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(3, 2, (30, 4))
    X[:, 2] = 5
    X[4, 0] = np.nan
    encoder = Attributes().fit(X)
    assert encoder.groups_ == tuple(Group(f"x{k}", 1, "number") for k in (0, 1, 3))
    assert encoder.dropped_ == {"x2": "constant"}
    oracle = np.nan_to_num(StandardScaler().fit_transform(X))[:, [0, 1, 3]]
    np.testing.assert_allclose(dense(encoder.transform(X)), oracle, atol=1e-6)
    for groups in ({"a": 3, "b": 1}, [("a", 3), ("b", 1)]):
        encoder = Attributes(groups=groups).fit(X)
        assert encoder.groups_ == (Group("a", 2, "number"), Group("b", 1, "number"))
        assert encoder.get_feature_names_out().tolist() == ["a_0", "a_1", "b"]
        np.testing.assert_allclose(dense(encoder.transform(X)), oracle, atol=1e-6)
    assert [g.name for g in Attributes(groups=list("pqrs")).fit(X).groups_] == ["p", "q", "s"]
    S = sp.random_array((30, 50), density=0.1, rng=1, format="coo")
    for made in (S, S.tocsc(), S.tocsr()):
        encoder = Attributes().fit(made)
        assert encoder.groups_ == (Group("attributes", 50, "matrix"),)
        np.testing.assert_array_equal(
            dense(encoder.transform(made)), S.toarray().astype(np.float32)
        )
    assert Attributes(groups={"a": 20, "b": 30}).fit(S).groups_[1] == Group("b", 30, "matrix")


@pytest.mark.parametrize(
    "make",
    [
        lambda: (Attributes(categories=("visits",)), people()),
        lambda: (Attributes(), people(gaps=False)),
        lambda: (Attributes(groups={"a": 2, "b": 1}), np.arange(12.0).reshape(4, 3) ** 2),
        lambda: (Attributes(), sp.random_array((9, 5), density=0.5, rng=0)),
        lambda: (Attributes(), {"id": ["b", "a"], "x=": ["y", None], "x": ["=y", "z"]}),
    ],
)
def test_the_state_and_the_file_give_the_same_encoder(make, tmp_path) -> None:
    encoder, table = make()
    encoder.fit(table)
    state = encoder.to_state()
    plain = json.loads(json.dumps(state, default=lambda it: {"array": it.tolist()}))
    assert set(plain) == {"settings", "fitted"}
    encoder.save(tmp_path / "file")
    with pytest.raises(ValueError, match="n_features_in_ is missing"):
        Attributes.from_state(state | {"fitted": {}})
    for found in (Attributes.from_state(state), pygeco.load(tmp_path / "file")):
        assert type(found) is Attributes
        assert found.get_params() == encoder.get_params()
        assert found.groups_ == encoder.groups_
        assert found.dropped_ == encoder.dropped_
        np.testing.assert_array_equal(found.ids_, encoder.ids_)
        names = encoder.get_feature_names_out().tolist()
        assert found.get_feature_names_out().tolist() == names
        assert len(set(names)) == len(names)
        np.testing.assert_array_equal(
            dense(found.transform(table)), dense(encoder.transform(table))
        )


def spoiled(name: str, value) -> dict:
    """A state with another value of one part of the coder of column `name`."""
    state = Attributes().fit(people()).to_state()
    for coder in state["fitted"]["coders"]:
        if coder["name"] == name:
            coder |= value
    return state


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("age", {"scale": 0.0}, "scale is 0.0, not a finite number"),
        ("age", {"mean": np.nan}, "mean is nan"),
        ("age", {"coder": "other"}, "a coder of kind 'other' is not known"),
        ("sex", {"levels": np.array(["F"], object)}, "average has another length"),
        ("sex", {"levels": np.array(list("FFM"), object)}, "levels repeat a level"),
        ("sex", {"kind": "matrix"}, "levels of kind 'matrix' are not known"),
        ("sex", {"more": 1}, "more is no part of a coder"),
    ],
)
def test_a_state_whose_parts_do_not_fit_is_refused(name, value, told) -> None:
    nameless = spoiled("age", {})
    del nameless["fitted"]["feature_names_in_"]
    with pytest.raises(ValueError, match="feature_names_in_ is missing"):
        Attributes.from_state(nameless)
    with pytest.raises(ValueError, match=told):
        Attributes.from_state(spoiled(name, value))


@pytest.mark.parametrize(
    ("X", "part", "value", "told"),
    [
        (np.eye(3), {"n_features_in_": 2}, {}, "kept leads out of the matrix"),
        (np.eye(3), {}, {"kept": np.array([-1, 0, 1])}, "kept leads out of the matrix"),
        (np.eye(3), {}, {"mean": None}, "mean and scale are not both there"),
        (np.eye(3), {}, {"scale": np.zeros(3)}, "scale is not above zero"),
        (np.eye(3), {}, {"columns": ["a"]}, "columns has length 1, not 3"),
        (np.eye(3), {}, {"groups": [["a", 2, "number"]]}, "columns has length 3, not 2"),
        (sp.csr_array(np.eye(3)), {"n_features_in_": 2}, {}, "groups have 3 columns, not 2"),
        (np.eye(3), {"coders": []}, {}, "coders have no groups"),
    ],
)
def test_a_state_of_a_matrix_whose_parts_do_not_fit_is_refused(X, part, value, told) -> None:
    state = Attributes().fit(X).to_state()
    state["fitted"]["coders"][0] |= value
    state["fitted"] |= part
    with pytest.raises(ValueError, match=told):
        Attributes.from_state(state)


def test_ugly_names_and_levels_stay_apart() -> None:
    table = {
        "a": ["b=c", "x", "missing", None],
        "a=b": ["c", "d", "c", "d"],
        "": [1, 2, 3, 5],
        "日本 \n": [1.5, None, 2, 9],
    }
    encoder = Attributes(id_column=None).fit(table)
    assert encoder.get_feature_names_out().tolist() == [
        *("a=b=c", "a=missing", "a=x", "a=missing (2)"),
        *("a=b=c (2)", "a=b=d", "", "日本 \n"),
    ]
    found = dense(encoder.transform(table))
    np.testing.assert_array_equal(found[:, :4], np.eye(4)[[0, 2, 1, 3]])
    numbered = pd.DataFrame({0: [1.0, 2, 4], 1: ["a", "b", "a"]})
    assert Attributes().fit(numbered).get_feature_names_out().tolist() == ["0", "1=a", "1=b"]


@pytest.mark.parametrize(
    ("settings", "table", "told"),
    [
        ({}, {}, "X: the table has no rows; give at least two."),
        ({}, {"x": []}, "X: the table has no rows; give at least two."),
        ({}, {"id": [1, 2]}, "X: has no column of attributes; give one besides the ids."),
        ({}, {"x": [1, "a", 2]}, "column 'x': holds values of several kinds, such as 1 and 'a';"),
        ({}, {"x": [1, 2], "y": [1, 2, 3]}, "X: column 'y' has 3 rows, but 'x' has 2."),
        ({}, {"x": "text"}, "column 'x': expected one value a row, not 'text'."),
        ({}, {"x": np.ones((2, 2))}, "column 'x': has 2 dimensions, not one."),
        ({}, {"x": [1, np.inf]}, "column 'x': row 2 holds infinity; correct it, or make it"),
        ({}, {"x": [object(), 1]}, "column 'x': holds values of several kinds"),
        ({}, {"x": [{}, {}]}, "column 'x': values of type dict cannot be attributes;"),
        ({}, {"x": [1j, 2j]}, "column 'x': values of type complex cannot be attributes;"),
        ({}, {"x": [[0.5], [1.5, 2.0]]}, "column 'x': its lists hold float, not words; give"),
        ({}, {"x": [1, 1]}, "X: no column is left as an attribute with n_samples=2: 'x'"),
        ({}, {"id": [1, None], "x": [1, 2]}, "column 'id': row 2 has no id; remove rows"),
        ({"id_column": "no"}, {"x": [1, 2]}, "id_column: there is no column 'no'; the columns"),
        ({"numbers": ["y"]}, {"x": [1, 2]}, "numbers: there is no column 'y'; the columns"),
        ({"numbers": ["x"]}, {"x": ["1", "b"]}, "column 'x': expected numbers, but row 2 says 'b'"),
        ({"numbers": ["x"]}, {"x": [["a"], ["b"]]}, "column 'x': holds lists, not numbers;"),
        ({"categories": ["x"]}, {"x": [["a"], ["b"]]}, "column 'x': holds lists, not categories;"),
        ({"categories": ["x"], "lists": ["x"]}, {"x": [1]}, "lists: column 'x' is also to be a"),
        ({"separator": ""}, {"x": [1, 2]}, "separator: expected a text such as '|', not ''."),
        ({"groups": ["x"]}, {"x": [1, 2]}, "groups: are those of a matrix; a table's groups"),
        ({"groups": {"a": 3}}, np.eye(2), "groups: have 3 columns, but the matrix has 2."),
        ({"groups": {"a": 0}}, np.eye(2), "groups: the size of 'a' must be an integer ≥ 1."),
        ({"groups": [3]}, np.eye(2), "groups: expected names with sizes, or a name for each"),
        ({"lists": ["x"]}, np.eye(2), "lists: the columns of a matrix are numbers; give a table."),
        ({"id_column": 0}, np.eye(2), "id_column: a matrix has none, its rows are in order;"),
    ],
)  # fmt: skip
def test_errors_are_one_sentence(settings, table, told) -> None:
    with pytest.raises(ValueError, match=r"^") as error:
        Attributes(**settings).fit(table)
    assert str(error.value).startswith(told)
    assert "\n" not in str(error.value)


def test_tables_of_packages_have_their_sentences_too() -> None:
    twice = pa.table([[1, 2], [3, 4]], names=["x", "x"])
    with pytest.raises(ValueError, match=r"^X: two columns are called 'x'; rename one\.$"):
        Attributes().fit(twice)
    with pytest.raises(ValueError, match=r"'s': values of type struct.* cannot be attributes"):
        Attributes().fit(pa.table({"s": [{"a": 1}, {"a": 2}]}))
    mixed = pd.DataFrame({"x": [1, "a", 2]})
    with pytest.raises(
        ValueError,
        match=r"^X: the table cannot be read as Arrow columns.*; make columns of one type",
    ):
        Attributes().fit(mixed)
    encoder = Attributes().fit({"x": [1, 2]})
    assert encoder.transform(pa.table({"x": pa.array([], pa.int64())})).shape == (0, 1)
    with pytest.raises(ValueError, match="X: is a table, but the fit was on a matrix"):
        Attributes().fit(np.eye(2)).transform({"x": [1, 2]})
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        found = encoder.transform([[1.5], [2.5]])
    np.testing.assert_allclose(found.toarray(), [[0], [2]], atol=1e-6)


def test_a_failed_fit_changes_nothing_and_a_clone_is_not_fitted() -> None:
    encoder = Attributes(categories=["x"]).fit({"x": [1, 2, 1]})
    with pytest.raises(ValueError, match="no rows"):
        encoder.fit({"x": []})
    assert encoder.groups_ == (Group("x", 2, "category"),)
    assert not hasattr(clone(encoder), "groups_")
    # Values of several kinds are what Python writes of them, if they are to be categories.
    mixed = Attributes(categories=["x"]).fit({"x": [1, "a", 1.0, None, True]})
    assert mixed.get_feature_names_out().tolist() == ["x=1", "x=True", "x=a", "x=missing"]


def test_times_of_any_unit_are_seconds() -> None:
    days = np.array(["2020-01-01", "2020-01-03", "2021-01-01", "NaT"], "M8[D]")
    encoder = Attributes().fit({"t": days})
    wanted = dense(encoder.transform({"t": days}))
    zoned = [None if d is None else d.replace(tzinfo=dt.UTC) for d in days.astype("M8[s]").tolist()]
    for same in (
        *(days.astype(f"M8[{unit}]") for unit in ("s", "ms", "us", "ns")),
        days.astype(object),
        zoned,
        list(days),
    ):
        np.testing.assert_allclose(dense(encoder.transform({"t": same})), wanted, atol=1e-6)
    for kind in (pa.date32(), pa.date64(), pa.timestamp("us"), pa.timestamp("s", "UTC")):
        table = pa.table({"t": pa.array(days.astype("M8[s]")).cast(pa.timestamp("s")).cast(kind)})
        np.testing.assert_allclose(dense(encoder.transform(table)), wanted, atol=1e-6)
    spans = np.array([1, 5, 9], "m8[h]")
    hours = dense(Attributes().fit_transform({"t": spans}))
    for same in (spans.astype("m8[ms]"), spans.astype("m8[s]").tolist()):
        np.testing.assert_allclose(dense(Attributes().fit_transform({"t": same})), hours, atol=1e-6)
    found = Attributes().fit_transform(pa.table({"t": pa.array(spans.astype("m8[s]"))}))
    np.testing.assert_allclose(dense(found), hours, atol=1e-6)


TEXTS = ["a", "b", "ä", "A", " a", "a=b", "missing", "NaN", "0", "日本", "a\nb", "'", '"', "None"]


def random_table(seed: int) -> dict[str, list]:
    """Columns of random kinds, with random gaps and ugly texts."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9)) if seed % 3 == 0 else 30
    table: dict[str, list] = {}
    for k in range(int(rng.integers(1, 6))):
        kind = rng.integers(5)
        words = [str(one) for one in rng.choice(TEXTS, 4, replace=False)]
        column = {
            0: lambda: rng.normal(0, 10.0 ** rng.integers(-3, 4), n).tolist(),
            1: lambda: rng.integers(-5, 5, n).tolist(),
            2: lambda words=words: [str(one) for one in rng.choice(words, n)],
            3: lambda: [bool(one) for one in rng.integers(0, 2, n)],
            4: lambda words=words: [
                [str(one) for one in rng.choice(words, rng.integers(1, 4))] for _ in range(n)
            ],
        }[int(kind)]()
        gaps = rng.random(n) < rng.choice([0.0, 0.3])
        table[f"c{k}"] = [None if gap else one for gap, one in zip(gaps, column, strict=True)]
    return table


def oracle(table: dict[str, list]) -> tuple[np.ndarray, list[str], list[str]]:
    """The matrix, its names and what is left out, column by column and row by row."""
    out, names, dropped = [], [], []
    for name, column in table.items():
        known = [one for one in column if one is not None]
        if not known:
            dropped.append(name)
        elif type(known[0]) in (int, float):
            if np.ptp(known) == 0:
                dropped.append(name)
                continue
            out.append([0 if x is None else (x - np.mean(known)) / np.std(known) for x in column])
            names.append(name)
        else:
            lists = [None if x is None else x if isinstance(x, list) else [x] for x in column]
            lists = [None if x is None else {str(word).strip() if isinstance(column[k], list)
                     else str(word) for word in x} for k, x in enumerate(lists)]  # fmt: skip
            levels = sorted({word for row in lists if row is not None for word in row})
            words = sum(len(row) for row in lists if row is not None)
            if len(levels) == 1 and len(known) == len(column):
                dropped.append(name)
                continue
            assert words < 10 or len(levels) <= 0.9 * words  # the table has no identifiers
            for level in levels:
                out.append([0 if row is None or level not in row else len(row) ** -0.5
                            for row in lists])  # fmt: skip
                names.append(f"{name}={level}")
            if len(known) < len(column):
                out.append([float(row is None) for row in lists])
                names.append(f"{name}=missing")
    return np.array(out).T, names, dropped


@pytest.mark.parametrize("seed", range(60))
def test_random_tables_against_the_rules_word_for_word(seed) -> None:
    table = random_table(seed)
    matrix, names, dropped = oracle(table)
    if not names:
        with pytest.raises(ValueError, match="no column is left as an attribute"):
            Attributes(id_column=None).fit(table)
        return
    makers = [dict, pa.table, pl.DataFrame, lambda t: pa.table(t).to_pandas()]
    for given in (make(table) for make in makers):
        encoder = Attributes(id_column=None)
        np.testing.assert_allclose(dense(encoder.fit_transform(given)), matrix, atol=2e-6)
        assert list(encoder.dropped_) == dropped
        found = encoder.get_feature_names_out().tolist()
        assert [one.removesuffix(" (2)") for one in found] == names
        assert len(set(found)) == len(found)
        assert [g.size for g in encoder.groups_] == [
            sum(one.split("=")[0] == g.name for one in names) for g in encoder.groups_
        ]


def test_what_is_no_table_is_said_in_a_sentence() -> None:
    for X, told in (
        ("users.dat", "X: 'users.dat' is a text, not a table; read a file with pygeco.data.read_"),
        (pl.LazyFrame({"x": [1, 2]}), "X: a lazy LazyFrame has no rows yet; call its collect()"),
        (pd.Series([1, 2]), "X: is one column; give a table, such as its to_frame()."),
        (pl.Series("x", [1, 2]), "X: is one column; give a table, such as its to_frame()."),
    ):
        for method in (Attributes().fit, Attributes().fit({"x": [1, 2]}).transform):
            with pytest.raises(ValueError, match=r"^X: ") as error:
                method(X)
            assert str(error.value).startswith(told)


def test_numbers_beyond_float32_are_refused() -> None:
    encoder = Attributes().fit({"x": [1.0, 2.0]})
    with pytest.raises(ValueError, match=r"^X: row 2 holds a number beyond the range of float32"):
        encoder.transform({"x": [1.0, 1e300]})
    with pytest.raises(ValueError, match=r"^X: row 3 holds a number beyond the range of float32"):
        Attributes().fit_transform(sp.csr_array([[1.0], [0.0], [1e39]]))


def test_columns_that_a_user_names_are_attributes_not_ids() -> None:
    table = {"store_id": [1, 1, 2], "x": [1.0, 2, 3]}
    assert Attributes().fit(table).id_column_ == "store_id"
    encoder = Attributes(categories=["store_id"]).fit(table)
    assert encoder.id_column_ is None
    assert encoder.groups_[0] == Group("store_id", 2, "category")
    cars = {"x": [1.0, 2, 3], "auto": [True, False, True]}
    assert Attributes().fit(cars).id_column_ is None
    truths = Attributes(numbers=["auto"]).fit(cars)
    assert truths.groups_[1] == Group("auto", 1, "number")
    np.testing.assert_allclose(
        dense(truths.transform(cars))[:, 1], np.array([1, -2, 1]) / np.sqrt(2), rtol=1e-6
    )


def test_the_average_of_very_many_levels_has_the_most_frequent_ones() -> None:
    words = [f"w{k:03d}" for k in range(300) for _ in range(2 + (k >= 290))]
    with pytest.warns(
        AttributeWarning, match=r"column 'w' has 300 levels for 610 rows, from which"
    ):
        encoder = Attributes(id_column=None).fit({"w": words})
    with warnings.catch_warnings(action="error"):
        Attributes(id_column=None, categories=["w"]).fit({"w": words})
    found = dense(encoder.transform({"w": [None]}))[0]
    assert np.count_nonzero(found) == 256
    np.testing.assert_allclose(found[290:], 3 / len(words), rtol=1e-6)
