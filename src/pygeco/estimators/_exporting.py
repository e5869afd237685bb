"""Factors for other programs: NumPy archives, Parquet, vectors for a nearest-neighbor index."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pygeco.arrays.kinds import host
from pygeco.arrays.low_rank import Array
from pygeco.arrays.whole_file import whole_file
from pygeco.estimators._ids import gather_ids
from pygeco.io.tables import pyarrow
from pygeco.models import FittedModel

if TYPE_CHECKING:
    from pygeco.estimators._completion_state import _CompletionState


class Vectors(NamedTuple):
    """Vectors of rows and columns in the form that inner-product indexes search.

    ⟨rows_i, columns_j⟩ + base_i is the linear prediction, so the columns with the largest products
    are the best ones of a row.

    Attributes
    ----------
    rows : array (m, r + 1)
        The last coordinate is 1.
    columns : array (n, r + 1)
        The last coordinate is the offset of the column.
    base : array (m,)
        The overall mean and the offset of the row.
    """

    rows: Array
    columns: Array
    base: Array


def make_vectors(model: FittedModel) -> Vectors:
    """(u_i s, 1), (v_j, c_j) and μ + b_i, in float32."""
    A, b = model.factors, model.biases
    rows = np.column_stack([host(A.left), np.ones(len(A.U))])
    columns = np.column_stack([host(A.V), host(b.col)])
    base = b.mean + host(b.row)
    return Vectors(*(part.astype(np.float32) for part in (rows, columns, base)))


def export_factors(estimator: _CompletionState, path: str | os.PathLike[str], side: str) -> None:
    """See `MatrixCompletion.export`."""
    if side not in ("rows", "columns"):
        raise ValueError(f"side: expected 'rows' or 'columns', not {side!r}.")
    name = os.fspath(path)
    if os.path.isdir(path) or name.endswith(("/", os.sep)):
        _write_folder(estimator, Path(path))
    elif name.endswith(".npz"):
        with whole_file(path) as file:
            np.savez(file, **_name_arrays(estimator))
    elif name.endswith(".parquet"):
        _write_parquet(estimator, path, side)
    else:
        raise ValueError(f"path: must end in .npz or .parquet, or be a folder, unlike {name!r}.")


def _write_folder(estimator: _CompletionState, folder: Path) -> None:
    """Every array in a `.npy` file of its own, which can be mapped, and both sides as Parquet."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, array in _name_arrays(estimator).items():
        with whole_file(folder / f"{name}.npy") as file:
            np.save(file, array, allow_pickle=False)
    for side in ("rows", "columns"):
        _write_parquet(estimator, folder / f"{side}.parquet", side)


def _name_arrays(estimator: _CompletionState) -> dict[str, Any]:
    model = estimator.model_
    A, b, v = model.factors, model.biases, make_vectors(model)
    found = {"U": host(A.U), "s": A.s, "V": host(A.V), "mean": b.mean}
    found |= {"row_offset": host(b.row), "column_offset": host(b.col)}
    found |= {"row_vectors": v.rows, "column_vectors": v.columns}
    for name, ids in (
        ("row_ids", gather_ids(estimator.row_ids_)),
        ("column_ids", estimator.column_ids_),
    ):
        if ids is not None:
            found[name] = ids.astype(str) if ids.dtype.kind == "O" else ids
    return found


def _write_parquet(estimator: _CompletionState, path: str | os.PathLike[str], side: str) -> None:
    pa = pyarrow()
    from pyarrow import parquet

    v, biases = make_vectors(estimator.model_), estimator.model_.biases
    by_row = side == "rows"
    vectors = v.rows if by_row else v.columns
    ids = gather_ids(estimator.row_ids_) if by_row else estimator.column_ids_
    flat = pa.array(np.ascontiguousarray(vectors).reshape(-1))
    table = pa.table(
        {
            "id": np.arange(len(vectors)) if ids is None else pa.array(ids),
            "offset": host(biases.row if by_row else biases.col),
            "vector": pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1]),
        }
    )
    with whole_file(path) as file:
        parquet.write_table(table, file)
