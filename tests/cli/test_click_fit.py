"""A model of clicks from file to lists, by the commands."""

import json

import numpy as np
import pandas as pd
import pytest

import pygeco
from cli_cases import run
from click_table_cases import make_click_table


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Clicks, others held out, and a model that `geco fit` chose."""
    home = tmp_path_factory.mktemp("home")
    table = make_click_table()
    table.iloc[80:].to_csv(home / "clicks.csv", index=False)
    table.iloc[:80].to_csv(home / "test.csv", index=False)
    told = run("fit", home / "clicks.csv", "-o", home / "m.geco", "--test", home / "test.csv")
    (home / "said").write_text(told.output)
    return home


def test_the_summary_says_what_was_chosen_beside_popularity(home) -> None:
    said = (home / "said").read_text()
    model = pygeco.load(home / "m.geco")
    choice = model.choice_
    assert f"chosen in {len(choice.trials)} trials: " in said
    (best,) = (t.ndcg for t in choice.trials if t.share == choice.share)
    assert f"nDCG@20 {best:.4f} at the clicks that chose" in said
    ours = pygeco.evaluate(model, pd.read_csv(home / "test.csv"), protocol="all", k=20)
    counts = np.bincount(model.seen_.indices, minlength=model.n_features_in_)
    rows, cols = model.known_cells(pd.read_csv(home / "test.csv"))[:2]
    popular = pygeco.evaluate(
        (np.ones((model.factors_.shape[0], 1)), counts[:, None].astype(float)),
        (rows, cols),
        protocol="all",
        k=20,
        seen=(model.seen_.rows(), model.seen_.indices),
    )
    figures = (
        f"Recall@20 {ours.recall[20]:.4f} and nDCG@20 {ours.ndcg[20]:.4f} over {ours.held_out} "
    )
    assert figures in said
    assert f"popular items have {popular.recall[20]:.4f} and {popular.ndcg[20]:.4f}." in said
    assert ours.ndcg[20] > 1.3 * popular.ndcg[20]


def test_lists_have_scores_and_no_ratings(home) -> None:
    model = pygeco.load(home / "m.geco")
    rows = json.loads(run("recommend", home / "m.geco", "--user", 7, "-k", 3, "--json").stdout)
    assert list(rows["rows"][0]) == ["user", "place", "item", "score"]
    assert [row["item"] for row in rows["rows"]] == list(model.recommend(7, 3).columns)
    assert run("predict", home / "m.geco", home / "test.csv").stdout.startswith(
        '"user","item","score"'
    )
    first = rows["rows"][0]
    why = json.loads(
        run(
            "explain", home / "m.geco", "--user", 7, "--item", first["item"], "-k", 40, "--json"
        ).stdout
    )
    assert why["score"] == pytest.approx(first["score"], rel=1e-3)
    assert sum(row["adds"] for row in why["rows"]) == pytest.approx(why["score"], rel=1e-3)
    assert "similarity" in run("similar", home / "m.geco", "film-3").stdout
    assert "chosen in" in run("inspect", home / "m.geco").stdout
    said = run("recommend", home / "m.geco", "--new-user", "age=3", code=2).output
    assert "--new-user: the model was fitted without attributes of users" in said


def test_attributes_from_file_to_lists_of_new_users(home) -> None:
    table = pd.read_csv(home / "clicks.csv")
    film = table["item"].str.removeprefix("film-").astype(int)
    taste = (film % 4).groupby(table["user"]).agg(lambda kinds: kinds.mode()[0])
    pd.DataFrame({"user_id": taste.index, "taste": [f"t{k}" for k in taste]}).to_csv(
        home / "users.csv", index=False
    )
    given = ("--users", home / "users.csv", "-o", home / "a.geco", "--rank", 8)
    said = run("fit", home / "clicks.csv", *given).output
    assert "users.csv: ids in 'user_id'; categories: taste (4)" in said
    assert "attributes of users place new users" in said
    shown = run("recommend", home / "a.geco", "--new-user", "taste=t2", "-k", 3, "--json").stdout
    items = [int(row["item"].removeprefix("film-")) for row in json.loads(shown)["rows"]]
    assert {k % 4 for k in items} == {2}
