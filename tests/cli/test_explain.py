"""`geco explain` says what the model says in Python."""

import json

import numpy as np
import pandas as pd
import pytest

import pygeco
from cli_cases import frame, run
from pygeco.cli.console import Voice
from pygeco.cli.explain import describe_reasons


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


def test_what_attributes_add_is_said(tmp_path) -> None:
    """Base, ratings and attributes add up to the prediction."""
    rng = np.random.default_rng(0)
    sex, age = rng.choice(["f", "m"], 60), rng.uniform(20, 60, 60)
    rows, cols = np.nonzero(rng.random((60, 30)) < 0.3)
    slope = rng.standard_normal(30)
    values = np.where(sex == "m", slope[:, None], -slope[:, None]).T[rows, cols]
    values = 3 + values + 0.05 * (age[rows] - 40) + 0.3 * rng.standard_normal(len(rows))
    model = pygeco.MatrixCompletion(random_state=0, clip=False).fit(
        pd.DataFrame({"user": rows, "item": cols, "rating": values}),
        row_attributes={"user": np.arange(60), "sex": sex, "age": age},
    )
    model.save(tmp_path / "m.geco")
    known = set(zip(rows.tolist(), cols.tolist(), strict=True))
    row, col = next((5, j) for j in range(30) if (5, j) not in known)
    asked = ("explain", tmp_path / "m.geco", "--user", row, "--item", col, "-k", 30)
    told = json.loads(run(*asked, "--json").stdout)
    assert set(told["attributes"]) == {"sex", "age"}
    added = sum(told["attributes"].values()) + sum(line["adds"] for line in told["rows"])
    assert told["base"] + added == pytest.approx(told["prediction"], abs=1e-3)
    said = describe_reasons(told["prediction"], model.explain(row, col))
    assert "without the user's ratings and attributes" in said
    for name, amount in told["attributes"].items():
        assert f"{name} {amount:+.3f}" in said
    plain = model.explain(row, col)._replace(attributes={})
    assert describe_reasons(1.0, plain).endswith("without the user's ratings.")


def test_what_adds_up_to_a_chance_is_no_chance(tmp_path, monkeypatch) -> None:
    """A base of -0.03 stood beside a probability as if it were one."""
    said: list[str] = []
    monkeypatch.setattr(Voice, "note", lambda self, text: said.append(text))
    for loss, scale in (("logistic", "in log-odds"), ("squared", None)):
        table = frame(1000)
        table["rating"] = (table["rating"] > 3).astype(float)
        pygeco.MatrixCompletion(2, loss=loss, random_state=0).fit(table).save(tmp_path / "m")
        said.clear()
        run("explain", tmp_path / "m", "--user", 7, "--item", "film-3", "-k", 3)
        assert (f", of a sum {scale}: " in said[0]) == (scale is not None)
        assert said[0].endswith("without the user's ratings.")
