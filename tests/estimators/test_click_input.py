"""Counts as weights of clicks: what the fit settled holds for all that comes later."""

import copy
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.model_selection import cross_val_score

import pygeco
from pygeco import CellKFold, ImplicitCompletion, SpectralSettings, SquaresSettings, cells
from pygeco.errors import ClicksWarning

FIXED = {
    "spectral": SpectralSettings(6, 0.3, 0.3, 1.0, 0.0),
    "squares": SquaresSettings(4, 0.2, 0.01, 0.0, 0.0, 0.0),
    "share": 0.5,
    "random_state": 0,
}
MOST = {"log": 1000, "plain": 3, "ones": 1}  # counts up to so much are taken so


def make_clicks(most):
    counts = (np.random.default_rng(0).random((120, 40)) < 0.2).astype(float)
    at = np.flatnonzero(counts)[::7]
    counts.ravel()[at] = most
    return counts


@pytest.fixture(scope="module", params=MOST)
def fitted(request):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = ImplicitCompletion(**FIXED).fit(make_clicks(MOST[request.param]))
    assert [warning.category for warning in told] == [ClicksWarning] * (request.param == "log")
    assert model.model_.count_rule == request.param
    return model


def test_a_row_is_where_it_is_whoever_is_in_the_batch(fitted):
    one, other = np.zeros((2, 1, 40))
    one[0, [0, 4]], other[0, [1, 2, 3]] = 100, 1
    alone, together = fitted.transform(one), fitted.transform(np.vstack([one, other]))
    np.testing.assert_allclose(together[:1], alone, atol=1e-5 * np.abs(alone).max())
    one, other = np.zeros((2, 120, 1))
    one[[0, 4]], other[[1, 2, 3]] = 100, 1
    alone, together = map(fitted.transform_columns, (one, np.hstack([one, other])))
    np.testing.assert_allclose(together[:1], alone, atol=1e-5 * np.abs(alone).max())


def test_new_counts_weigh_as_those_of_the_fit(fitted, tmp_path):
    weight = {"log": np.log2(101), "plain": 100, "ones": 1}[fitted.model_.count_rule]
    fitted.save(tmp_path / "m.geco")
    model = pygeco.load(tmp_path / "m.geco")
    model.partial_fit(([120, 120], [1, 2], [100.0, 100.0])).partial_fit(([121], [1], [100.0]))
    np.testing.assert_allclose(model.seen_.values[-3:], weight, rtol=1e-6)
    assert model.model_.count_rule == fitted.model_.count_rule


def test_what_was_asked_of_counts_holds_where_those_of_the_fit_are_equal():
    model = ImplicitCompletion(**FIXED, counts="log").fit(make_clicks(1))
    model.partial_fit(([120], [1], [7.0]))
    assert model.seen_.values[-1] == 3


def test_counts_after_a_file_of_an_earlier_version_are_looked_at_alone(fitted):
    earlier = copy.copy(fitted)
    earlier.model_ = replace(fitted.model_, count_rule=None)
    with pytest.warns(ClicksWarning, match="log₂"):
        earlier.partial_fit(([120, 120, 120], [1, 2, 3], [1.0, 1.0, 100.0]))
    assert earlier.seen_.values[-1] == pytest.approx(np.log2(101))


def make_forms(counts):
    i, j = np.nonzero(counts)
    forms = {"dense": counts, "sparse": sp.csr_array(counts)}
    forms["triplets"] = (i, j, counts[i, j], counts.shape)
    return forms | ({"pairs": (i, j)} if counts.max() == 1 else {})


@pytest.mark.parametrize("rows", [slice(0, 20), slice(7, 8)])
def test_scores_of_whole_rows_are_those_of_their_coordinates(fitted, rows):
    most = MOST[fitted.model_.count_rule]
    for name, X in make_forms(make_clicks(most)[rows]).items():
        W = fitted.transform(X)
        np.testing.assert_allclose(W, fitted.factors_.left[rows], atol=1e-4 * np.abs(W).max())
        scores = W @ fitted.components_
        for found in (fitted.predict(X), fitted.decision_function(X)):
            np.testing.assert_allclose(
                found, scores, atol=1e-5 * np.abs(scores).max(), err_msg=name
            )


