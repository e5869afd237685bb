"""Parquet files read part by part on one machine: the matrix, and the model, of their table."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from cluster_cases import KINDS, ratings, written
from pygeco import MatrixCompletion, load
from pygeco.arrays.coded import Coded
from pygeco.cli.app import app
from pygeco.data import read_ratings
from pygeco.errors import ColumnError, ReadError, RepeatedCellError
from pygeco.estimators._fitted_cells import make_fitted_entries
from pygeco.io import parquet_parts, streamed
from pygeco.io.streamed import read_streamed
from pygeco.losses import Squared
from pygeco.objectives.entries import observed


def expected(table, tmp_path, duplicates="error"):
    """The ids and both orders of the same rows, read as one file."""
    pq.write_table(table, tmp_path / "whole.pq")
    model = MatrixCompletion(duplicates=duplicates)
    whole = read_ratings(tmp_path / "whole.pq").table
    entries = make_fitted_entries(model, whole, None, loss=Squared())[0]
    (tmp_path / "whole.pq").unlink()
    return model.row_ids_, model.column_ids_, *entries.by_row[:5], *entries.by_col[:5]


def assert_same(found, wanted):
    flat = found.row_ids, found.column_ids, *found.by_row[:5], *found.by_col[:5]
    for one, other in zip(flat, wanted, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rows", [1, 700, 1 << 20])
def test_a_folder_is_the_matrix_of_its_rows(monkeypatch, tmp_path, kind, rows):
    monkeypatch.setattr(parquet_parts, "ROWS_OF_PART", rows)
    monkeypatch.setattr(streamed, "MIN_MERGED_IDS", rows)
    table = ratings(kind=kind)
    shares = []
    found = read_streamed(written(table, tmp_path), progress=shares.append)
    assert_same(found, expected(table, tmp_path))
    assert found.found == (
        f"{tmp_path.name} (4 Parquet files): user = 'user', item = 'item', rating = 'rating'; "
        "3,000 rows."
    )
    assert shares == sorted(shares)
    assert shares[-1] == 1


@pytest.mark.parametrize("duplicates", ["mean", "sum", "last"])
@pytest.mark.parametrize("is_coded", [False, True])
def test_repeats_are_merged_as_in_a_table(monkeypatch, tmp_path, duplicates, is_coded):
    monkeypatch.setattr(observed, "MIN_CODED_CELLS", 0 if is_coded else 1 << 40)
    table = ratings(repeats=True)
    found = read_streamed(written(table, tmp_path), duplicates=duplicates)
    assert_same(found, expected(table, tmp_path, duplicates))


def test_a_repeat_is_told_by_its_ids(tmp_path):
    with pytest.raises(RepeatedCellError, match=r"X: the pair \(user \d+, ï\d+\)"):
        read_streamed(written(ratings(repeats=True), tmp_path))


def test_ratings_become_codes_and_other_numbers_stay(monkeypatch, tmp_path):
    monkeypatch.setattr(observed, "MIN_CODED_CELLS", 0)
    table = ratings()
    found = read_streamed(written(table, tmp_path))
    assert isinstance(found.by_col.values, Coded)
    assert_same(found, expected(table, tmp_path))
    noise = np.random.default_rng(0).standard_normal(table.num_rows)
    table = table.set_column(2, "rating", pa.array(noise))
    found = read_streamed(written(table, tmp_path))
    assert isinstance(found.by_col.values, np.ndarray)
    assert_same(found, expected(table, tmp_path))


def test_rows_that_say_nothing_are_left_out(tmp_path):
    table = ratings(400)
    users, stars = table.column(0).to_pylist(), table.column(2).to_numpy().copy()
    users[3], stars[5:9] = None, -1.0
    table = table.set_column(0, "user", pa.array(users)).set_column(2, "rating", pa.array(stars))
    found = read_streamed(written(table, tmp_path), missing_values=-1)
    assert found.by_row.size == 395
    assert "395 rows; 5 rows with a missing value are left out." in found.found
    with pytest.raises(ValueError, match="missing_values"):
        read_streamed(tmp_path)


def test_held_out_rows_do_not_depend_on_the_parts(monkeypatch, tmp_path):
    table = ratings()
    written(table, tmp_path)
    found = []
    for rows in (300, 1 << 20):
        monkeypatch.setattr(parquet_parts, "ROWS_OF_PART", rows)
        found.append(read_streamed(tmp_path, holdout=(0.1, 7)))
    one, other = found
    assert one.held.to_pydict() == other.held.to_pydict()
    assert 200 < one.held.num_rows < 400
    assert one.by_row.size + one.held.num_rows == table.num_rows


def test_what_is_wrong_is_one_sentence(monkeypatch, tmp_path):
    with pytest.raises(FileNotFoundError):
        read_streamed(tmp_path / "absent")
    (tmp_path / "_SUCCESS").touch()
    with pytest.raises(ReadError, match="holds no Parquet file"):
        read_streamed(tmp_path)
    written(ratings(), tmp_path)
    part = tmp_path / "part-002.parquet"
    whole = part.read_bytes()
    part.write_bytes(whole[:-3])
    with pytest.raises(ReadError, match=r"part-002.parquet cannot be read: "):
        read_streamed(tmp_path)
    part.write_bytes(whole[:100] + bytes(200) + whole[300:])
    with pytest.raises(ReadError, match=r"part-002.parquet"):
        read_streamed(tmp_path)
    pq.write_table(ratings(9).rename_columns(["a", "b", "c"]), part)
    with pytest.raises(ColumnError, match=r"part-002.parquet: there is no column 'user'"):
        read_streamed(tmp_path)
    numbers = ratings(9, kind="integers")
    pq.write_table(numbers, part)
    with pytest.raises(ReadError, match="column 'user': ids are of type int64 and string"):
        read_streamed(tmp_path)
    part.write_bytes(whole)
    monkeypatch.setattr(streamed._Reader, "count", _count_then(part, ratings(50, seed=3)))
    with pytest.raises(ReadError, match=r"part-\d+.parquet changed while it was read"):
        read_streamed(tmp_path)


def _count_then(part, table):
    """The first pass; before the second one a file becomes another."""
    count = streamed._Reader.count

    def run(reader):
        found = count(reader)
        pq.write_table(table, part, row_group_size=500)
        return found

    return run


def test_a_folder_is_fitted_as_its_table_is(tmp_path):
    table = ratings(1500)
    folder = written(table, tmp_path)
    short = table.set_column(2, "rating", table.column(2).cast(pa.float32()))
    there, here = (MatrixCompletion(1, random_state=0).fit(X) for X in (folder, short))
    np.testing.assert_array_equal(there.factors_.U, here.factors_.U)
    np.testing.assert_array_equal(there.row_ids_, here.row_ids_)
    model = tmp_path / "m.geco"
    words = ["fit", folder, "-o", model, "--rank", 1, "--holdout", 0.1, "--pattern", "no"]
    said = CliRunner().invoke(app, [str(word) for word in words])
    assert said.exit_code == 0, said.output
    assert f"{folder.name} (4 Parquet files): user = 'user'" in said.output
    assert "held-out RMSE" in said.output
    assert load(model).row_ids_.dtype.kind == "O"
    said = CliRunner().invoke(app, [*map(str, words), "--implicit", "--overwrite"])
    assert said.exit_code == 2
    assert "--implicit: is for a file" in said.output
    with pytest.raises(ValueError, match="sample_weight: is not for files"):
        MatrixCompletion().fit(folder, sample_weight=np.ones(1500))
