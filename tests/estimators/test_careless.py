"""Careless use: the right answer, or one sentence that names the argument."""

import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import pygeco
from pygeco import (
    CellKFold,
    ImplicitCompletion,
    LeaveLastOut,
    MatrixCompletion,
    QuadraticClassifier,
    Ridge,
    RobustPCA,
    RowHoldOut,
    Trace,
)
from pygeco.data import make_low_rank, make_ratings, read_ratings, split_cells

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(
    {"user": RNG.integers(0, 20, 200), "item": RNG.integers(0, 15, 200), "rating": RNG.random(200)}
).drop_duplicates(["user", "item"])


def plain(**settings) -> MatrixCompletion:
    return MatrixCompletion(2, **{"penalty": None, "random_state": 0} | settings)


def test_ids_in_half_precision() -> None:
    wanted = plain().fit(TABLE)
    halves = TABLE.assign(user=TABLE.user.astype(np.float16))
    for table in (halves, pa.table(halves)):
        model = plain().fit(table)
        np.testing.assert_array_equal(model.to_dense(), wanted.to_dense())
        np.testing.assert_array_equal(
            model.recommend(3.0, 2).columns, wanted.recommend(3, 2).columns
        )
        np.testing.assert_array_equal(
            model.predict(table)["prediction"], wanted.predict(TABLE).prediction
        )


def test_text_that_is_no_unicode() -> None:
    texts = pd.Series([f"\ud800{k}" for k in TABLE["item"]], TABLE.index, dtype=object)
    with pytest.raises(ValueError, match=r"X: the text .* has half of a surrogate pair"):
        plain().fit(TABLE.assign(item=texts))


def test_ids_of_more_than_64_bits() -> None:
    model = plain().fit(TABLE)
    with pytest.raises(ValueError, match="X: an integer has more than 64 bits; make such ids text"):
        plain().fit(TABLE.assign(user=[2**70 + int(k) for k in TABLE.user]))
    with pytest.raises(ValueError, match=f"the id {2**70} was not fitted"):
        model.recommend([1, 2**70], unknown="error")
    kept = pygeco.io.tables.find_positions(
        model.row_ids_, np.array([1, 2**70, -(2**70), True], object)
    )
    assert kept.tolist() == [1, -1, -1, -1]


@pytest.mark.parametrize(
    "draw",
    [
        lambda: split_cells(9, 0.1, -1),
        lambda: make_ratings((9, 9), 9, random_state=-1),
        lambda: make_low_rank((9, 9), 2, random_state=-1),
        lambda: list(CellKFold(3, random_state=-1).split(np.ones((4, 3)))),
        lambda: plain(random_state=-1).fit(TABLE),
    ],
)
def test_negative_seeds(draw) -> None:
    with pytest.raises(ValueError, match=r"(seed|random_state): expected an integer ≥ 0.* not -1"):
        draw()


def test_ratings_beyond_the_whole_numbers_of_floats() -> None:
    large = TABLE.assign(rating=2**60 + 3 * TABLE.user)
    with pytest.raises(ValueError, match="column 'rating': whole numbers beyond 2⁵³ lose"):
        plain().fit(large)
    with pytest.raises(ValueError, match="whole numbers beyond 2⁵³ lose"):
        read_ratings(io.BytesIO(large.to_csv(index=False).encode()))
    exact = TABLE.assign(rating=2**60 + 2**50 * TABLE.user)
    found = read_ratings(io.BytesIO(exact.to_csv(index=False).encode())).table.column("rating")
    assert found.to_pylist() == exact.rating.astype(float).tolist()
    model = plain().fit(exact)
    assert np.isfinite(model.to_dense()).all()


CHANGES = [
    {"rank": 7},
    {"loss": "poisson"},
    {"loss": "nonsense"},
    {"penalty": None},
    {"penalty": Trace(1.0)},
    {"biases": False},
    {"biases": True},
    {"posterior": 5},
    {"random_state": 9},
]


