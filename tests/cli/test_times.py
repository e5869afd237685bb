"""Times on the command line."""

import json

import numpy as np
import pandas as pd
import pytest

import pygeco
from cli_cases import run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Ratings whose items move from day to day, with a header and without one, and a model."""
    folder = tmp_path_factory.mktemp("times")
    rng = np.random.default_rng(0)
    pick = rng.permutation(60 * 30)[:1300]
    user, item, day = pick // 30, pick % 30, rng.integers(0, 5, 1300)
    value = rng.standard_normal((30, 5))[item, day] + 0.3 * rng.standard_normal(1300)
    seconds = 1_600_000_000 + 86_400 * day + rng.integers(0, 60, 1300)
    table = pd.DataFrame({"user": user, "item": item, "rating": value.round(3)})
    table["rated_at"] = pd.to_datetime(seconds, unit="s")
    table.to_csv(folder / "r.csv", index=False)
    table.assign(rated_at=seconds).to_csv(folder / "bare.csv", index=False, header=False)
    plain = ("fit", folder / "r.csv", "-o", folder / "m.geco", "--pattern", "no", "--rank", 1)
    said = run(*plain, "--holdout", 0.1).output
    assert "times = 'rated_at'" in said
    assert "time moves" in said
    assert "items by" in said
    return folder


def test_a_column_without_a_name_can_be_named_and_time_can_be_left_out(folder):
    out = folder / "n.geco"
    fit = ("fit", folder / "bare.csv", "-o", out, "--pattern", "no", "--rank", 1, "--json")
    assert json.loads(run(*fit, "--times", 4).stdout)["time"]
    assert pygeco.load(out).drift_ is not None
    found = [run("predict", out, folder / "bare.csv").stdout for _ in range(1)]
    model = pygeco.load(out)
    table = pd.read_csv(folder / "bare.csv", names=["user", "item", "rating", "timestamp"])
    wanted = model.predict(table)["prediction"]
    assert np.allclose([float(x.split(",")[2]) for x in found[0].splitlines()[1:]], wanted)
    assert json.loads(run(*fit).stdout)["time"]  # the first lines hold seconds since 1970
    assert json.loads(run(*fit, "--no-time").stdout)["time"] == []
    assert "--no-time: cannot be given" in run(*fit, "--times", 4, "--no-time", code=2).output
    run("fit", folder / "r.csv", "-o", out, "--pattern", "no", "--rank", 1, "--no-time")
    assert pygeco.load(out).drift_ is None
    said = run("recommend", out, "--user", 3, "--time", "2020-09-13", code=2).output
    assert "--time: says nothing in this model" in said


@pytest.mark.parametrize(
    ("form", "said"),
    [("%m/%d/%Y", "not '09/13/2020'."), ("", "1,300 of 1,300 are missing."), ("%Y-%m-%d UTC", "")],
)
def test_times_that_are_left_out_are_told(folder, tmp_path, form, said):
    table = pd.read_csv(folder / "r.csv", parse_dates=["rated_at"]).sort_values("rated_at")
    table.assign(rated_at=table["rated_at"].dt.strftime(form)).to_csv(tmp_path / "r.csv")
    fit = ("fit", tmp_path / "r.csv", "-o", tmp_path / "m", "--pattern", "no", "--rank", 1)
    text = " ".join(run(*fit).output.split())
    told = json.loads(run(*fit, "--json").stdout)
    assert bool(told["time"]) == (not said) == ("time moves" in text)
    assert len(told["left_out"]) == bool(said)
    for line in told["left_out"]:
        assert line.startswith("the times in 'rated_at' are left out: ")
        assert line.endswith(said)
        assert line in text


@pytest.mark.parametrize("named", [True, False])
def test_sentences_about_times_name_their_column_as_the_file_does(folder, tmp_path, named):
    """Whoever reads of a column must find it in the file, where none is called timestamp."""
    table = pd.read_csv(folder / "r.csv", parse_dates=["rated_at"])
    table["rated_at"] = table["rated_at"].dt.strftime("%m/%d/%Y")
    table.to_csv(tmp_path / "bad.csv", index=False, header=named)
    table["rated_at"] = np.where(np.arange(len(table)) == 3, "", "2020-09-13")
    table.to_csv(tmp_path / "few.csv", index=False, header=named)
    told = "the times in 'rated_at': " if named else "the times in column 4: "
    fit = ("-o", tmp_path / "m", "--pattern", "no", "--rank", 1, "--times")
    for file in ("bad.csv", "few.csv"):
        said = run("fit", tmp_path / file, *fit, 4, code=2).output
        assert f"geco fit: {told}" in said
    for command in ("predict", "evaluate") if named else ():
        said = run(command, folder / "m.geco", tmp_path / "bad.csv", code=3).output
        assert f"geco {command}: bad.csv: {told}expected times" in said
    bad = table.rename(columns={"rated_at": "played_at"}).assign(played_at="x")
    bad.to_csv(tmp_path / "test.csv", index=False)
    if named:
        fit = ("fit", folder / "r.csv", "--test", tmp_path / "test.csv", *fit[:-1])
        assert "no held-out error: the times in 'played_at': expected" in run(*fit).output


def test_questions_are_about_the_time_in_the_file_or_the_one_that_is_given(folder):
    model, path = pygeco.load(folder / "m.geco"), folder / "m.geco"
    table = pd.read_csv(folder / "r.csv")
    asked = table.rename(columns={"rated_at": "timestamp"})
    told = json.loads(run("predict", path, folder / "r.csv", "--json").stdout)["rows"]
    assert np.allclose([row["prediction"] for row in told], model.predict(asked)["prediction"])
    early = ("--time", "2020-09-13T12:30")
    told = json.loads(run("predict", path, folder / "r.csv", *early, "--json").stdout)["rows"]
    wanted = model.predict(table["user"], table["item"], times="2020-09-13 12:30")
    assert np.allclose([row["prediction"] for row in told], wanted)
    told = json.loads(run("recommend", path, "--user", 3, "-k", 3, *early, "--json").stdout)
    best = model.recommend(3, k=3, time="2020-09-13 12:30")
    assert [row["item"] for row in told["rows"]] == best.columns.tolist()
    assert "expected times" in run("recommend", path, "--user", 3, "--time", "x", code=2).output
    evaluated = json.loads(run("evaluate", path, folder / "r.csv", "--json").stdout)
    assert evaluated["rmse"] < 0.6
