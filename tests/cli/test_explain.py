"""`geco explain` says what the model says in Python."""

import json

import pytest

import pygeco
from cli_cases import run


def test_explanations(home, tmp_path) -> None:
    model = pygeco.load(home / "m.geco")
    asked = ("explain", home / "m.geco", "--user", 7, "--item", "film-3", "-k", 3)
    told = json.loads(run(*asked, "--json", "--titles", home / "titles.csv").stdout)
    why = model.explain(7, "film-3", 3)
    assert told["base"] == why.base
    assert told["prediction"] == pytest.approx(model.predict([7], ["film-3"])[0])
    assert [row["item"] for row in told["rows"]] == why.columns.tolist()
    assert [row["adds"] for row in told["rows"]] == why.contributions.tolist()
    assert told["rows"][0]["title"].endswith("th Film")
    assert run(*asked).stdout.splitlines()[0] == '"item","adds"'
    run("fit", home / "some.csv", "-o", tmp_path / "m", "--penalty", "none", "--rank", 1)
    said = run("explain", tmp_path / "m", "--user", 7, "--item", "film-3", code=2).output
    assert "was fitted without the evidence" in said
