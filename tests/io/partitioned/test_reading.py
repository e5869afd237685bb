"""Parts on the workers of a cluster become the matrix that a reader on one machine makes."""

import os
import signal

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cluster_cases import KINDS, ratings, written
from pygeco import MatrixCompletion
from pygeco.data import read_ratings
from pygeco.errors import ColumnError, ReadError, RepeatedCellError
from pygeco.estimators._fitted_cells import make_fitted_entries
from pygeco.io.partitioned import parts, read_partitioned
from pygeco.io.partitioned.parts import make_part
from pygeco.io.tables import id_array
from pygeco.losses import Squared


def gathered(found, client):
    """Row ids, column ids, pointers, indices and values of the whole matrix."""
    slabs = client.gather(list(found.slabs.futures))
    ids = [id_array(one) for one in client.gather(list(found.row_ids.futures))]
    assert [len(one) for one in ids] == list(np.diff(found.slabs.bounds))
    assert [len(slab.values) for slab in slabs] == list(found.slabs.sizes)
    assert [one[0] for one in ids[1:]] == list(found.row_ids.starts)
    assert {slab.values.dtype for slab in slabs} == {found.slabs.dtype}
    before = np.cumsum([0, *found.slabs.sizes[:-1]])
    pointers = [slab.pointers[1:] + b for slab, b in zip(slabs, before, strict=True)]
    parts = [np.concatenate([getattr(s, name) for s in slabs]) for name in ("indices", "values")]
    return np.concatenate(ids), found.column_ids, np.concatenate([[0], *pointers]), *parts


def expected(table, duplicates="error"):
    """The same from the table on one machine."""
    model = MatrixCompletion(duplicates=duplicates)
    cells = make_fitted_entries(model, table, None, loss=Squared())[0].by_row
    return model.row_ids_, model.column_ids_, cells.pointers, cells.indices, cells.values


