"""Every form in which cells arrive."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from completion_cases import model, table
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
