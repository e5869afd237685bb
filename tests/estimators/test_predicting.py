"""Predictions are cells of the completed matrix."""

import numpy as np
import pytest

from completion_cases import model
from pygeco import Solver
from pygeco.data import make_ratings


@pytest.fixture(scope="module")
def ratings():
    return make_ratings((80, 50), 1500, dtype=np.float64)


@pytest.mark.parametrize("biases", [False, True, "global", ("row", "column")])
@pytest.mark.parametrize("correction", ["core", "diagonal"])
def test_predictions_are_cells_of_the_completed_matrix(ratings, biases, correction) -> None:
    fitted = model(biases=biases, solver=Solver(correction=correction)).fit(ratings)
    full = fitted.to_dense()
    assert full.shape == (80, 50)
    i, j = np.indices((80, 50))
    np.testing.assert_allclose(fitted.predict(i, j), full)
    np.testing.assert_allclose(fitted.predict(3, np.arange(50)), full[3])
    np.testing.assert_allclose(fitted.predict(3, 4), full[3, 4])
    error = full[ratings.rows, ratings.cols] - ratings.values
    np.testing.assert_allclose(fitted.score(ratings), -np.sqrt(np.mean(error**2)))
    np.testing.assert_allclose(fitted.score(ratings) ** 2, fitted.path_[-1].objective)


def test_bad_questions_to_a_fitted_model(ratings) -> None:
    fitted = model(2).fit(ratings)
    for rows, cols, match in (
        ([80], [0], r"^rows: index 80 is outside 0 … 79, the fitted matrix"),
        ([0], [-1], r"^cols: index -1 is outside 0 … 49"),
        ([0.5], [0], r"^rows: expected integers, not float64"),
    ):
        with pytest.raises(ValueError, match=match):
            fitted.predict(rows, cols)
    with pytest.raises(
        ValueError, match=r"^X: has 49 columns, but MatrixCompletion was fitted with"
    ):
        fitted.transform(([0], [0], [1.0], (80, 49)))
    with pytest.raises(ValueError, match=r"49 features"):
        fitted.transform(np.ones((2, 49)))
    with pytest.raises(ValueError, match=r"^X: has 2 rows, but the model was fitted with 80"):
        fitted.score(([0, 1], [0, 1], [1.0, 2.0], (2, 50)))
