"""`geco fit` with tables of attributes: what it takes, what it says, what it refuses."""

import json

import numpy as np
import pandas as pd
import pytest

import pygeco
from attribute_files import draw_world, write_world
from cli_cases import run
from pygeco import MatrixCompletion
from pygeco.cli.attributes import drop_others, take_table
from pygeco.data import read_attributes
from pygeco.errors import AttributeWarning


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("attributes")
    write_world(folder)
    return folder


def fit(files, output, *options, code=0):
    """`geco fit` at rank 2, which takes a moment."""
    start = ("fit", files / "ratings.csv", "-o", output, "--rank", 2)
    return run(*start, *options, code=code)


def test_the_model_is_that_of_python(files, tmp_path):
    tables = files / "users.dat", files / "movies.dat"
    fit(files, tmp_path / "m", "--users", tables[0], "--items", tables[1])
    model = pygeco.load(tmp_path / "m")
    users, items = map(read_attributes, tables)
    with pytest.warns(AttributeWarning, match="identifier"):
        plain = MatrixCompletion(2, random_state=0).fit(
            pd.read_csv(files / "ratings.csv"), row_attributes=users, column_attributes=items
        )
    np.testing.assert_array_equal(model.to_dense(), plain.to_dense())
    np.testing.assert_array_equal(model.row_ids_, users["user_id"])


def test_one_line_says_what_was_taken_and_one_what_counts(files, tmp_path):
    known = ("--users", files / "users.dat", "--items", files / "movies.dat")
    said = fit(files, tmp_path / "m", *known).output
    assert (
        "users.dat: ids in 'user_id'; numbers: age; categories: gender (2), occupation (3); "
        "left out: zip_code (identifier); 0 of 100 users have no attributes, 20 have attributes "
        "and no ratings."
    ) in said
    assert (
        "movies.dat: ids in 'movie_id'; numbers: year; lists: genres (4); left out: title" in said
    )
    assert "ratings of 40 items by 100 users." in said
    counts = next(line for line in said.splitlines() if line.startswith("what counts for users"))
    assert "gender" in counts.partition("; nothing for ")[0]
    assert "genres" in next(line for line in said.splitlines() if "counts for items" in line)


def test_machines_are_told_the_same(files, tmp_path):
    (tmp_path / "some.csv").write_text(
        "id,gender,noise\n" + "".join(f"{k},{'FM'[k % 2]},{k * k % 7}\n" for k in range(11, 131))
    )
    told = json.loads(fit(files, tmp_path / "m", "--users", tmp_path / "some.csv", "--json").stdout)
    users = told["attributes"]["users"]
    assert users["id_column"] == "id"
    assert users["columns"] == [
        {"name": "gender", "size": 2, "kind": "category"},
        {"name": "noise", "size": 1, "kind": "number"},
    ]
    assert (users["without_attributes"], users["without_ratings"]) == (10, 30)
    assert "items" not in told["attributes"]
    groups = pygeco.load(tmp_path / "m").attribute_effects_.groups
    found = {one["group"]: one["strength"] for one in told["effects"]["users"]}
    assert found == pytest.approx({one.group: one.strength for one in groups if one.side == "row"})
    assert {"gender", "noise"} <= set(found)
    levels = next(one for one in told["effects"]["users"] if one["group"] == "gender")["levels"]
    assert {one["level"] for one in levels} <= {"F", "M", ""}


@pytest.mark.parametrize(
    ("word", "sides"), [("no", (0, 0)), ("yes", (1, 1)), ("row", (1, 0)), ("column", (0, 1))]
)
def test_pattern(word, sides, files, tmp_path):
    told = json.loads(fit(files, tmp_path / "m", "--pattern", word, "--json").stdout)
    found = [[one["source"] for one in told["effects"][who]] for who in ("users", "items")]
    assert found == [["pattern"] * count for count in sides]


