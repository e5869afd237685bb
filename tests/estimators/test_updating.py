"""New columns, weighted penalties for new rows, and new cells without another fit."""

import os

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from pygeco import ImplicitCompletion, MatrixCompletion, Ridge, Solver, Trace, cells
from pygeco.data import load_movielens, make_ratings

SWEEP = Solver(correction="sweep")
MODELS = {
    "evidence": {},
    "evidence without offsets": {"biases": "global"},
    "no penalty": {"rank": 3, "penalty": None},
    "ridge": {"rank": 3, "penalty": Ridge(1e-4), "biases": True},
    "weighted ridge": {"rank": 3, "penalty": Ridge(1e-4, gamma=0.5), "biases": True},
    "weighted trace": {"rank": 8, "penalty": Trace(2e-3, gamma=1.0), "biases": ("column",)},
    "huber": {"rank": 2, "loss": "huber", "penalty": Ridge(1e-4), "biases": True},
    "logistic": {"rank": 1, "loss": "logistic", "biases": True},
}


@pytest.fixture(scope="module")
def ratings():
    return make_ratings((90, 60), 2400, rank=2, noise=0.4, dtype=np.float64)


def fitted(name, ratings):
    rows, cols, values, shape = ratings
    values = np.where(values > 3.5, 1.0, 0.0) if name == "logistic" else values
    return MatrixCompletion(random_state=0, **MODELS[name]).fit((rows, cols, values, shape))


def new_values(name, count, seed=1):
    values = np.random.default_rng(seed).integers(1, 6, count).astype(float)
    return np.where(values > 3, 1.0, 0.0) if name == "logistic" else values


EVERY = pytest.mark.parametrize("name", MODELS)


@EVERY
def test_nothing_new_changes_nothing(name, ratings) -> None:
    model = fitted(name, ratings)
    before = model.to_dense().tobytes()
    none = np.zeros(0, int)
    model.partial_fit((none, none, np.zeros(0), (90, 60)))
    model.partial_fit(sp.csr_array((90, 60)))
    assert model.to_dense().tobytes() == before


@EVERY
def test_a_new_row_is_what_transform_makes_of_it(name, ratings) -> None:
    model = fitted(name, ratings)
    before = model.to_dense()
    cols = np.arange(0, 60, 3)
    values = new_values(name, len(cols))
    row = (np.full(len(cols), 90), cols, values, (91, 60))
    assert model.partial_fit(row) is model
    after = model.to_dense()
    assert after.shape == (91, 60)
    other = np.setdiff1d(np.arange(60), cols)
    np.testing.assert_allclose(after[:90, other], before[:, other], atol=2e-5)
    folded = model.predict((np.zeros(len(cols), int), cols, values, (1, 60)))[0]
    # Where there is no ridge and no prior, the pull on a row follows the singular values.
    loose = {"weighted trace": 0.2, "logistic": 2e-3}.get(name, 2e-4)
    np.testing.assert_allclose(after[90], folded, atol=loose)
    assert model.factors_.shape == (91, 60)
    assert len(model.seen_.values) == 2400 + len(cols)


@EVERY
def test_a_new_column_brings_its_own_cells_near(name, ratings) -> None:
    model = fitted(name, ratings)
    before = model.to_dense()
    rows = np.arange(0, 90, 2)
    like = np.argmax(np.bincount(ratings.cols))  # a column like one that is there
    values = before[rows, like]
    if name == "logistic":
        values = np.where(values > 0.5, 1.0, 0.0)
    model.partial_fit((rows, np.full(45, 60), values, (90, 61)))
    after = model.to_dense()
    assert after.shape == (90, 61)
    assert model.n_features_in_ == 61
    untouched = np.arange(1, 90, 2)
    np.testing.assert_allclose(after[untouched, :60], before[untouched], atol=2e-5)
    if name != "logistic":
        far = np.mean((after[untouched, 60] - before[untouched, like]) ** 2)
        assert far < 0.3 * np.var(before[untouched, like]) + 1e-3


def test_a_known_cell_gets_its_new_value(ratings) -> None:
    model = fitted("evidence", ratings)
    i, j = ratings.rows[:5], ratings.cols[:5]
    model.partial_fit((i, j, np.full(5, 4.25), ratings.shape))
    assert len(model.seen_.values) == 2400
    for row, col in zip(i, j, strict=True):
        own = slice(model.seen_.pointers[row], model.seen_.pointers[row + 1])
        assert model.seen_.values[own][model.seen_.indices[own] == col] == 4.25
    assert not set(j[i == i[0]]) & set(model.recommend(i[0], k=60).columns)


