"""From files to a model on a cluster, as from a table on one machine."""

import dask
import dask.dataframe as dd
import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from attribute_files import draw_world
from cluster_cases import ratings, written
from forked_workers import METHOD
from pygeco import MatrixCompletion, load
from pygeco.arrays.kinds import host
from pygeco.bayes.attributes import AttributeValues
from pygeco.bayes.side_information import gather_known
from pygeco.cli.app import app
from pygeco.engines.dask import patience
from pygeco.engines.dask.tall import Tall
from pygeco.estimators import _checkpoint
from pygeco.estimators._attribute_tables import align_attributes
from pygeco.io.partitioned import read_partitioned
from pygeco.objectives import Entries

TABLE = ratings(2500)
SHORT = TABLE.set_column(2, "rating", TABLE.column(2).cast(pa.float32()))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return written(TABLE, tmp_path_factory.mktemp("parts"))


@pytest.fixture(scope="module")
def here():
    return MatrixCompletion(2, random_state=0).fit(SHORT)


@pytest.fixture(scope="module")
def there(client, folder):
    return MatrixCompletion(2, engine="dask", random_state=0).fit(folder)


def assert_same(there, here):
    assert there.path_[-1].objective == pytest.approx(here.path_[-1].objective, rel=1e-6)
    assert there.rank_ == here.rank_
    found, wanted = (model.predict(TABLE.slice(0, 300)) for model in (there, here))
    np.testing.assert_allclose(found["prediction"], wanted["prediction"], rtol=1e-4)


def test_a_folder_is_fitted(there, here, tmp_path):
    assert isinstance(there.factors_.U, Tall)
    assert_same(there, here)
    there.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert isinstance(again.factors_.U, np.ndarray)
    assert_same(again, here)
    np.testing.assert_array_equal(again.row_ids_, here.row_ids_)


def test_a_dask_frame_needs_no_engine_by_name(client):
    frame = SHORT.to_pandas().rename(columns={"item": "thing"})
    lazy = dd.from_pandas(frame, npartitions=3)
    here, there = (MatrixCompletion(1, penalty=None, random_state=0) for _ in range(2))
    here.fit(SHORT)
    there.fit(lazy, columns=("user", "thing", "rating"))
    assert isinstance(there.factors_.U, Tall)
    assert there.table_columns_ == ("user", "thing", "rating")
    answer = there.predict(lazy).compute()
    wanted = here.predict(SHORT.to_pandas())
    np.testing.assert_allclose(answer["prediction"], wanted["prediction"], rtol=1e-4)


class KilledError(Exception):
    pass


def test_a_killed_fit_goes_on_to_the_same_bits(there, folder, tmp_path, monkeypatch):
    monkeypatch.setattr(_checkpoint, "MIN_PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(_checkpoint, "MAX_WRITING_SHARE", 1e9)  # a checkpoint after every sweep
    told = []

    def kill(sweep):
        told.append(sweep)
        if len(told) == 5:
            raise KilledError

    settings = {"checkpoint": tmp_path / "state"}
    with pytest.raises(KilledError):
        MatrixCompletion(2, random_state=0, callback=kill).fit(folder, **settings)
    again = MatrixCompletion(2, random_state=0, callback=told.append).fit(folder, **settings)
    assert len(told) < 5 + there.n_iter_  # it did not begin anew
    assert isinstance(again.posterior_.rows.bias, Tall)
    for model in (again, MatrixCompletion(2, random_state=0).fit(folder, **settings)):
        np.testing.assert_array_equal(model.factors_.U.get(), there.factors_.U.get())
        np.testing.assert_array_equal(model.factors_.V, there.factors_.V)
        assert_same(model, there)
    with pytest.raises(ValueError, match="belongs to other data or settings"):
        MatrixCompletion(1, random_state=0).fit(folder, **settings)


def test_weights_are_not_for_parts(client, folder):
    with pytest.raises(ValueError, match="sample_weight: is not for parts on a cluster"):
        MatrixCompletion(engine="dask").fit(folder, sample_weight=np.ones(2500))


def test_other_engines_read_no_files(folder):
    with pytest.raises(ValueError, match="engine: 'cuda' does not read files; use engine='cpu'"):
        MatrixCompletion(engine="cuda").fit(folder)


def test_the_command(folder, tmp_path, here, monkeypatch):
    monkeypatch.setattr(patience, "ANSWER_SECONDS", 0.5)

    def run(*words, code=0):
        result = CliRunner().invoke(app, [str(word) for word in words])
        assert result.exit_code == code, result.output
        return result.output

    model = tmp_path / "model.geco"
    with dask.config.set({METHOD: "spawn"}):
        said = run("fit", folder, "-o", model, "--engine", "dask", "--workers", 1, "--rank", 2,
                   "--holdout", 0.1)  # fmt: skip
    assert f"{folder.name} (4 Parquet files): user = 'user'" in said
    assert "held-out RMSE" in said
    assert "rank 2 from 2,244 ratings of 41 items by 97 users." in said
    user = here.row_ids_[0]
    assert run("recommend", model, "--user", user, "-k", 3).count("\n") == 4
    assert not list(tmp_path.glob("*.checkpoint"))
    said = run("fit", tmp_path / "absent", "-o", model, "--engine", "dask", code=3)
    assert "absent" in said
    said = run("fit", folder, "-o", model, "--engine", "dask", "--scheduler", "tcp://127.0.0.1:1",
               code=5)  # fmt: skip
    assert "--scheduler: nothing answers at tcp://127.0.0.1:1; start one" in said


def test_attributes_of_columns_are_at_hand(client, tmp_path) -> None:
    """They are those of one machine; a sweep with them is tested there."""
    cells, _, items, _ = draw_world()
    films = items[["movie_id", "genres"]]
    parts = read_partitioned(written(pa.Table.from_pandas(cells), tmp_path), client)
    rated = films["movie_id"].isin(cells["item"])
    found = align_attributes(films[rated], parts.column_ids, len(parts.column_ids))
    groups = found.encoder.groups_
    names, sizes = (tuple(getattr(one, word) for one in groups) for word in ("name", "size"))
    values = AttributeValues(found.matrix, found.known, names, sizes)
    there = gather_known(Entries.from_slabs(parts.slabs), (True, True), (None, values))
    i, j = (np.unique(cells[name], return_inverse=True)[1] for name in ("user", "item"))
    here = gather_known(Entries(i, j, cells["rating"]), (True, True), (None, values))
    rng = np.random.default_rng(0)
    np.testing.assert_array_equal(there.cols[1].diagonal, here.cols[1].diagonal)
    V = rng.standard_normal((sum(sizes), 3)).astype(np.float32)
    np.testing.assert_array_equal(there.cols[1].X.matmat(V), here.cols[1].X.matmat(V))
    # Products of patterns are sums over slabs: of runs of cells in single precision, which differ.
    for own, other in ((there.rows[0], here.rows[0]), (there.cols[0], here.cols[0])):
        m, n = other.X.shape
        X, Y = (rng.standard_normal((size, 3)).astype(np.float32) for size in (n, m))
        for found, wanted in (
            (own.X.matmat(X), other.X.matmat(X)),
            (own.X.rmatmat(Y), other.X.rmatmat(Y)),
        ):
            error = np.abs(host(found) - wanted).max() / np.abs(wanted).max()
            assert error < 5e-7
    model = MatrixCompletion(2, engine="dask", random_state=0)
    with pytest.raises(ValueError, match=r"column_attributes: 8 ids, such as 410, have no cells"):
        model.fit(parts, column_attributes=films)
