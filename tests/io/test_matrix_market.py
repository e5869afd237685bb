"""Matrix Market files."""

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from pygeco.data import read_ratings


@pytest.mark.parametrize("kind", ["coordinate", "dense", "pattern", "symmetric"])
def test_matrix_market(kind, tmp_path) -> None:
    matrix = sp.coo_array(([1.5, 2.0, 4.0], ([0, 2, 1], [1, 0, 1])), shape=(3, 3))
    path = tmp_path / "m.mtx"
    if kind == "symmetric":
        matrix = (matrix + matrix.T).tocoo()
    written = matrix.toarray() if kind == "dense" else matrix
    scipy.io.mmwrite(path, written, field="pattern" if kind == "pattern" else None)
    table = read_ratings(path).table
    back = np.zeros((3, 3))
    back[table.column(0).to_numpy() - 1, table.column(1).to_numpy() - 1] = table.column(
        2
    ).to_numpy()
    wanted = matrix.toarray()
    np.testing.assert_array_equal(back, wanted != 0 if kind == "pattern" else wanted)
