import pickle
import tracemalloc

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from completion_cases import model, table
from pygeco import Listener, Path, Ridge, Solver, Stop, Trace
from pygeco.data import make_ratings


@pytest.fixture(scope="module")
def ratings():
    return make_ratings((80, 50), 1500, dtype=np.float64)


def test_attributes(ratings) -> None:
    fitted = model(4).fit(ratings)
    assert isinstance(fitted.path_, Path)
    assert [step.rank for step in fitted.path_] == [1, 2, 3, 4]
    assert fitted.rank_ == fitted.n_iter_ == 4
    assert fitted.stop_reason_ is Stop.RANK
    assert fitted.components_.shape == (4, 50)
    assert fitted.factors_.shape == (80, 50)
    s = fitted.singular_values_
    assert np.all(np.diff(s) <= 0)
    np.testing.assert_allclose(s, np.linalg.svd(fitted.to_dense(), compute_uv=False)[:4])
    np.testing.assert_allclose(fitted.components_ @ fitted.components_.T, np.eye(4), atol=1e-10)
    for step in fitted.path_:
        error = step.A.entries(ratings.rows, ratings.cols) - ratings.values
        np.testing.assert_allclose(step.objective, np.mean(error**2))


def test_objective_includes_the_penalty(ratings) -> None:
    fitted = model(2, penalty=Ridge(1e-4)).fit(ratings)
    A = fitted.path_[-1].A
    error = A.entries(ratings.rows, ratings.cols) - ratings.values
    expected = np.mean(error**2) + 1e-4 * np.sum(A.s**2)
    np.testing.assert_allclose(fitted.path_[-1].objective, expected)


def test_biases_take_the_level_and_leave_the_rest(ratings) -> None:
    with_level = model(1, biases=True).fit(ratings)
    without = model(1, biases=False).fit(ratings)
    assert with_level.score(ratings) > without.score(ratings)
    b = with_level.biases_
    offsets = b.mean + b.row[:, None] + b.col
    np.testing.assert_allclose(with_level.to_dense() - offsets, with_level.factors_.to_dense())
    np.testing.assert_allclose(b.mean, ratings.values.mean(), atol=0.2)


def test_clipping_helps_within_the_range_seen(ratings) -> None:
    held = np.random.default_rng(0).random(1500) < 0.3
    rows, cols, values, shape = ratings
    train = rows[~held], cols[~held], values[~held], shape
    plain, clipped = model(6).fit(train), model(6, clip=True).fit(train)
    raw, cut = plain.predict(rows[held], cols[held]), clipped.predict(rows[held], cols[held])
    low, high = values[~held].min(), values[~held].max()
    np.testing.assert_array_equal(cut, np.clip(raw, low, high))
    assert np.any(raw != cut)
    assert np.all(np.abs(cut - values[held]) <= np.abs(raw - values[held]))
    np.testing.assert_array_equal(clipped.to_dense(), np.clip(plain.to_dense(), low, high))
    assert clipped.predict(table(ratings)).max() <= high


@pytest.mark.parametrize("biases", [False, True])
def test_transform_folds_rows_in(ratings, biases) -> None:
    fitted = model(biases=biases).fit(ratings)
    X = table(ratings)
    W = fitted.transform(X)
    b = fitted.biases_
    for i in range(0, 80, 7):
        seen = ~np.isnan(X[i])
        rest = X[i, seen] - (b.mean + b.col)[seen]
        best = np.linalg.lstsq(fitted.components_[:, seen].T, rest)[0]
        np.testing.assert_allclose(W[i], best, atol=1e-7)
    full = fitted.inverse_transform(W)
    np.testing.assert_allclose(full, W @ fitted.components_ + b.mean + b.col)
    np.testing.assert_array_equal(fitted.predict(X), full)


def test_transform_of_an_exact_matrix_completes_new_rows() -> None:
    rng = np.random.default_rng(0)
    Y = rng.standard_normal((60, 2)) @ rng.standard_normal((2, 20))
    fitted = model(2).fit(Y[:50])
    new = Y[50:].copy()
    new[:, ::2] = np.nan
    np.testing.assert_allclose(fitted.predict(new), Y[50:], atol=1e-8)
    new[0] = np.nan  # a row about which nothing is known
    np.testing.assert_allclose(fitted.predict(new)[0], 0)