@pytest.mark.parametrize("penalty", ["evidence", None, Ridge(1e-3)])
def test_a_fitted_model_is_that_of_its_fit(penalty, tmp_path) -> None:
    """Settings that are changed later are for the next fit, and so it is after a file."""
    new = np.where(RNG.random((3, 15)) < 0.5, np.nan, RNG.random((3, 15)))
    model = plain(penalty=penalty).fit(TABLE)
    wanted = model.to_dense(), model.transform(new)
    for change in CHANGES:
        model.set_params(**change)
        if change.get("loss") != "nonsense":
            model.save(tmp_path / "m")
            again = pygeco.load(tmp_path / "m")
            np.testing.assert_array_equal(again.transform(new), wanted[1])
        np.testing.assert_array_equal(model.to_dense(), wanted[0])
        np.testing.assert_array_equal(model.transform(new), wanted[1])


def test_a_classifier_keeps_the_loss_of_its_fit() -> None:
    X, y = RNG.normal(size=(40, 3)), RNG.integers(0, 2, 40)
    model = QuadraticClassifier(1, random_state=0).fit(X, y)
    wanted = model.predict_proba(X)
    model.set_params(loss="huber")
    np.testing.assert_array_equal(model.predict_proba(X), wanted)


@pytest.fixture(scope="module")
def fitted():
    """Models of the same cells: by ids, by positions, and of clicks."""
    texts = TABLE.assign(user="u" + TABLE.user.astype(str), item="i" + TABLE.item.astype(str))
    matrix = TABLE.pivot(index="user", columns="item", values="rating").to_numpy()
    clicks = ImplicitCompletion(rank=2, spectral=False, random_state=0).fit(texts[["user", "item"]])
    models = plain(penalty="auto").fit(texts), plain(penalty="auto").fit(matrix), clicks
    return dict(zip(("ids", "positions", "clicks"), models, strict=True))


QUESTIONS = [
    ("ids", lambda m: m.predict(["u0", "u1"]), r"^rows: come without columns; give cols"),
    ("ids", lambda m: m.predict("u0"), r"^rows: come without columns"),
    ("ids", lambda m: m.predict(("u0", "i1")), r"^rows: come without columns"),
    ("ids", lambda m: m.predict([("u0", "i1"), ("u1", "i2")]), r"^rows: come without columns"),
    ("ids", lambda m: m.predict({"user": ["u0"], "item": ["i1"]}), r"^rows: come without columns"),
    ("ids", lambda m: m.decision_function(["u0", "u1"]), r"^rows: come without columns"),
    ("ids", lambda m: m.predict(["u0"] * 3, ["i1", "i2"]), r"^cols: arrays of shape \(2,\)"),
    ("ids", lambda m: m.decision_function(["u0"] * 3, ["i1"] * 2), r"^cols: arrays of shape"),
    ("ids", lambda m: m.predict_interval(["u0"] * 3, ["i1"] * 2), r"^cols: arrays of shape"),
    ("ids", lambda m: m.predict_interval("u0", "i1", "90%"), r"^coverage: must be strictly"),
    ("ids", lambda m: m.explain(["u0"], "i1"), r"^row: explain takes one cell at a time"),
    ("ids", lambda m: m.explain("u0", ["i1"]), r"^column: explain takes one cell at a time"),
    ("ids", lambda m: m.explain("u0", "i1", 0), r"^k: expected an integer of at least 1, not 0"),
    ("ids", lambda m: m.explain("u0", "i1", 2.5), r"^k: expected an integer of at least 1"),
    ("clicks", lambda m: m.explain("u0", "i1", -1), r"^k: expected an integer of at least 1"),
    ("ids", lambda m: m.predict(TABLE.user), r"^X: a Series is one column"),
    ("ids", lambda m: m.score(TABLE.rating), r"^X: a Series is one column"),
    ("ids", lambda m: m.partial_fit(TABLE.rating), r"^X: a Series is one column"),
    ("positions", lambda m: m.predict(["u0"], ["i1"]), r"^rows: expected integers, .* positions"),
    ("positions", lambda m: m.predict(TABLE), r"^X: a table of ids is for a model fitted from a"),
    ("positions", lambda m: m.score(TABLE), r"^X: a table of ids is for a model fitted from a"),
    ("positions", lambda m: m.partial_fit(TABLE), r"^X: a table of ids is for a model fitted"),
    ("positions", lambda m: m.inverse_transform(np.ones((2, 9))), r"^X: expected \d coordinates"),
]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("kind", "ask", "said"), QUESTIONS)
def test_questions_to_a_fitted_model(fitted, kind, ask, said) -> None:
    with pytest.raises(ValueError, match=said):
        ask(fitted[kind])