def test_every_form_of_new_cells_gives_the_same_model(ratings) -> None:
    rows, cols = np.array([3, 90, 91]), np.array([60, 5, 60])
    values = np.array([2.0, 4.0, 5.0])
    sparse = sp.csr_array((values, (rows, cols)), (92, 61))
    dense = np.full((92, 61), np.nan)
    dense[rows, cols] = values
    found = [
        fitted("evidence", ratings).partial_fit(X).to_dense()
        for X in ((rows, cols, values), sparse, dense)
    ]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
    assert found[0].shape == (92, 61)


def test_a_model_never_fitted_is_fitted_and_deviations_shrink(ratings) -> None:
    first = MatrixCompletion(random_state=0).partial_fit(tuple(ratings))
    np.testing.assert_array_equal(first.to_dense(), fitted("evidence", ratings).to_dense())
    _, before = first.predict(7, 11, return_std=True)
    new = np.setdiff1d(np.arange(60), ratings.cols[ratings.rows == 7])
    first.partial_fit((np.full(len(new), 7), new, np.full(len(new), 3.0), ratings.shape))
    assert first.predict(7, 11, return_std=True)[1] < before


@pytest.mark.parametrize("gamma", [0.0, 0.5, 1.0])
def test_new_rows_and_columns_pay_the_weighted_ridge(ratings, gamma) -> None:
    """Against the normal equations of α Σ_ij d_i c_j A_ij², with the weights of the fit."""
    rows, cols, values, shape = ratings
    alpha = 3e-4
    chosen = {"penalty": Ridge(alpha, gamma), "biases": False, "clip": False}
    model = MatrixCompletion(3, random_state=0, **chosen)
    model.fit((rows, cols, values, shape))
    counts = np.bincount(rows, minlength=90), np.bincount(cols, minlength=60)
    d, c = (np.maximum(count, 1.0) ** gamma for count in counts)
    level = d.mean(), c.mean()
    A = model.factors_
    rng = np.random.default_rng(0)
    for basis, other, own_level, complete in (
        (A.V, c / level[1], level[0], lambda X: model.predict(X)),
        (A.U, d / level[0], level[1], lambda X: model.complete_columns(X.T).T),
    ):
        new = np.full((2, len(basis)), np.nan)
        new[0, ::4], new[1, 1:8] = rng.standard_normal(len(new[0, ::4])), rng.standard_normal(7)
        full = complete(new)
        for i in range(2):
            seen = ~np.isnan(new[i])
            weight = seen.sum() ** gamma / own_level
            gram = basis[seen].T @ basis[seen]
            gram += alpha * len(values) * weight * (basis.T * other) @ basis
            w = np.linalg.solve(gram, basis[seen].T @ new[i, seen])
            np.testing.assert_allclose(full[i], basis @ w, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("gamma", [0.0, 1.0])
def test_rows_of_a_resting_trace_norm_solution_fold_to_themselves(ratings, gamma) -> None:
    model = MatrixCompletion(
        20, penalty=Trace(3e-3, gamma), biases=False, solver=SWEEP, random_state=0
    ).fit(tuple(ratings))
    table = np.full(ratings.shape, np.nan)
    table[ratings.rows, ratings.cols] = ratings.values
    np.testing.assert_allclose(model.predict(table), model.to_dense(), atol=2e-3)
    np.testing.assert_allclose(model.complete_columns(table), model.to_dense(), atol=2e-3)


def test_a_new_column_by_the_evidence_is_the_posterior_of_a_column(ratings) -> None:
    model = fitted("evidence", ratings)
    p = model.posterior_
    rows = np.arange(0, 90, 4)
    y = np.random.default_rng(0).uniform(1, 5, len(rows))
    Z = np.column_stack([p.rows.factor, np.ones(90)]).astype(float)
    spread = np.append(p.rows.variance[rows].sum(axis=0), 0.0)
    system = p.col_prior.precision + p.tau * (Z[rows].T @ Z[rows] + np.diag(spread))
    rest = (y - p.mean) / p.scale - p.rows.bias[rows]
    side = p.col_prior.precision @ p.col_prior.center + p.tau * Z[rows].T @ rest
    expected = p.mean + p.scale * (Z @ np.linalg.solve(system, side) + p.rows.bias)
    X = (rows, np.zeros(len(rows), int), y, (90, 1))
    np.testing.assert_allclose(model.complete_columns(X)[:, 0], expected, atol=1e-3)
    assert model.transform_columns(X).shape == (1, model.rank_ + 1)


def test_ids_of_a_table_old_and_new(ratings) -> None:
    """The same model as by positions, whatever order the ids sort in."""
    rows, cols, values, shape = ratings
    names = np.array([f"u{(7 * i) % 97:02d}" for i in range(97)])
    frame = pd.DataFrame({"user": names[rows], "item": 3 * cols, "rating": values})
    by_id = MatrixCompletion(random_state=0).fit(frame)
    order = by_id.row_ids_
    by_place = fitted("evidence", (np.searchsorted(order, names[rows]), cols, values, shape))
    new = pd.DataFrame({"user": ["u99", names[4], "a"], "item": [0, 1, 9], "rating": [5.0, 1, 3]})
    by_id.partial_fit(new)
    by_place.partial_fit(
        (
            np.array([90, np.searchsorted(order, names[4]), 91]),
            np.array([0, 60, 3]),
            np.array([5.0, 1.0, 3.0]),
            (92, 61),
        )
    )
    asked = pd.DataFrame({"user": ["u99", "a", names[8]], "item": [6, 9, 1]})
    expected = by_place.predict([90, 91, np.searchsorted(order, names[8])], [2, 3, 60])
    found = by_id.predict(asked)
    found = found["prediction"].to_numpy() if hasattr(found, "columns") else np.asarray(found)
    np.testing.assert_allclose(found, expected, atol=1e-4)
    assert list(by_id.row_ids_) == sorted({*order, "a", "u99"})
    with pytest.raises(ValueError, match=r"^X: the model knows ids; pass a table"):
        by_id.partial_fit(([0], [0], [1.0]))


@pytest.mark.parametrize("kind", ["uint64", "int64", "float64", "str"])
@pytest.mark.parametrize("estimator", [MatrixCompletion, ImplicitCompletion])
def test_large_ids_of_another_type_stay_apart(estimator, kind, ratings) -> None:
    rows, cols, values, _ = ratings
    users = 2**60 + rows.astype(np.int64)
    given = pd.DataFrame({"user": users, "item": cols, "rating": values})
    names = ["user", "item", "rating"][: 3 if estimator is MatrixCompletion else 2]
    model = estimator(random_state=0).fit(given[names])
    fresh = given[["user", "item", "rating"]][:40]
    fresh = fresh.assign(user=fresh.user.astype(kind), item=fresh.item + 100)[names]
    if kind in ("float64", "str"):
        with pytest.raises(ValueError, match=r"^X: column 'user': its ids, such as"):
            model.partial_fit(fresh)
    else:
        model.partial_fit(fresh)
    assert model.row_ids_.tolist() == np.unique(users).tolist()


def test_clicks_of_a_list_of_cells_come_later(ratings) -> None:
    rows, cols, *_ = ratings
    given = pd.DataFrame({"user": rows + 5, "item": cols})
    model, same = (ImplicitCompletion(random_state=0).fit(given[:800]) for _ in range(2))
    model.partial_fit(cells(given[800:], np.ones(len(given) - 800)))
    same.partial_fit(given[800:])
    assert model.row_ids_.tolist() == same.row_ids_.tolist()
    np.testing.assert_array_equal(model.to_dense(), same.to_dense())


def test_errors_name_the_argument(ratings) -> None:
    model = fitted("evidence", ratings)
    with pytest.raises(ValueError, match=r"^X: has 89 rows, but the model was fitted with 90"):
        model.transform_columns(np.ones((89, 2)))
    with pytest.raises(ValueError, match=r"^values: 1 of 1 observed values are NaN"):
        model.partial_fit(([0], [0], [np.nan]))


@pytest.mark.skipif("PYGECO_DATA" not in os.environ, reason="PYGECO_DATA names no data folder")
def test_movielens_with_a_tenth_added_later_errs_like_a_full_fit() -> None:
    data = load_movielens("ml-100k")
    rows, cols, values, shape = data.cells(~data.test)
    late = np.random.default_rng(0).random(len(rows)) < 0.1
    early = MatrixCompletion(random_state=0).fit((rows[~late], cols[~late], values[~late], shape))
    before = -early.score(data.cells(data.test))
    early.partial_fit((rows[late], cols[late], values[late], shape))
    after = -early.score(data.cells(data.test))
    full = (
        -MatrixCompletion(random_state=0)
        .fit((rows, cols, values, shape))
        .score(data.cells(data.test))
    )
    assert after < before
    assert after < 1.005 * full


@pytest.mark.parametrize("penalty", [Ridge(1e-2), "evidence"])
def test_new_cells_without_weights_count_as_those_of_the_fit(penalty) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 2)) @ rng.standard_normal((2, 20))
    rows, cols = np.nonzero(rng.random(X.shape) < 0.5)
    values = X[rows, cols] + 0.1 * rng.standard_normal(len(rows))
    old, new = ((rows[at], cols[at], values[at], X.shape) for at in (slice(50, None), slice(50)))
    weights = np.full(len(rows), 3.0)
    one, other = (
        MatrixCompletion(2, penalty=penalty, pattern=False, random_state=0)
        .fit(old, sample_weight=weights[50:])
        .partial_fit(new, sample_weight=given)
        for given in (weights[:50], None)
    )
    np.testing.assert_allclose(other.to_dense(), one.to_dense(), atol=1e-6)