def test_a_dask_data_frame_is_no_matrix_of_counts():
    frames = pytest.importorskip("dask.dataframe")
    table = pd.DataFrame({"user": [3, 3, 5], "item": [1, 2, 1]})
    with pytest.raises(ValueError, match=r"^X: clicks in files or in a Dask DataFrame"):
        ImplicitCompletion().fit(frames.from_pandas(table, npartitions=1))


@pytest.mark.parametrize("kind", [int, float, str, list])
def test_an_array_of_pairs_is_no_matrix_of_two_columns(kind):
    rng = np.random.default_rng(0)
    cells = np.argwhere(rng.random((40, 20)) < 0.2)
    pairs = cells.tolist() if kind is list else cells.astype(kind)
    with pytest.raises(ValueError, match=r"^X: an array of .* × 2 that looks like pairs"):
        ImplicitCompletion(**FIXED).fit(pairs)
    found = ImplicitCompletion(**FIXED).fit(pairs, columns=(0, 1))
    assert (len(found.seen_.indices), found.n_features_in_) == (len(cells), 20)
    two = ImplicitCompletion(**FIXED).fit(pairs, columns="matrix") if kind is int else None
    assert two is None or two.n_features_in_ == 2
    assert ImplicitCompletion(**FIXED).fit((rng.random((90, 2)) < 0.6) * 1).n_features_in_ == 2


def test_what_a_model_of_clicks_has_not_is_said():
    table = pd.DataFrame(np.argwhere(make_clicks(1) > 0), columns=["user", "item"])
    model = ImplicitCompletion(**FIXED).fit(table)
    with pytest.raises(ValueError, match=r"^X: transform takes a matrix"):
        model.transform(table)
    wide = pd.DataFrame(make_clicks(1)[:3])
    assert model.transform(wide).shape == (3, model.rank_)
    for ask in (model.predict_interval, lambda X: model.predict(X, return_std=True)):
        with pytest.raises(ValueError, match=r"^return_std: scores of clicks"):
            ask(table[:3])


def test_clicks_to_score_come_in_the_forms_of_the_fit():
    rng = np.random.default_rng(0)
    dense = rng.random((40, 20)) < 0.3
    dense[:, 0] = True
    rows, cols = np.nonzero(dense)
    held = np.argwhere(~dense)[::5]
    counts = np.arange(len(held)) % 3
    fitted = ImplicitCompletion(**FIXED).fit((rows, cols))
    expected = fitted.score(tuple(held[counts > 0].T))
    assert fitted.score(tuple(held.T), counts) == expected
    matrix = np.zeros(dense.shape)
    matrix[tuple(held.T)] = counts
    for form in (matrix, sp.csr_array(matrix), pd.DataFrame(matrix), cells(matrix)):
        assert fitted.score(form) == expected
    paired = ImplicitCompletion(**FIXED).fit(np.argwhere(dense), np.ones(len(rows)))
    for pairs in (held, held.tolist(), pd.DataFrame(held, columns=["user", "item"])):
        assert paired.score(pairs, counts) == pytest.approx(expected)
    scores = cross_val_score(paired, np.argwhere(dense), np.ones(len(rows)), cv=CellKFold(3))
    assert np.all(scores > 0)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_fold_of_rows_is_not_scored_as_the_first_rows_of_the_fit(form):
    dense = (np.random.default_rng(0).random((30, 12)) < 0.4).astype(float)
    model = ImplicitCompletion(**FIXED)
    with pytest.raises(ValueError, match=r"^X: is 10 × 12, but the fit had 20 × 12, and rows"):
        cross_val_score(model, form(dense), cv=3, error_score="raise")