def test_transform_uses_the_ridge_of_the_fit(ratings) -> None:
    alpha = 1e-3
    fitted = model(penalty=Ridge(alpha)).fit(ratings)
    X = table(ratings)
    i, V = 4, fitted.components_.T
    seen = ~np.isnan(X[i])
    gram = V[seen].T @ V[seen] + alpha * 1500 * np.eye(3)
    np.testing.assert_allclose(
        fitted.transform(X)[i], np.linalg.solve(gram, V[seen].T @ X[i, seen])
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_type_of_the_values_is_kept(ratings, dtype) -> None:
    X = table(ratings, dtype)
    fitted = model(biases=True).fit(X)
    W = fitted.transform(X)
    for found in (
        fitted.components_,
        fitted.singular_values_,
        fitted.factors_.U,
        fitted.predict([0], [0]),
        fitted.to_dense(),
        W,
        fitted.inverse_transform(W),
    ):
        assert found.dtype == dtype
    other = model(biases=True).fit(table(ratings, np.float64))
    np.testing.assert_allclose(fitted.to_dense(), other.to_dense(), atol=1e-3)


def test_clone_pickle_and_parameters(ratings) -> None:
    first = model(2, penalty=Trace(1e-3), clip=True)
    assert clone(first).get_params() == first.get_params()
    first.fit(ratings)
    same = pickle.loads(pickle.dumps(first))
    np.testing.assert_array_equal(same.predict([1, 2], [3, 4]), first.predict([1, 2], [3, 4]))
    assert same.path_.stop is first.path_.stop
    first.set_params(rank=1).fit(ratings)
    assert first.rank_ == 1
    assert not hasattr(clone(first), "path_")


def test_random_state(ratings) -> None:
    def found(state):
        fitted = model(2, solver=Solver.paper(), random_state=state).fit(ratings)
        return fitted.path_[-1].objective

    assert found(3) == found(3) != found(4)
    assert found(np.random.RandomState(0)) == found(np.random.RandomState(0))
    assert found(np.random.default_rng(0)) == found(np.random.default_rng(0))


def test_callback_and_observer(ratings) -> None:
    heard = []

    class Heard(Listener):
        def on_start(self, objective, rank):
            heard.append(rank)

        def on_step(self, step):
            heard.append(step.rank)

        def on_stop(self, reason):
            heard.append(reason)

    fitted = model(5, callback=lambda step: step.rank == 2, observer=Heard()).fit(ratings)
    assert heard == [5, 1, 2, Stop.CALLBACK]
    assert fitted.rank_ == 2
    assert fitted.stop_reason_ is Stop.CALLBACK


def test_zeros_are_fitted_by_rank_zero() -> None:
    fitted = model(2).fit(np.zeros((4, 3)))
    assert fitted.rank_ == 0
    assert fitted.stop_reason_ is Stop.STATIONARY
    assert not fitted.to_dense().any()
    assert fitted.transform(np.zeros((2, 3))).shape == (2, 0)


def test_names_of_the_output(ratings) -> None:
    fitted = model(2).fit(ratings)
    names = ["matrixcompletion0", "matrixcompletion1"]
    assert list(fitted.get_feature_names_out()) == names
    frame = model(2).set_output(transform="pandas").fit(ratings).transform(ratings)
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == names


def test_a_huge_shape_needs_memory_for_its_factors_only() -> None:
    rng = np.random.default_rng(0)
    shape = (200_000, 150_000)
    rows, cols = rng.integers(0, shape[0], 1000), rng.integers(0, shape[1], 1000)
    model(1).fit((np.arange(3), np.arange(3), np.ones(3)))  # compiled before memory is counted
    tracemalloc.start()
    fitted = model(2, biases=True).fit((rows, cols, rng.standard_normal(1000), shape))
    fitted.predict(rows, cols)
    fitted.score((rows, cols, rng.standard_normal(1000), shape))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert fitted.rank_ == 2
    assert peak < 600e6  # the matrix itself has 240e9 bytes


def bad(match, X, /, **settings):
    return pytest.param(X, settings, match, id=match[:45])


TRIPLETS = (np.array([0, 1]), np.array([0, 1]), np.array([1.0, 2.0]), (3, 3))


@pytest.mark.parametrize(
    ("X", "settings", "match"),
    [
        bad(r"^rank: must be between 1 and 3 for data with m=\d and n=\d, not 0", TRIPLETS, rank=0),
        bad(r"^rank: must be between 1 and 3 for data with m=\d and n=\d, not 4", TRIPLETS, rank=4),
        bad(r"^rank: expected an integer or 'auto', not 1\.5", TRIPLETS, rank=1.5),
        bad(r"^loss: unknown .*'cubic'", TRIPLETS, loss="cubic"),
        bad(r"^biases: unknown part 'rows'", TRIPLETS, biases="rows"),
        bad(r"^duplicates: unknown policy 'max'", TRIPLETS, duplicates="max"),
        bad(r"^random_state: expected", TRIPLETS, random_state=-1),
        bad(r"^X: a tuple must be \(rows, cols, values\[, shape\]\), not 2", TRIPLETS[:2]),
        bad(r"^rows: index 5 is outside 0 … 2", (np.array([5, 1]), *TRIPLETS[1:])),
        bad(r"^values: 1 of 2 observed", (*TRIPLETS[:2], np.array([1.0, np.inf]), (3, 3))),
        bad(r"[Ii]nf", np.array([[np.inf, 1.0], [1.0, 2.0]])),
        bad(r"^values: 1 of 1 observed values are NaN", sp.csr_array([[np.nan, 0], [0, 0]])),
        bad(r"^values: no observed cell", np.full((3, 3), np.nan)),
        bad(r"^values: no observed cell", sp.csr_array((3, 3))),
        bad(r"[Cc]omplex", np.array([[1j, 1.0]])),
        bad(r"[Cc]omplex", sp.csr_array(np.array([[1j, 1.0]]))),
        bad(r"0 sample|0 feature", np.zeros((0, 3))),
        bad(r"could not convert|dtype|numeric", np.array([["a", "b"]])),
        bad(r"2D|2-dimensional", np.ones(3)),
    ],
)
def test_bad_input(X, settings, match) -> None:
    with pytest.raises(ValueError, match=match):
        model(**({"rank": 1} | settings)).fit(X)