SETTINGS = [
    (lambda: plain(callback=3).fit(TABLE), r"^callback: expected a function of one argument"),
    (lambda: plain(engine=3).fit(TABLE), r"^engine: unknown name 3; use one of"),
    (lambda: RobustPCA(1).fit(np.eye(5)).inverse_transform(np.eye(5)), r"^X: expected 1 coord"),
    (lambda: list(RowHoldOut(0).split(TABLE)), r"^n_splits: expected an integer of at least 1"),
    (lambda: list(RowHoldOut(1.5).split(TABLE)), r"^n_splits: expected an integer, not 1.5"),
    (lambda: list(RowHoldOut(test_size="a").split(TABLE)), r"^test_size: must be between 0 and 1"),
    (lambda: list(LeaveLastOut(n_splits=0).split(TABLE)), r"^n_splits: expected an integer of"),
    (lambda: plain().fit(TABLE, columns=("user", "user", "rating")), r"^columns: .*3 different"),
    (
        lambda: plain().fit(TABLE, columns=("user", "item", 1.5)),
        r"^columns: there is no column 1.5",
    ),
    (lambda: plain().fit(TABLE, columns=(0, 1, None)), r"^columns: there is no column None"),
    (lambda: plain().fit(TABLE, columns=dict.fromkeys(TABLE)), r"^columns: expected three, for"),
    (lambda: plain().fit((["a", "b"], [0, 1], [1.0, 2.0])), r"^rows: expected .*; a table, such"),
]


@pytest.mark.parametrize(("use", "said"), SETTINGS)
def test_settings_that_cannot_be(use, said) -> None:
    with pytest.raises(ValueError, match=said):
        use()


@pytest.mark.parametrize(
    "kind",
    [
        set,
        frozenset,
        iter,
        lambda some: dict.fromkeys(some).keys(),
        lambda some: dict(enumerate(some)).values(),
    ],
)
def test_candidates_in_any_collection(fitted, kind) -> None:
    model, some = fitted["ids"], ["i1", "i3", "i4", "i7"]
    for name in ("items", "exclude"):
        wanted = model.recommend(["u0", "u1"], 3, **{name: some})
        for given in (kind(some), {"u0": kind(some), "u1": kind(some)}):
            found = model.recommend(["u0", "u1"], 3, **{name: given})
            np.testing.assert_array_equal(found.columns, wanted.columns)


@pytest.mark.filterwarnings("error")
def test_half_precision_is_looked_at_without_overflow() -> None:
    matrix = np.where(RNG.random((30, 4)) < 0.5, np.round(RNG.random((30, 4)) * 4), np.nan)
    for given in (matrix, np.nan_to_num(matrix) + 1):
        wanted = plain().fit(given).to_dense()
        np.testing.assert_array_equal(plain().fit(given.astype(np.float16)).to_dense(), wanted)


def test_lists_of_pairs_are_pairs_wherever_arrays_are() -> None:
    pairs, values = TABLE[["user", "item"]].to_numpy(), TABLE.rating.to_numpy()
    model = plain().fit(pairs.tolist(), values)
    for ask in (model.predict, model.decision_function):
        np.testing.assert_array_equal(ask(pairs[:9].tolist()), ask(pairs[:9]))
    assert model.score(pairs.tolist(), values) == model.score(pairs, values)
