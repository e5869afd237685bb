"""A model whose rows are on a cluster says what the same model on one machine says."""

import copy
from dataclasses import fields, replace

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from cluster_cases import ratings, written
from pygeco import MatrixCompletion, load, report
from pygeco.arrays.kinds import foreign
from pygeco.engines.dask import Dask
from pygeco.engines.dask.rowwise import send_rows
from pygeco.errors import UnknownIdWarning
from pygeco.io.partitioned import read_partitioned
from pygeco.models import ClusterModel, Seen
from pygeco.models.slab_arrays import map_parts

TABLE = ratings(2500)
SHORT = TABLE.set_column(2, "rating", TABLE.column(2).cast(pa.float32()))


@pytest.fixture(
    scope="module",
    params=[{}, {"posterior": 3}, {"penalty": None, "biases": True}],
    ids=["evidence", "posterior", "plain"],
)
def models(request, client, tmp_path_factory):
    """The model here, and its rows sent out."""
    here = MatrixCompletion(3, random_state=0, **request.param).fit(SHORT)
    found = read_partitioned(written(TABLE, tmp_path_factory.mktemp("parts")), client)
    engine = Dask(found.slabs)
    m = len(here.row_ids_)

    def sent(x):
        return send_rows(x, engine.home) if isinstance(x, np.ndarray) and x.shape[:1] == (m,) else x

    there = copy.copy(here)
    by_row = engine.cells()[0]
    parts = {field.name: getattr(here.model_, field.name) for field in fields(ClusterModel)}
    parts = {name: map_parts(part, sent) for name, part in parts.items()}
    parts["seen"] = Seen(by_row.pointers, by_row.indices, by_row.values, by_row.weights)
    there.model_, there.path_ = ClusterModel(**parts), map_parts(here.path_, sent)
    there.row_ids_ = found.row_ids
    assert foreign(there.factors_.U)
    return here, there


def close(found, wanted):
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6)


def test_predictions_of_cells(models):
    here, there = models
    rng = np.random.default_rng(0)
    rows = here.row_ids_[rng.integers(0, len(here.row_ids_), (40, 2))]
    cols = here.column_ids_[rng.integers(0, len(here.column_ids_), (40, 1))]
    close(there.predict(rows, cols), here.predict(rows, cols))
    assert there.predict(rows, cols).dtype == here.predict(rows, cols).dtype
    close(there.predict(rows[3, 0], cols[3, 0]), here.predict(rows[3, 0], cols[3, 0]))
    assert there.predict(rows[:0], cols[:0]).shape == (0, 2)
    with pytest.raises(ValueError, match="the id 'nobody' was not fitted; the model knows 97 ids"):
        there.predict(["nobody"], cols[0], unknown="error")
    for ask in (
        lambda it: it.predict(["nobody"], cols[0]),
        lambda it: it.recommend("nobody").scores,
    ):
        with pytest.warns(UnknownIdWarning, match="such as nobody, were not fitted"):
            close(ask(there), ask(here))


def pairs():
    """Pairs of ids, some of them unknown."""
    table = TABLE.slice(0, 90).to_pandas()
    table.loc[5, "user"] = "nobody"
    table.loc[70, "item"] = "nothing"
    table.loc[71, ["user", "item"]] = "a", "b"
    return table


@pytest.mark.parametrize("unknown", ["mean", "nan"])
def test_predictions_of_a_table(models, unknown):
    here, there = models
    asked = {"unknown": unknown, "return_std": here.posterior_ is not None}
    found, wanted = there.predict(pairs(), **asked), here.predict(pairs(), **asked)
    assert list(found.columns) == list(wanted.columns)
    for name in found.columns[2:]:
        close(found[name], wanted[name])
    if unknown == "mean":
        assert there.score(pairs()) == pytest.approx(here.score(pairs()))


@pytest.mark.parametrize("unknown", ["mean", "nan"])
def test_predictions_of_a_dask_frame(models, unknown):
    """Of the model here too: each is one question for the workers."""
    here, _ = models
    asked = {"unknown": unknown, "return_std": here.posterior_ is not None}
    wanted = here.predict(pairs(), **asked)
    lazy = dd.from_pandas(pairs(), npartitions=3)
    for model in models:
        answer = model.predict(lazy, **asked)
        assert answer.npartitions == 3
        found = answer.compute()
        assert list(found.columns) == list(wanted.columns)
        assert dict(found.dtypes) == dict(answer.dtypes)
        pd.testing.assert_index_equal(found.index, wanted.index)
        assert list(found["user"]) == list(wanted["user"])
        for name in found.columns[2:]:
            close(found[name], wanted[name])


