"""Lines that are added to a model by their attributes alone."""

import numpy as np
import pytest
import scipy.sparse as sp

from pygeco import MatrixCompletion
from pygeco.bayes.attributes import AttributeValues
from pygeco.models.cold import add_lines


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((90, 2)), rng.standard_normal((60, 1))
    U = np.column_stack([X[:, 0], 0.3 * rng.standard_normal(90)])
    V = np.column_stack([1 + Y[:, 0], rng.standard_normal(60)])
    Z = U @ V.T + X[:, 1:]
    mask = rng.random((90, 60)) < 0.4
    mask[0], mask[:, 0] = False, False
    rows, cols = np.nonzero(mask)
    values = (Z + 0.3 * rng.standard_normal(Z.shape))[rows, cols]
    model = MatrixCompletion(random_state=0).fit(
        (rows, cols, values, Z.shape), row_attributes=X, column_attributes=Y
    )
    return model, X, Y


def take(values, rows):
    return AttributeValues(
        sp.csr_array(values.matrix[rows]), np.ones(len(rows), bool), values.names, values.sizes
    )


def test_a_new_line_is_a_line_of_the_fit_that_has_no_cells(fitted):
    model, _, _ = fitted
    own = model.model_
    wide = add_lines(own, take(own.row_attributes, [0]), take(own.column_attributes, [0, 7]))
    assert wide.shape == (91, 62)
    rows, cols = np.arange(90), np.arange(60)
    np.testing.assert_allclose(
        wide.linear(np.full(60, 90), cols), own.linear(np.full(60, 0), cols), atol=2e-4
    )
    np.testing.assert_allclose(
        wide.linear(rows, np.full(90, 60)), own.linear(rows, np.full(90, 0)), atol=2e-4
    )
    for i, j, same in ((90, 5, 0), (5, 60, 5), (90, 60, 0)):
        other = j if j < 60 else 0
        found, expected = (
            wide.deviation(np.array([i]), np.array([j])),
            own.deviation(np.array([same]), np.array([other])),
        )
        np.testing.assert_allclose(found, expected, rtol=1e-3)


def test_the_lines_of_the_fit_stay_as_they_are(fitted):
    own = fitted[0].model_
    wide = add_lines(own, take(own.row_attributes, [3, 4]), None)
    rows, cols = np.arange(90)[:, None], np.arange(60)[None]
    np.testing.assert_allclose(wide.linear(rows, cols), own.linear(rows, cols), atol=1e-5)
    assert (np.diff(wide.seen.pointers)[90:] == 0).all()
    assert wide.row_attributes.matrix.shape[0] == 92


def test_what_cannot_be_had_says_so():
    rng = np.random.default_rng(1)
    plain = MatrixCompletion(rank=1, penalty=None).fit(rng.standard_normal((6, 5)))
    with pytest.raises(ValueError, match="new_rows: needs a model fitted with"):
        add_lines(plain.model_, None, None)