def assert_same(found, wanted):
    for one, other in zip(found, wanted, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("kind", KINDS)
def test_a_folder_is_the_matrix_of_its_rows(client, tmp_path, kind):
    table = ratings(kind=kind)
    found = read_partitioned(str(written(table, tmp_path)), client)
    pq.write_table(table, tmp_path / "whole.parquet")
    assert_same(gathered(found, client), expected(read_ratings(tmp_path / "whole.parquet").table))
    assert len(found.slabs.futures) == 3
    assert found.slabs.sizes.max() < 1.2 * found.slabs.sizes.min()
    assert found.found == (
        f"{tmp_path.name} (4 Parquet files): user = 'user', item = 'item', rating = 'rating'; "
        "3,000 rows."
    )


def test_slabs_do_not_depend_on_the_files(client, tmp_path):
    table = ratings()
    one, many = tmp_path / "one", tmp_path / "many"
    one.mkdir(), many.mkdir()
    told = []
    written(table, many, 7)
    found = [
        read_partitioned(written(table, one, 1), client, progress=told.append),
        read_partitioned(many.as_uri(), client),  # any address of fsspec's
    ]
    assert told == sorted(told)
    assert told[-1] == 1
    np.testing.assert_array_equal(found[0].slabs.bounds, found[1].slabs.bounds)
    assert_same(gathered(found[0], client), gathered(found[1], client))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_dask_frame_is_the_matrix_of_its_rows(client, dtype):
    table = ratings(kind="integers")
    frame = table.to_pandas().rename(columns={"user": "who", "item": "what"})
    frame["rating"] = (frame["rating"] + 0.1).astype(dtype)
    frame.index = frame.index * 2  # an index of its own is not a column
    lazy = dd.from_pandas(frame, npartitions=5, sort=False)
    found = read_partitioned(lazy, client, columns=("who", "what", "rating"))
    assert_same(
        gathered(found, client), expected(frame.rename(columns={"who": "user", "what": "item"}))
    )


@pytest.mark.parametrize("duplicates", ["mean", "sum", "last"])
def test_repeats_are_merged_as_on_one_machine(client, tmp_path, duplicates):
    table = ratings(repeats=True)
    found = read_partitioned(written(table, tmp_path), client, duplicates=duplicates)
    short = table.set_column(2, "rating", table.column(2).cast(pa.float32()))
    assert_same(gathered(found, client), expected(short, duplicates))


def test_repeats_are_an_error_in_the_same_words(client, tmp_path):
    table = ratings(repeats=True)
    with pytest.raises(RepeatedCellError) as here:
        expected(table)
    with pytest.raises(RepeatedCellError) as there:
        read_partitioned(written(table, tmp_path), client)
    assert str(there.value) == str(here.value)


def test_types_that_differ_between_files_are_widened(client, tmp_path):
    one = pa.table({"user": pa.array([3, 1], pa.int32()), "item": ["b", "a"], "y": [1, 2]})
    two = pa.table({"y": [0.1, 2.5], "item": ["c", "a"], "user": pa.array([2**40, 3], pa.int64())})
    pq.write_table(one, tmp_path / "a.parquet")
    pq.write_table(two, tmp_path / "b.parquet")
    found = read_partitioned([tmp_path / "a.parquet", tmp_path / "b.parquet"], client)
    rows, cols, pointers, indices, values = gathered(found, client)
    assert rows.dtype == np.int64
    assert list(rows) == [1, 3, 2**40]
    assert list(cols) == ["a", "b", "c"]
    assert list(pointers) == [0, 1, 3, 4]
    assert list(indices) == [0, 0, 1, 2]
    assert list(values) == [2, 2.5, 1, 0.1]  # not float32, which would change 0.1


def test_rows_without_a_value_are_left_out_and_counted(client, tmp_path):
    table = ratings(200)
    user = ["", None, *table.column("user").to_pylist()[2:]]
    rating = [*table.column("rating").to_pylist()[:-1], None]
    table = table.set_column(0, "user", [pa.array(user)]).set_column(2, "rating", [rating])
    pq.write_table(table, tmp_path / "whole.parquet")
    found = read_partitioned(tmp_path, client)
    reading = read_ratings(tmp_path / "whole.parquet")
    assert_same(gathered(found, client), expected(reading.table))
    assert "197 rows; 3 rows with a missing value are left out." in found.found
    assert "197 rows; 3 rows with a missing value are left out." in reading.found


def test_rows_are_held_out_whatever_the_files_are(client, tmp_path):
    table = ratings()
    held = []
    for files in (1, 5):
        folder = tmp_path / f"{files}"
        folder.mkdir()
        found = read_partitioned(written(table, folder, files), client, holdout=(0.2, 3))
        held.append(found.held)
        assert found.slabs.sizes.sum() + found.held.num_rows == 3000
    assert held[0].equals(held[1])
    assert held[0].num_rows == pytest.approx(600, abs=80)  # 0.2 and five deviations
    left = gathered(found, client)
    cells = set(zip(np.repeat(left[0], np.diff(left[2])), left[1][left[3]], strict=True))
    pairs = zip(*(held[0].column(k).to_pylist() for k in (0, 1)), strict=True)
    assert not cells & set(pairs)
    other = read_partitioned(folder, client, holdout=(0.2, 4)).held
    assert not other.equals(held[0])


def test_a_lost_slab_is_made_again_from_the_files(mortal, tmp_path):
    table = ratings()
    found = read_partitioned(written(table, tmp_path), mortal)
    holds = mortal.who_has(found.slabs.futures[1])
    (address,) = next(iter(holds.values()))
    os.kill(_pid(mortal, address), signal.SIGKILL)
    short = table.set_column(2, "rating", table.column(2).cast(pa.float32()))
    assert_same(gathered(found, mortal), expected(short))


def _pid(client, address):
    return client.run(os.getpid, workers=[address])[address]


def test_a_summary_need_not_name_every_user(monkeypatch):
    monkeypatch.setattr(parts, "MAX_SKETCH_USERS", 50)
    table = ratings(6000, users=500)
    names = ("user", "item", "rating")
    whole = [make_part(table.slice(at, 1500), names) for at in range(0, 6000, 1500)]
    summary = parts.merge([parts.summarize_part(part) for part in whole], names)
    assert len(summary.users) <= 50
    assert summary.weights.sum() == summary.cells == 6000
    begin = parts.find_starts(summary)
    pieces = [parts.split(part, begin, summary.items) for part in whole]
    built = [
        parts.assemble(own, len(summary.items), summary.dtype, "error", "user")
        for own in zip(*pieces, strict=True)
    ]
    ids = np.concatenate([id_array(one.users) for one in built])
    assert list(ids) == sorted(set(table.column("user").to_pylist()))
    sizes = [one.account.cells for one in built]
    assert sum(sizes) == 6000
    # Within a step of each part's sketch.
    assert max(sizes) < 6000 / len(sizes) + 4 * 6000 / 50
    values = np.concatenate([one.slab.values for one in built])
    np.testing.assert_array_equal(values, expected(table)[4])


class TestMistakes:
    def one(self, folder, **changes):
        table = ratings(100)
        for name, values in changes.items():
            table = table.set_column(table.column_names.index(name), name, [values])
        pq.write_table(table, folder / "a.parquet")
        return folder

    def told(self, kind, client, X, **settings):
        with pytest.raises(kind) as error:
            read_partitioned(X, client, **settings)
        text = str(error.value)
        assert "\n" not in text
        return text

    def test_text_among_the_ratings(self, client, tmp_path):
        folder = self.one(tmp_path, rating=["4", "many", *["3"] * 98])
        with pytest.raises(ReadError) as here:
            read_ratings(folder / "a.parquet")
        assert self.told(ReadError, client, folder) == str(here.value)

    def test_a_wrong_column(self, client, tmp_path):
        folder = self.one(tmp_path)
        with pytest.raises(ColumnError) as here:
            read_ratings(folder / "a.parquet", user="whom")
        assert self.told(ColumnError, client, folder, columns=("whom", None, None)) == str(
            here.value
        )
        assert "columns: expected three" in self.told(ValueError, client, folder, columns=("a",))

    def test_no_column_looks_right(self, client, tmp_path):
        pq.write_table(pa.table({name: [1] for name in "pqrst"}), tmp_path / "a.parquet")
        with pytest.raises(ColumnError) as here:
            read_ratings(tmp_path / "a.parquet")
        assert self.told(ColumnError, client, tmp_path) == str(here.value)

    def test_no_file(self, client, tmp_path):
        (tmp_path / "ratings.csv").write_text("user,item,rating\n1,2,3\n")
        assert "holds no Parquet file" in self.told(ReadError, client, tmp_path)
        self.told(FileNotFoundError, client, tmp_path / "absent")
        self.told(FileNotFoundError, client, [tmp_path / "absent.parquet"])

    def test_a_file_that_is_not_parquet(self, client, tmp_path):
        (tmp_path / "a.parquet").write_bytes(b"user,item,rating\n")
        assert self.told(ReadError, client, tmp_path).startswith("a.parquet cannot be read: ")

    def test_no_rows(self, client, tmp_path):
        pq.write_table(ratings(10).slice(0, 0), tmp_path / "a.parquet")
        text = self.told(ReadError, client, tmp_path)
        assert "has no row with user and item and rating; give another" in text

    def test_infinite_values(self, client, tmp_path):
        pq.write_table(ratings(50, seed=1), tmp_path / "0.parquet")
        folder = self.one(tmp_path, rating=[*[1.0] * 30, np.inf, *[2.0] * 69])
        text = self.told(ValueError, client, folder)
        assert text.startswith(
            "values: 1 of 150 observed values are NaN or infinity (the first at position 80)"
        )

    def test_ids_of_unlike_types(self, client, tmp_path):
        pq.write_table(ratings(50, kind="integers"), tmp_path / "0.parquet")
        text = self.told(ReadError, client, self.one(tmp_path))
        assert text == (
            "column 'user': ids are of type int64 and string in different parts; write them alike."
        )

    def test_a_file_with_other_columns(self, client, tmp_path):
        pq.write_table(pa.table({"user": [1], "item": [2]}), tmp_path / "b.parquet")
        text = self.told(ColumnError, client, self.one(tmp_path))
        assert text.startswith("b.parquet: there is no column 'rating', which a.parquet has;")

    def test_frames(self, client):
        frame = pd.DataFrame({"user": [1, 2], "item": [1, 2], "rating": [1.0, None]})
        lazy = dd.from_pandas(frame, npartitions=2)
        text = self.told(ValueError, client, lazy)
        assert text == "partition 1: column 'rating': row 1 has no value; remove rows without one."
        other = lazy.rename(columns={"rating": "color"})
        assert "no columns look like user, item and rating" in self.told(ColumnError, client, other)
        assert "there is no column 'x'" in self.told(
            ColumnError, client, lazy, columns=("user", "item", "x")
        )


def test_marks_for_no_rating_are_refused_or_left_out(client, tmp_path):
    table = ratings()
    stars = np.arange(table.num_rows) % 5 + 1.0
    hit = np.random.default_rng(0).random(table.num_rows) < 0.2
    marked = table.set_column(2, "rating", pa.array(np.where(hit, -1.0, stars)))
    clean = table.set_column(2, "rating", pa.array(stars)).filter(~hit)
    folder = str(written(marked, tmp_path))
    with pytest.raises(ValueError, match=r"are -1, apart from the others \(1 to 5\)"):
        read_partitioned(folder, client)
    found = read_partitioned(folder, client, missing_values=-1)
    assert_same(gathered(found, client)[:4], expected(clean)[:4])
    assert f"{hit.sum():,} rows with a missing value are left out" in found.found
    lazy = dd.from_pandas(marked.to_pandas(), npartitions=3)
    there = read_partitioned(lazy, client, missing_values=[-1])
    assert_same(gathered(there, client)[:4], expected(clean)[:4])
    alike = dd.from_pandas(table.to_pandas().assign(rating=1.0), npartitions=2)
    with pytest.raises(ValueError, match="every value is 1, so these are clicks"):
        read_partitioned(alike, client)