def test_similar_rows_and_candidates(models):
    here, there = models
    users = here.row_ids_[[3, 90, 41, 3]]
    found, wanted = (model.similar_rows(users, 6) for model in (there, here))
    np.testing.assert_array_equal(found.columns, wanted.columns)
    close(found.scores, wanted.scores)
    assert there.similar_rows(users[0], 200).columns.shape == (len(here.row_ids_),)
    some = here.column_ids_[[0, 5, 9, 12]]
    found, wanted = (
        model.recommend(None, 3, items=some, exclude=some[:1]).to_arrow() for model in models
    )
    assert found.drop_columns(["prediction"]).equals(wanted.drop_columns(["prediction"]))


def test_held_out_cells_are_left_out_of_recommendations(models):
    here = models[0]
    users, items = here.row_ids_, here.column_ids_
    held = pa.table({"user": users.tolist(), "item": [items[3]] * len(users)})
    held = held.append_column("rating", [np.ones(len(users))])
    try:
        for model in models:
            model.keep_held_out(held)
            found = model.recommend(users, 500)
            assert items[3] not in found.columns[np.isfinite(found.scores)]
            some = model.was_fitted(np.arange(-1, len(users)), np.full(len(users) + 1, 3))
            assert not some[0]
            assert some.sum() == np.sum(TABLE.column("item").to_pandas() == items[3])
    finally:
        for model in models:
            model.model_ = replace(model.model_, held_out=None)


def test_unknown_ids_in_a_dask_frame_are_named(models):
    lazy = dd.from_pandas(pairs(), npartitions=1)
    for model in models:
        with pytest.raises(ValueError, match=r"the id '(a|nobody|nothing)' was not"):
            model.predict(lazy, unknown="error").compute()
        with pytest.raises(ValueError, match="unknown: expected one of"):
            model.predict(lazy, unknown="maybe")


def test_recommendations(models):
    here, there = models
    users = here.row_ids_[[3, 90, 41, 3]]
    for seen in (True, False):
        found, wanted = (model.recommend(users, 5, exclude_seen=seen) for model in models)
        np.testing.assert_array_equal(found.columns, wanted.columns)
        close(found.scores, wanted.scores)
    one = there.recommend(users[0], 3)
    np.testing.assert_array_equal(one.columns, here.recommend(users[0], 3).columns)
    found, wanted = (model.similar(here.column_ids_[:3], 4) for model in models)
    np.testing.assert_array_equal(found.columns, wanted.columns)


def test_reasons(models):
    here, there = models
    user, item = here.row_ids_[50], here.column_ids_[7]
    if here.posterior_ is None:
        with pytest.raises(ValueError, match="explain needs"):
            there.explain(user, item)
        return
    found, wanted = (model.explain(user, item) for model in models)
    np.testing.assert_array_equal(found.columns, wanted.columns)
    close(found.contributions, wanted.contributions)


def test_reports_are_for_one_machine(models, tmp_path):
    with pytest.raises(ValueError, match="its rows are on a cluster"):
        report(models[1], output=tmp_path / "report.html")
    assert not list(tmp_path.iterdir())


def test_the_file_is_that_of_the_model_here(models, tmp_path):
    here = models[0]
    for name, model in zip(("here", "there"), models, strict=True):
        model.save(tmp_path / name)
    one, other = (load(tmp_path / name) for name in ("here", "there"))
    np.testing.assert_array_equal(one.row_ids_, other.row_ids_)
    for name in ("pointers", "indices", "values"):
        np.testing.assert_array_equal(getattr(one.seen_, name), getattr(other.seen_, name))
    np.testing.assert_array_equal(
        one.predict(TABLE)["prediction"], other.predict(TABLE)["prediction"]
    )
    if here.average_ is None:
        other.partial_fit(TABLE.slice(0, 1))  # as any model on one machine
    assert other.rank_ == here.rank_
