"""Dense tables as they are given."""

import numpy as np
import pytest
import scipy.sparse as sp

from pygeco import Dense, Entries


@pytest.mark.parametrize("dtype", [float, np.float32, np.uint8])
@pytest.mark.parametrize("at", [(0, 0), (600, 3), (699, 299)])
def test_a_level_of_a_single_cell_is_a_level(dtype, at) -> None:
    rng = np.random.default_rng(4)
    Y = rng.integers(1, 4, (700, 300)).astype(dtype)
    Y[at] = 9
    found, known = Dense(Y, "ordinal"), Entries.from_dense(Y.astype(float), loss="ordinal")
    assert found.loss.levels == (1.0, 2.0, 3.0, 9.0)
    assert found.loss.thresholds == pytest.approx(known.loss.thresholds)
    assert found.table.values[at] == 3
    mask = np.ones(Y.shape, bool)
    mask[at] = False  # a cell that is not observed has no level
    assert Dense(Y, "ordinal", mask=mask).loss.levels == (1.0, 2.0, 3.0)


def test_labels_are_of_one_kind_in_all_rows() -> None:
    Y = np.ones((600, 4))
    Y[:256:2], Y[599, 3] = 0.0, -1.0
    with pytest.raises(ValueError, match="labels −1 and"):
        Dense(Y, "logistic")
    np.testing.assert_array_equal(Dense(Y[256:], "logistic").table.values, Y[256:])
    np.testing.assert_array_equal(Dense(Y[:256], "logistic").table.values, 2 * Y[:256] - 1)


def test_a_sparse_matrix_is_no_table() -> None:
    """Which of its cells are known it does not say."""
    with pytest.raises(ValueError, match=r"^Y: is a sparse matrix; use Entries.from_sparse"):
        Dense(sp.csr_array(np.eye(3)))
