"""The error at cells that were masked, against a plain count of them."""

import numpy as np
import pytest

from pygeco.estimators.masked_error import MASKED_SHARE, measure_masked_error


def table(seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((200, 4)) * [1.0, 10.0, 0.1, 1.0] + 5
    X[rng.random(X.shape) < 0.2] = np.nan
    X[:, 3] = 7.0  # which has nothing to predict
    return X


def test_one_who_knows_the_cells_errs_not_and_means_err_by_a_deviation() -> None:
    X = table()
    found = measure_masked_error(lambda seen: np.where(np.isnan(seen), X, seen), X, 0)
    assert found.error == 0
    assert found.means == pytest.approx(1.0, abs=0.15)
    known = np.count_nonzero(~np.isnan(X[:, :3]))
    assert found.cells == pytest.approx(MASKED_SHARE * known, rel=0.3)
    by_means = measure_masked_error(
        lambda seen: np.where(np.isnan(seen), np.nanmean(seen, axis=0), seen), X, 0
    )
    assert by_means.error == pytest.approx(by_means.means)


def test_units_do_not_matter_and_too_few_cells_say_nothing() -> None:
    X = table()
    half = measure_masked_error(lambda seen: np.nan_to_num(seen, nan=5.0), X, 1)
    large = measure_masked_error(lambda seen: np.nan_to_num(seen, nan=5000.0), 1000 * X, 1)
    assert half.error == pytest.approx(large.error)
    assert measure_masked_error(lambda seen: seen, np.full((5, 2), np.nan), 0) is None
