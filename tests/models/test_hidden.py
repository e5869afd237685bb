"""Cells of new rows, each predicted without itself."""

import numpy as np
import pytest

from pygeco import Entries, MatrixCompletion
from pygeco.data import make_low_rank
from pygeco.models.hidden import predict_hidden


@pytest.fixture(scope="module")
def fitted():
    A = make_low_rank((60, 30), 2, random_state=0).to_dense()
    rng = np.random.default_rng(0)
    known = rng.random(A.shape) < 0.6
    rows, cols = np.nonzero(known)
    return MatrixCompletion(random_state=0).fit((rows, cols, A[known], A.shape)).model_, A


def test_rows_of_an_exact_matrix_are_predicted_exactly(fitted) -> None:
    model, A = fitted
    W = np.random.default_rng(1).standard_normal((4, 60))
    new = W @ A / 10
    rows, cols = (index.reshape(-1) for index in np.indices(new.shape))
    found = predict_hidden(model, Entries(rows, cols, new.reshape(-1), new.shape))
    np.testing.assert_allclose(found.targets, new.reshape(-1))
    assert np.abs(found.linear - found.targets).max() < 0.1 * np.abs(new).max()


def test_the_value_of_a_cell_does_not_help_to_predict_it(fitted) -> None:
    model, A = fitted
    cols = np.arange(10)
    values = A[0, :10].copy()
    one = predict_hidden(model, Entries(0 * cols, cols, values, (1, 30))).linear
    values[3] += 100
    other = predict_hidden(model, Entries(0 * cols, cols, values, (1, 30))).linear
    assert other[3] == pytest.approx(one[3])
    assert np.abs(other - one).max() > 1  # that of others
