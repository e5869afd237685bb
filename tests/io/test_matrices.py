"""Files that hold a matrix."""

import io

import numpy as np
import pytest

from pygeco.data import read_ratings
from pygeco.errors import ColumnError, ReadError

RNG = np.random.default_rng(0)


COAT = "\n".join(" ".join(map(str, row)) for row in RNG.integers(0, 6, (9, 12))) + "\n"


def test_matrices_are_read_as_such() -> None:
    table = read_ratings(io.BytesIO(COAT.encode()), matrix=True).table
    back = np.zeros((9, 12))
    back[table.column(0).to_numpy() - 1, table.column(1).to_numpy() - 1] = table.column(2)
    np.testing.assert_array_equal(back, np.loadtxt(io.StringIO(COAT)))
    text = b"user;j1;j2\n01;1,5;\n1;;2\n"
    found = read_ratings(io.BytesIO(text), matrix=True)
    assert found.table.to_pylist() == [
        {"user": "01", "item": "j1", "rating": 1.5},
        {"user": "1", "item": "j2", "rating": 2.0},
    ]
    assert "2 rows are users, 2 columns are items; 2 cells have a value." in found.found
    with pytest.raises(ReadError, match="column 'note' holds text"):
        read_ratings(io.BytesIO(b"user,a,note\n1,2,good\n"), matrix=True)
    with pytest.raises(ColumnError, match="do not name columns"):
        read_ratings(io.BytesIO(COAT.encode()), matrix=True, user=1)
