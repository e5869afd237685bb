"""`geco evaluate`, `inspect` and `export` say what the model says in Python."""

import json

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

import pygeco
from cli_cases import frame, run
from pygeco import evaluate


def test_evaluation_agrees_with_python(home) -> None:
    model = pygeco.load(home / "m.geco")
    told = json.loads(run("evaluate", home / "m.geco", home / "new.csv", "--json").stdout)
    e = evaluate(model, frame(seed=1).iloc[:300])
    assert told["rmse"] == e.errors.rmse
    assert told["coverage"] == e.coverage
    assert told["ndcg"] == e.ranking.ndcg
    text = run("evaluate", home / "m.geco", home / "new.csv", "-k", 5).stdout
    for word in ("RMSE", "MAE", "coverage", "precision@5", "recall@5", "NDCG@5"):
        assert word in text


def test_evaluation_leaves_fitted_ratings_out_and_counts_them(home, tmp_path) -> None:
    model, known = pygeco.load(home / "m.geco"), set(map(tuple, frame()[["user", "item"]].values))
    new = frame(seed=1).iloc[:300]
    fresh = new[[pair not in known for pair in map(tuple, new[["user", "item"]].values)]]
    both = pd.concat([frame().iloc[:200], new])
    both.to_csv(tmp_path / "both.csv", index=False)
    told = json.loads(run("evaluate", home / "m.geco", tmp_path / "both.csv", "--json").stdout)
    assert told["fitted"] == len(both) - len(fresh) > 200
    assert told["cells"] == len(fresh)
    error = model.predict(fresh).prediction - fresh.rating
    assert told["rmse"] == pytest.approx(np.sqrt(np.mean(error**2)))
    fresh.to_csv(tmp_path / "fresh.csv", index=False)
    alone = json.loads(run("evaluate", home / "m.geco", tmp_path / "fresh.csv", "--json").stdout)
    assert alone == told | {"fitted": 0}  # rankings too
    text = run("evaluate", home / "m.geco", tmp_path / "both.csv").stdout
    assert f"left out      {told['fitted']:,}   ratings that the model was fitted to" in text
    said = run("evaluate", home / "m.geco", home / "some.csv", code=2).output
    assert "the model was fitted to all of its 300 cells" in said


def test_inspection(home) -> None:
    text = run("inspect", home / "m.geco").stdout
    for word in ("MatrixCompletion", "every checksum is right", f"pygeco {pygeco.__version__}",
                 "row_ids_", "gap at most", "stopped: "):  # fmt: skip
        assert word in text
    told = json.loads(run("inspect", home / "m.geco", "--json").stdout)
    assert told["path"][0]["rank"] == 3
    assert told["settings"]["rank"] == "3"


def test_exports(home, tmp_path) -> None:
    model = pygeco.load(home / "m.geco")
    run("export", home / "m.geco", "-o", tmp_path / "f.npz")
    with np.load(tmp_path / "f.npz") as found:
        np.testing.assert_array_equal(found["U"], model.factors_.U)
        assert found["column_ids"].tolist() == model.column_ids_.tolist()
        product = found["row_vectors"] @ found["column_vectors"].T
    for side, ids in (("items", model.column_ids_), ("users", model.row_ids_)):
        run("export", home / "m.geco", "-o", tmp_path / "f.parquet", "--side", side)
        table = pq.read_table(tmp_path / "f.parquet")
        assert table.column("id").to_pylist() == ids.tolist()
    base = model.biases_.mean + model.biases_.row
    linear = model.set_params(clip=False).to_dense()
    np.testing.assert_allclose(product + base[:, None], linear, rtol=1e-5)


def test_new_users_are_judged_by_what_is_given(home, tmp_path) -> None:
    model = pygeco.load(home / "m.geco")
    new = frame(seed=1).assign(user=lambda x: x.user + 1000)
    known, held = new.iloc[::2], new.iloc[1::2]
    known.to_csv(tmp_path / "known.csv", index=False)
    held.to_csv(tmp_path / "held.csv", index=False)
    asked = ("evaluate", home / "m.geco", tmp_path / "held.csv", "--protocol", "new-rows")
    told = json.loads(run(*asked, "--given", tmp_path / "known.csv", "-k", 3, "--json").stdout)
    # Users and items by number, without ids of the model's users.
    users = np.unique(known.user)
    items = pd.Index(model.column_ids_)
    given, test = (
        part.assign(user=np.searchsorted(users, part.user), item=items.get_indexer(part.item))
        for part in (known, held[held.user.isin(users)])
    )
    given, test = given[given.item >= 0], test[test.item >= 0]
    shape = len(users), len(items)
    matrix = sp.csr_array((given.rating, (given.user, given.item)), shape)
    wanted = evaluate(model, (test.user, test.item), protocol="new-rows", given=matrix, k=3)
    assert told["ndcg"]["3"] == pytest.approx(wanted.ndcg[3])
    assert told["users"] == wanted.rows > 3
    assert "--given: goes with" in run(*asked, code=2).output


def test_each_item_is_ranked_among_those_beside_it(home, tmp_path) -> None:
    model = pygeco.load(home / "m.geco")
    users, items = np.unique(frame().user)[:4], np.unique(frame().item)
    lines = [f"({u},{items[u % 3]})\t{items[5]}\t{items[6]}\t{items[7]}" for u in users]
    (tmp_path / "left").write_text("\n".join(lines))
    asked = ("evaluate", home / "m.geco", tmp_path / "left", "--protocol", "leave-one-out")
    told = json.loads(run(*asked, "-k", 1, "--json").stdout)
    linear = model.decision_function(
        np.repeat(users, 4), np.concatenate([[items[u % 3], *items[5:8]] for u in users])
    ).reshape(4, 4)
    assert told["hit_rate"]["1"] == np.mean(linear[:, 0] > linear[:, 1:].max(axis=1))
    assert "hit rate" in run(*asked).stdout
