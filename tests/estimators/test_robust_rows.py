"""New rows of RobustPCA: each by itself, and without its outliers as in the fit."""

import numpy as np
import pytest

from pygeco import RobustPCA


@pytest.mark.parametrize("settings", [{}, {"cutoff": 6.0}, {"threshold": 9.0}], ids=str)
def test_outliers_of_one_sign_do_not_move_new_rows(settings) -> None:
    """Whatever cells are called outliers."""
    rng = np.random.default_rng(0)
    V = rng.standard_normal((3, 60))
    X = rng.standard_normal((300, 3)) @ V + 0.3 * rng.standard_normal((300, 60))
    model = RobustPCA(3, random_state=0, **settings).fit(X[:200])
    wild = rng.random((100, 60)) < 0.2
    known = model.transform(np.where(wild, np.nan, X[200:]))
    found = model.transform(X[200:] + 6 * wild)
    clean = model.transform(X[200:])
    gap = np.abs(clean - known).mean()  # what the cells themselves were worth
    assert np.abs(found - known).mean() < 0.5 * gap
    np.testing.assert_allclose(model.transform(X[210:211] + 6 * wild[10]), found[10:11], atol=1e-9)
