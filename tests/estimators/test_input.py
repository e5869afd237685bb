"""Every form in which cells arrive."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from completion_cases import model, table
from pygeco import (
    Attributes,
    Dense,
    Entries,
    ImplicitCompletion,
    LowRankImputer,
    MatrixCompletion,
    ReducedRankRegressor,
    RobustPCA,
    cells,
)
from pygeco.data import make_ratings


@pytest.fixture(scope="module")
def ratings():
    return make_ratings((80, 50), 1500, dtype=np.float64)


def test_every_form_of_the_data_gives_the_same_model(ratings) -> None:
    rows, cols, values, shape = ratings
    coo = sp.coo_array((values, (rows, cols)), shape)
    first = model().fit(ratings)
    forms = [tuple(ratings), table(ratings), coo, coo.tocsr(), coo.tocsc(), sp.csr_matrix(coo)]
    for X in (*forms, pd.DataFrame(table(ratings))):
        same = model().fit(X)
        np.testing.assert_array_equal(same.components_, first.components_)
        np.testing.assert_array_equal(same.factors_.U, first.factors_.U)
        assert same.n_features_in_ == 50
        assert same.score(X) == first.score(ratings)
        np.testing.assert_array_equal(same.transform(X), first.transform(ratings))


def test_explicit_zeros_are_observations() -> None:
    X = sp.csr_array((np.array([1.0, 0.0, 2.0]), np.array([0, 1, 1]), np.array([0, 2, 3])), (2, 2))
    fitted = model(2).fit(X)
    np.testing.assert_allclose(fitted.predict([0, 0, 1], [0, 1, 1]), [1, 0, 2], atol=1e-6)
    assert fitted.path_[0].objective > 0


def test_weights_are_per_value_or_per_row(ratings) -> None:
    w = np.where(ratings.rows < 40, 1.0, 0.0)
    part = ratings.rows < 40
    some = tuple(x[part] for x in ratings[:3])
    weighted = model(2).fit(ratings, sample_weight=w)
    alone = model(2).fit((*some, ratings.shape))
    np.testing.assert_allclose(weighted.path_[-1].objective, alone.path_[-1].objective)
    by_row = np.where(np.arange(ratings.shape[0]) < 40, 1.0, 0.0)
    same = model(2).fit(table(ratings), sample_weight=by_row)
    np.testing.assert_allclose(same.path_[-1].objective, alone.path_[-1].objective)


def make_masked(fill):
    """The same table with NaN, and as a masked array that hides this number."""
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((40, 2)) @ rng.standard_normal((2, 20))
    known = rng.random(Z.shape) < 0.6
    masked = np.ma.array(np.where(known, Z, fill), mask=~known)
    return masked.astype(np.float32), np.where(known, Z, np.nan).astype(np.float32)


@pytest.mark.parametrize("fill", [7.0, -999.0])
def test_masked_cells_of_a_completion_are_missing(fill) -> None:
    M, X = make_masked(fill)
    one, same = (MatrixCompletion(random_state=0, penalty=None, rank=2).fit(Y) for Y in (M, X))
    assert (
        one.seen_.values.size == np.isfinite(X).sum() == len(cells(M)) == Entries.from_dense(M).size
    )
    for ask in ("transform", "transform_columns", "predict", "decision_function", "score"):
        np.testing.assert_array_equal(getattr(one, ask)(M), getattr(same, ask)(X))
    one.partial_fit(M[:, :20]), same.partial_fit(X)
    np.testing.assert_array_equal(one.to_dense(), same.to_dense())
    # A mark is another value, which the mask may hide.
    marked = MatrixCompletion(random_state=0, penalty=None, rank=2, missing_values=fill).fit(M)
    assert marked.seen_.values.size == np.isfinite(X).sum()


@pytest.mark.parametrize(
    "estimator",
    [
        LowRankImputer(random_state=0, add_indicator=True),
        LowRankImputer(2, alpha=0.1, random_state=0),
        RobustPCA(2, random_state=0),
        Attributes(),
    ],
    ids=repr,
)
def test_masked_cells_of_a_table_are_missing(estimator) -> None:
    M, X = make_masked(999.0)
    one, same = estimator.fit(M).transform(M), estimator.fit(X).transform(X)
    one, same = (Y.toarray() if sp.issparse(Y) else Y for Y in (one, same))
    np.testing.assert_array_equal(one, same)


def test_masked_clicks_columns_and_targets() -> None:
    M, X = make_masked(999.0)
    some = np.round(np.abs(2 * np.nan_to_num(X)))
    counts = np.ma.array(np.where(M.mask, 999.0, some), mask=M.mask)
    one, same = (ImplicitCompletion(counts="plain", random_state=0).fit(Y) for Y in (counts, some))
    np.testing.assert_array_equal(one.transform(counts), same.transform(some))
    assert Dense(M).total_weight == np.isfinite(X).sum()
    column = {"a": M[:, 0], "b": np.ma.array(["x", "y"] * 20, mask=M.mask[:, 0])}
    words = np.where(M.mask[:, 0], None, column["b"].data.astype(object))
    found, plain = (Attributes().fit_transform(d) for d in (column, {"a": X[:, 0], "b": words}))
    np.testing.assert_array_equal(found.toarray(), plain.toarray())
    with pytest.raises(ValueError, match="X contains NaN"):
        ReducedRankRegressor(1).fit(M, np.arange(40.0))
    with pytest.raises(ValueError, match="y contains NaN"):
        ReducedRankRegressor(1).fit(np.nan_to_num(X), M[:, 0])


@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
@pytest.mark.parametrize("form", ["dok", "lil", "dia", "bsr"])
def test_sparse_matrices_of_every_format(form, ratings) -> None:
    rows, cols, values, shape = ratings
    given = sp.coo_array((values, (rows, cols)), shape)
    plain, same = model().fit(given), model().fit(given.asformat(form))
    np.testing.assert_array_equal(same.to_dense(), plain.to_dense())
    np.testing.assert_array_equal(plain.predict(given.asformat(form)), plain.predict(given))
    after = (
        one.partial_fit(X).to_dense() for one, X in ((plain, given), (same, given.asformat(form)))
    )
    np.testing.assert_array_equal(*after)
    marked = sp.coo_array((np.where(values > 4, 99.0, values), (rows, cols)), shape)
    with pytest.raises(ValueError, match="99"):
        model().fit(marked.asformat(form))


def test_nothing_is_an_empty_list_too(ratings) -> None:
    fitted = model().fit(ratings)
    before = fitted.to_dense()
    np.testing.assert_array_equal(fitted.partial_fit(([], [], [])).to_dense(), before)
    assert fitted.predict([], []).shape == (0,)
    assert not len(fitted.recommend([], k=3).columns)
    with pytest.raises(ValueError, match="no observed cell"):
        model().fit(([], [], []))
