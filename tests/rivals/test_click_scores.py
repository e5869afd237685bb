"""Scores from clicks: what every rival for clicks keeps to."""

import numpy as np
import pytest
import scipy.sparse as sp

from pygeco import evaluate
from pygeco.rivals import ease, gfcf, popular

MAKERS = [popular, lambda X: ease(X, 2.0), lambda X: gfcf(X, 3)]


@pytest.mark.parametrize("make", MAKERS)
def test_scores_are_a_function_of_a_row_s_clicks(make) -> None:
    X = np.random.default_rng(0).random((30, 12)) < 0.3
    found = make(sp.csr_matrix(X, dtype=np.int64) * 7)  # values do not count
    assert found.shape == (30, 12)
    rows = np.array([3, 0, 3])
    new = found.fold_in(X[rows])
    np.testing.assert_array_equal(found.score_rows(rows), new.score_rows(np.arange(3)))
    held = np.random.default_rng(1).random(X.shape) < 0.2
    assert evaluate(found, held, protocol="all", k=3).fitted == np.sum(held & X)
    again = evaluate(found, held[rows], protocol="new-rows", given=X[rows], k=3)
    assert again.rows == np.sum((held & ~X)[rows].any(axis=1))
    with pytest.raises(ValueError, match=r"^clicks: have 11 columns, the model 12"):
        found.fold_in(X[:, 1:])
    with pytest.raises(ValueError, match=r"^clicks: expected a matrix"):
        make("clicks")


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_what_is_no_number_is_no_click(make, form) -> None:
    with pytest.raises(ValueError, match=r"^clicks: have NaN"):
        make(form(np.array([[1.0, np.nan], [0.0, 1.0]])))
    with pytest.raises(ValueError, match=r"^clicks: expected numbers, not <U1"):
        make(np.array([["a", "b"]]))
