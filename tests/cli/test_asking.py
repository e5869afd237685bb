"""`geco predict`, `recommend` and `similar` say what the model says in Python."""

import gzip
import json
import subprocess

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import pygeco
from cli_cases import GECO, frame, run
from pygeco.cli.console import Voice
from pygeco.data import make_ratings


def test_predictions_to_a_file_and_to_the_screen(home, tmp_path) -> None:
    model = pygeco.load(home / "m.geco")
    wanted = model.predict(frame(), return_std=True)
    run("predict", home / "m.geco", home / "ratings.csv", "-o", tmp_path / "p.parquet", "--std")
    found = pq.read_table(tmp_path / "p.parquet").to_pandas()
    np.testing.assert_array_equal(found.prediction, wanted.prediction)
    np.testing.assert_array_equal(found.deviation, wanted.deviation)
    assert found.item.tolist() == wanted.item.tolist()
    shown = run("predict", home / "m.geco", home / "some.csv").stdout.splitlines()
    assert shown[0] == '"user","item","prediction","known"'
    assert len(shown) == 301
    packed = gzip.compress(b"film-1\t5\nfilm-2\t6\n")
    swapped = run("predict", home / "m.geco", "-", "--user", 2, "--item", 1, stdin=packed)
    assert len(swapped.stdout.splitlines()) == 3


def test_recommendations(home, tmp_path) -> None:
    model = pygeco.load(home / "m.geco")
    told = json.loads(
        run(
            *("recommend", home / "m.geco", 7, "--user", 9, "-k", 3, "--json"),
            *("--titles", home / "titles.csv"),
        ).stdout
    )["rows"]
    best = model.recommend([7, 9], 3)
    assert [row["item"] for row in told] == best.columns.reshape(-1).tolist()
    assert [row["place"] for row in told] == [1, 2, 3] * 2
    assert all(row["title"] == f"The {row['item'][5:]}th Film" for row in told)
    run("recommend", home / "m.geco", "--all", "-k", 2, "-o", tmp_path / "all.csv")
    every = pd.read_csv(tmp_path / "all.csv")
    assert every.user.nunique() == len(model.row_ids_)
    seen = set(map(tuple, frame()[["user", "item"]].to_numpy()))
    assert not seen & set(map(tuple, every[["user", "item"]].to_numpy()))
    again = run("recommend", home / "m.geco", "--user", 7, "-k", 50, "--include-seen")
    assert len(again.stdout.splitlines()) == 51


def test_users_that_were_not_fitted_follow_the_one_rule(home, tmp_path) -> None:
    """The average with a mark, nothing, or an error: as `predict` and the library do."""
    asked = ("recommend", home / "m.geco", "--user", 7, "--user", 99999, "-k", 3)
    done = run(*asked, "--json")
    told = json.loads(done.stdout)["rows"]
    assert done.stderr == ""
    assert [(row["user"], row["known"]) for row in told] == [(7, True)] * 3 + [(99999, False)] * 3
    model = pygeco.load(home / "m.geco")
    with pytest.warns(UserWarning, match="1 of 2 ids, such as 99999, were not fitted"):
        best = model.recommend([7, 99999], 3)
    assert [row["item"] for row in told] == best.columns.reshape(-1).tolist()
    nothing = json.loads(run(*asked, "--unknown", "nan", "--json").stdout)["rows"]
    assert [(row["user"], row["known"]) for row in nothing] == [(7, True)] * 3
    assert run(*asked, "--unknown", "error", code=2).stdout == ""
    known = json.loads(run(*asked[:4], "-k", 3, "--json").stdout)["rows"]
    assert [row["item"] for row in known] == best.columns[0].tolist()
    assert "known" not in known[0]


def test_candidates_from_files(home, tmp_path) -> None:
    (tmp_path / "some").write_text("film-1\n\nfilm-2\nfilm-3 \nfilm-4\n")
    (tmp_path / "never").write_text("film-2\n")
    asked = ("recommend", home / "m.geco", "--user", 7, "--include-seen")
    limits = ("--items", tmp_path / "some", "--exclude", tmp_path / "never")
    told = json.loads(run(*asked, *limits, "--json").stdout)["rows"]
    assert {row["item"] for row in told} == {"film-1", "film-3", "film-4"}
    (tmp_path / "some").write_text("film-1\nnothing\n")
    said = run(*asked, *limits, code=2).output
    assert "--items: the model does not know 'nothing'" in said


def test_similar_users(home) -> None:
    near = run("similar", home / "m.geco", "7", "--users", "-k", 4).stdout.splitlines()
    assert near[0] == '"place","user","similarity"'
    wanted = pygeco.load(home / "m.geco").similar_rows(7, 4).columns
    assert [int(line.split(",")[1]) for line in near[1:]] == wanted.tolist()
    said = run("similar", home / "m.geco", "7", "--users", "--titles", home / "titles.csv", code=2)
    assert "--titles: items have titles" in said.output


def test_similar_items(home) -> None:
    near = run("similar", home / "m.geco", "film-3", "-k", 4).stdout.splitlines()
    assert near[0] == '"place","item","similarity"'
    wanted = pygeco.load(home / "m.geco").similar("film-3", 4).columns
    assert [line.split(",")[1].strip('"') for line in near[1:]] == wanted.tolist()


def test_recommendations_leave_out_what_was_held_out(home, tmp_path) -> None:
    result = run(
        "fit", home / "ratings.csv", "-o", tmp_path / "m.geco", "--rank", 2, "--holdout", "0.3"
    )
    assert "the 30% held out are not part of the fit; geco recommend leaves them out" in (
        " ".join(result.output.split())
    )
    run("recommend", tmp_path / "m.geco", "--all", "-k", 50, "-o", tmp_path / "all.csv")
    every = set(map(tuple, pd.read_csv(tmp_path / "all.csv")[["user", "item"]].values))
    rated = set(map(tuple, frame()[["user", "item"]].values))
    model = pygeco.load(tmp_path / "m.geco")
    assert not every & rated
    assert len(every) + len(rated) == model.factors_.shape[0] * model.factors_.shape[1]
    assert len(model.held_out_.values) + len(model.seen_.values) == 1500


def test_a_reader_that_has_seen_enough(home) -> None:
    command = " ".join([f"'{part}'" for part in [*GECO, "predict", str(home / "m.geco")]])
    done = subprocess.run(
        f"{command} '{home / 'ratings.csv'}' | head -1",
        shell=True, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == '"user","item","prediction","known"\n'
    assert done.stderr == ""


def test_the_order_of_a_list_is_told_where_it_is_not_that_of_predictions(
    tmp_path, monkeypatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(Voice, "note", lambda self, text: said.append(text))
    rows, cols, values, _ = make_ratings((400, 250), 12_000, rank=3)
    table = pd.DataFrame({"user": rows, "item": cols, "rating": values})
    pygeco.MatrixCompletion(2, random_state=0).fit(table).save(tmp_path / "m.geco")
    asked = ("recommend", tmp_path / "m.geco", 7, "-k", 3)
    for more, expected in (((), True), (("--by", "value"), False), (("--by", "choice"), False)):
        said.clear()
        run(*asked, *more)
        assert any("--by value" in text for text in said) == expected
