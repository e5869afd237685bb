"""`geco predict` and `geco recommend` for ids that were not fitted, by their attributes."""

import json

import numpy as np
import pandas as pd
import pytest

import pygeco
from attribute_files import FITTED_ITEMS, FITTED_USERS, draw_world, write_world
from cli_cases import run


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A model of the first users and items, and tables of the others."""
    folder = tmp_path_factory.mktemp("newcomers")
    write_world(folder)
    _, users, items, _ = draw_world()
    users[:FITTED_USERS].to_csv(folder / "old.csv", index=False)
    users[FITTED_USERS:].to_csv(folder / "new.csv", index=False)
    items["title"].to_frame().assign(movie_id=items["movie_id"]).to_csv(folder / "titles.csv")
    items[["movie_id", "genres"]][:FITTED_ITEMS].to_csv(folder / "films.csv", index=False)
    items[["movie_id", "genres"]].to_csv(folder / "all.csv", index=False)
    known = ("--users", folder / "old.csv", "--items", folder / "films.csv")
    run("fit", folder / "ratings.csv", "-o", folder / "m", "--rank", 2, *known)
    run("fit", folder / "ratings.csv", "-o", folder / "plain", "--rank", 2, "--pattern", "no")
    return folder


def ask(files, *options, code=0):
    done = run("recommend", files / "m", *options, "--json", code=code)
    return json.loads(done.stdout)["rows"] if code == 0 else " ".join(done.output.split())


def test_lists_for_described_users_are_those_of_python(files):
    told = ('gender=F, age=25,job="cook, or chef"', "gender=M")
    rows = ask(files, "--new-user", told[0], "--new-user", told[1], "-k", 3, "--titles",
               files / "titles.csv")  # fmt: skip
    assert [row["user"] for row in rows] == [told[0]] * 3 + [told[1]] * 3
    assert rows[0]["title"].startswith("Film ")
    model = pygeco.load(files / "m")
    wanted = {"gender": ["F", "M"], "age": [25.0, np.nan], "job": ["cook, or chef", None]}
    best = model.recommend(k=3, new_rows=wanted)
    assert [row["item"] for row in rows] == best.columns.reshape(-1).tolist()
    np.testing.assert_allclose([row["prediction"] for row in rows], best.scores.reshape(-1))


def test_tastes_follow_from_attributes(files):
    _, _, items, _ = draw_world()
    genre = dict(zip(items["movie_id"], items["genres"], strict=True))
    for kind, liked in (("F", "Comedy"), ("M", "Horror")):
        rows = ask(files, "--new-user", f"gender={kind}", "-k", 5)
        assert {genre[row["item"]] for row in rows} == {liked}


def test_a_table_of_new_and_of_fitted_users(files, tmp_path):
    """Those that were fitted have the lists of their ratings, and nothing that they rated."""
    rows = ask(files, "--new-users", files / "users.csv", "-k", 4)
    model = pygeco.load(files / "m")
    old, new = (
        [row["item"] for row in rows if (row["user"] <= FITTED_USERS) == is_old]
        for is_old in (True, False)
    )
    assert old == model.recommend(k=4).columns.reshape(-1).tolist()
    table = pd.read_csv(files / "new.csv")
    assert new == model.recommend(k=4, new_rows=table).columns.reshape(-1).tolist()
    nameless = table.drop(columns="user_id")
    nameless[["gender", "age", "job"]].to_csv(tmp_path / "n.csv", index=False)
    again = ask(files, "--new-users", tmp_path / "n.csv", "-k", 4)
    assert [row["item"] for row in again] == new
    assert [row["user"] for row in again] == np.repeat(np.arange(1, 21), 4).tolist()


def test_pairs_of_new_ids_are_predicted_by_their_attributes(files, tmp_path):
    _, users, items, opinion = draw_world()
    i, j = (x.ravel() for x in np.meshgrid(range(90, 120), range(30, 48), indexing="ij"))
    pairs = pd.DataFrame({"user": users["user_id"].to_numpy()[i], "item": items["movie_id"][j]})
    pairs.to_csv(tmp_path / "p.csv", index=False)
    known = ("--users", files / "users.csv", "--items", files / "all.csv")
    run("predict", files / "m", tmp_path / "p.csv", "-o", tmp_path / "a.csv", "--std", *known)
    found = pd.read_csv(tmp_path / "a.csv")
    assert found["known"].all()
    new = {"new_rows": users[100:], "new_columns": items[["movie_id", "genres"]][40:]}
    model = pygeco.load(files / "m")
    wanted = model.predict(pairs["user"], pairs["item"], return_std=True, **new)
    np.testing.assert_allclose(found["prediction"], wanted[0], rtol=1e-5)
    np.testing.assert_allclose(found["deviation"], wanted[1], rtol=1e-5)
    error = np.sqrt(np.mean((found["prediction"] - opinion[i, j]) ** 2))
    assert error < 0.5 * np.std(opinion[i, j])


def test_ids_that_no_table_knows_follow_unknown(files, tmp_path):
    (tmp_path / "p.csv").write_text("user,item\n1,10\n101,10\n999,10\n101,440\n")
    asked = ("predict", files / "m", tmp_path / "p.csv", "--users", files / "new.csv")
    rows = json.loads(run(*asked, "--json").stdout)["rows"]
    assert [row["known"] for row in rows] == [True, True, False, False]
    plain = json.loads(run(*asked[:3], "--json").stdout)["rows"]
    assert [row["known"] for row in plain] == [True, False, False, False]
    same = [a["prediction"] == b["prediction"] for a, b in zip(rows, plain, strict=True)]
    assert same == [True, False, True, True]
    empty = json.loads(run(*asked, "--unknown", "nan", "--json").stdout)["rows"]
    assert [row["prediction"] is None for row in empty] == [False, False, True, True]
    assert empty[1] == rows[1]
    assert "999" in run(*asked, "--unknown", "error", code=2).output
    (tmp_path / "p.csv").write_text("user,item\n1,10\n101,10\n")
    assert len(json.loads(run(*asked, "--unknown", "error", "--json").stdout)["rows"]) == 2


def test_levels_that_the_fit_did_not_have_are_told(files):
    done = run("recommend", files / "m", "--new-user", "job=pilot", "-k", 1)
    assert done.stderr == (
        "geco recommend: --new-user: 1 row(s) have levels of column 'job' that the fit did not "
        "have, such as 'pilot'; they count as the average of the fit.\n"
    )
    assert run("recommend", files / "m", "--new-user", "job=clerk", "-k", 1).stderr == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("age=old", "--new-user: age is a number, and 'old' is none."),
        ("age", "--new-user: expected NAME=VALUE, such as gender=…, not 'age'"),
        ("gender=F,city=Bonn", "--new-user: there is no attribute 'city'; the model knows gender"),
        ("age=1,age=2", "--new-user: age is given twice"),
        ('job="cook', "--new-user: a quotation mark is left open"),
        ("job=cook, or chef", "not 'or chef'; quote values with commas."),
        ("", "--new-user: says nothing; expected gender=…"),
    ],
)
def test_descriptions_that_say_nothing(text, said, files):
    assert said in ask(files, "--new-user", text, code=2)


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        (None, 3, "--new-users: cannot read"),
        ("", 3, "--new-users: t.csv is empty"),
        ("user_id,age\n", 3, "--new-users: t.csv has no lines"),
        ("user_id,city\n7,Bonn\n", 2, "--new-users: t.csv has none of the attributes"),
        ("user_id,age\n7,3\n7,4\n", 2, "--new-users: the id 7 stands more than once"),
        ("user_id,age\n7,30\n700,old\n", 2, "--new-users: column 'age'"),
    ],
)
def test_tables_that_cannot_be_used(text, code, said, files, tmp_path):
    if text is not None:
        (tmp_path / "t.csv").write_text(text)
    assert said in ask(files, "--new-users", tmp_path / "t.csv", code=code)


def test_ways_to_name_users_exclude_each_other(files):
    for options in (
        (),
        ("--user", 1, "--new-user", "age=3"),
        ("--all", "--new-users", files / "new.csv"),
        ("--new-user", "age=3", "--new-users", files / "new.csv"),
    ):
        assert "--user: name one or more users, or give --all" in ask(files, *options, code=2)


def test_models_without_attributes_are_as_before(files, tmp_path):
    said = "the model was fitted without attributes of"
    done = run("recommend", files / "plain", "--new-user", "age=3", code=2)
    assert f"--new-user: {said} users; fit it with --users." in " ".join(done.output.split())
    pairs = files / "ratings.csv"
    done = run("predict", files / "plain", pairs, "--items", files / "all.csv", code=2)
    assert f"--items: {said} items; fit it with --items." in " ".join(done.output.split())
    model = pygeco.load(files / "plain")
    run("predict", files / "plain", pairs, "-o", tmp_path / "p.parquet")
    found = pd.read_parquet(tmp_path / "p.parquet")
    wanted = model.predict(pd.read_csv(pairs))
    np.testing.assert_array_equal(found["prediction"], wanted["prediction"])