def test_what_says_nothing_is_named(files, tmp_path):
    rng = np.random.default_rng(1)
    names = [f"noise{k}" for k in range(6)]
    noise = pd.DataFrame(rng.standard_normal((100, 6)), columns=names)
    noise.insert(0, "user_id", np.arange(1, 101))
    noise.to_parquet(tmp_path / "noise.parquet")
    known = ("--users", tmp_path / "noise.parquet", "--pattern", "no")
    said = fit(files, tmp_path / "m", *known).output
    kept = {e.name for e in pygeco.load(tmp_path / "m").posterior_.row_prior.effects}
    silent = [name for name in names if name not in kept]
    assert len(silent) >= 3
    if kept:
        assert f"; nothing for {', '.join(silent)}." in said
    else:
        assert f"no attribute of users says anything: {', '.join(silent)}." in said


def test_ids_may_be_of_another_kind(files, tmp_path):
    """Text in one file, numbers in the other, and no column that is called as ids are."""
    ratings, users, _, _ = draw_world()
    ratings.assign(user=[f"u{k}" for k in ratings["user"]]).to_csv(tmp_path / "r.csv", index=False)
    plain = users.rename(columns={"user_id": "Nummer"})
    plain.assign(Nummer=[f"u{k}" for k in users["user_id"]])[["gender", "age", "Nummer"]].to_csv(
        tmp_path / "u.csv", index=False
    )
    start = ("fit", tmp_path / "r.csv", "-o", tmp_path / "m", "--rank", 2)
    said = run(*start, "--users", tmp_path / "u.csv").output
    assert "u.csv: ids in 'Nummer'; numbers: age; categories: gender (2); 0 of 100 users" in said
    wrong = run(*start, "--users", files / "users.csv", code=2).output
    assert wrong.startswith("geco fit: --users: none of the ids in column 'user_id', such as '1'")
    assert wrong.rstrip().endswith("call the column of ids 'id'.")


@pytest.mark.parametrize(
    ("options", "text", "code", "said"),
    [
        (("--users", "x.csv"), None, 3, "--users: cannot read x.csv: No such file"),
        (("--items", "x.csv"), "", 3, "--items: x.csv is empty"),
        (("--users", "x.csv"), "user_id,age\n", 3, "--users: x.csv has no lines below"),
        (("--users", "x.csv"), "user_id,age\n1,3\n1,4\n", 2, "--users: the id 1 stands 2 times"),
        (("--users", "x.csv"), "user_id,age\n1,3\n2,3\n", 2, "--users: no column is left as an"),
        (("--users", "x.csv"), "age,sex\n300,f\n400,m\n", 2, "--users: no column holds ids; call"),
        (("--users", "x.csv", "--penalty", "none"), "", 2, "--users: attributes say something to"),
        (("--items", "x.csv", "--loss", "quantile"), "", 2, "--items: attributes say something"),
        (("--pattern", "yes", "--penalty", "none"), "", 2, "use --penalty evidence, or --pattern"),
        (("--pattern", "some"), "", 2, "--pattern"),
        (("--users", "-", "--items", "-"), "", 2, "--users: standard input has one table"),
        (("--users", "x.csv", "--engine", "dask"), "", 2, "--users: is not for --engine dask"),
    ],
)
def test_mistakes_name_the_option(options, text, code, said, files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if text is not None:
        (tmp_path / "x.csv").write_text(text)
    done = fit(files, tmp_path / "m", *options, code=code)
    assert said in " ".join(done.output.split())
    assert not (tmp_path / "m").exists()
    assert not (tmp_path / "m.checkpoint").exists()


def test_a_table_of_attributes_is_not_written_over(files, tmp_path):
    users = tmp_path / "users.csv"
    users.write_bytes((files / "users.csv").read_bytes())
    kept = users.read_bytes()
    fit(files, users, "--users", users, "--overwrite", code=4)
    assert users.read_bytes() == kept


def test_a_cluster_is_not_told_of_ids_without_ratings(files):
    table, ids = read_attributes(files / "users.dat"), np.arange(3, 90)
    taken = take_table(table, "users.dat", ids, 0)
    kept = drop_others(taken, ids)
    np.testing.assert_array_equal(kept.table["user_id"], ids)
    np.testing.assert_array_equal(kept.table["age"], table["age"][2:89])
    assert kept.without_ratings == taken.without_ratings == 33
    texts = np.array([*map(str, ids), None], object)[:-1]
    texts.sort()
    assert len(drop_others(take_table(table, "users.dat", texts, 0), texts).table["age"]) == 87
