"""Factors for other programs: NumPy archives, Parquet, vectors for a nearest-neighbour index."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pygeco.arrays.kinds import host
from pygeco.arrays.low_rank import Array
from pygeco.arrays.whole_file import whole_file
from pygeco.io.tables import pyarrow


class Vectors(NamedTuple):
    """rows (m, r + 1) and columns (n, r + 1) in the form that inner-product indexes search.

    The last coordinate of a column is its offset, that of a row is 1, so that ⟨rows_i, columns_j⟩ +
    base_i is the linear prediction, and the largest products are the best columns of a row.
    """

    rows: Array
    columns: Array
    base: Array


class Exporting:
    """What MatrixCompletion gives to other programs."""

    def vectors(self) -> Vectors:
        """(u_i s, 1), (v_j, c_j) and μ + b_i, in float32."""
        check_is_fitted(self)
        model: Any = self
        A, b = model.factors_, model.biases_
        rows = np.column_stack([host(A.left), np.ones(len(A.U))])
        columns = np.column_stack([host(A.V), host(b.col)])
        base = b.mean + host(b.row)
        return Vectors(*(part.astype(np.float32) for part in (rows, columns, base)))

    def export(self, path: str | os.PathLike[str], side: str = "columns") -> None:
        """Write the factors, whole or not at all.

        `.npz`: U, s, V, mean, row_offset, column_offset, the arrays of `vectors()`, and ids where
        there are some. `.parquet`: one table for a `side`, "rows" or "columns", with id, offset and
        vector, the vector as in `vectors()`.
        """
        check_is_fitted(self)
        if side not in ("rows", "columns"):
            raise ValueError(f"side: expected 'rows' or 'columns', not {side!r}.")
        name = os.fspath(path)
        if name.endswith(".npz"):
            with whole_file(path) as file:
                np.savez(file, **self._arrays())
        elif name.endswith(".parquet"):
            self._parquet(path, side)
        else:
            raise ValueError(f"path: must end in .npz or .parquet, unlike {name!r}.")

    def _arrays(self) -> dict[str, Any]:
        model: Any = self
        A, b, v = model.factors_, model.biases_, self.vectors()
        found = {"U": host(A.U), "s": A.s, "V": host(A.V), "mean": b.mean}
        found |= {"row_offset": host(b.row), "column_offset": host(b.col)}
        found |= {"row_vectors": v.rows, "column_vectors": v.columns}
        for name, ids in (("row_ids", model.row_ids_), ("column_ids", model.column_ids_)):
            if ids is not None:
                found[name] = ids.astype(str) if ids.dtype.kind == "O" else ids
        return found

    def _parquet(self, path: str | os.PathLike[str], side: str) -> None:
        pa = pyarrow()
        from pyarrow import parquet

        model: Any = self
        v = self.vectors()
        by_row = side == "rows"
        vectors = v.rows if by_row else v.columns
        ids = model.row_ids_ if by_row else model.column_ids_
        flat = pa.array(np.ascontiguousarray(vectors).reshape(-1))
        table = pa.table(
            {
                "id": np.arange(len(vectors)) if ids is None else pa.array(ids),
                "offset": host(model.biases_.row if by_row else model.biases_.col),
                "vector": pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1]),
            }
        )
        with whole_file(path) as file:
            parquet.write_table(table, file)
