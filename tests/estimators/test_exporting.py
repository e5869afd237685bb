"""Vectors for other programs: inner products give the predictions and the order."""

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from pygeco import MatrixCompletion
from pygeco.data import make_ratings

ROWS, COLS, VALUES, SHAPE = make_ratings((70, 40), 900)


def models():
    frame = pd.DataFrame({"user": ROWS, "item": [f"i{k:02d}" for k in COLS], "rating": VALUES})
    yield MatrixCompletion(3, clip=False, random_state=0).fit((ROWS, COLS, VALUES, SHAPE))
    yield MatrixCompletion(3, clip=False, random_state=0).fit(frame)
    yield MatrixCompletion(2, penalty=None, clip=False, random_state=0).fit(frame)


def test_inner_products_are_predictions_and_rank_columns() -> None:
    for model in models():
        v = model.vectors()
        full = v.rows @ v.columns.T + v.base[:, None]
        np.testing.assert_allclose(full, model.to_dense(), rtol=2e-5, atol=2e-5)
        assert v.rows.shape == (len(v.rows), model.rank_ + 1)
        np.testing.assert_array_equal(v.rows[:, -1], 1.0)
        ids = model.row_ids_ if model.row_ids_ is not None else np.arange(70)
        best = model.recommend(ids[:5], 4, exclude_seen=False)
        order = np.argsort(-(v.rows[:5] @ v.columns.T), axis=1)[:, :4]
        names = order if model.column_ids_ is None else model.column_ids_[order]
        assert best.columns.tolist() == names.tolist()


def test_files_hold_what_vectors_gives(tmp_path) -> None:
    for model in models():
        v = model.vectors()
        model.export(tmp_path / "f.npz")
        with np.load(tmp_path / "f.npz") as found:
            np.testing.assert_array_equal(found["column_vectors"], v.columns)
            again = (found["U"] * found["s"]) @ found["V"].T + found["mean"]
            again += found["row_offset"][:, None] + found["column_offset"]
            np.testing.assert_allclose(again, model.to_dense(), rtol=1e-5)
            assert ("row_ids" in found) == (model.row_ids_ is not None)
        for side, wanted, ids in (
            ("columns", v.columns, model.column_ids_),
            ("rows", v.rows, model.row_ids_),
        ):
            model.export(tmp_path / "f.parquet", side)
            table = pq.read_table(tmp_path / "f.parquet").to_pandas()
            np.testing.assert_array_equal(np.stack(table.vector), wanted)
            assert table.id.tolist() == (list(range(len(wanted))) if ids is None else ids.tolist())


def test_wrong_names_leave_files_alone(tmp_path) -> None:
    model = next(models())
    (tmp_path / "f.txt").write_text("old")
    with pytest.raises(ValueError, match=r"path: must end in .npz or .parquet"):
        model.export(tmp_path / "f.txt")
    with pytest.raises(ValueError, match="side: expected 'rows' or 'columns'"):
        model.export(tmp_path / "f.npz", "both")
    assert (tmp_path / "f.txt").read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 1
