"""What the page says, gathered from a model."""

import json
import re

import numpy as np
import pandas as pd

import pygeco
from pygeco import MatrixCompletion, diagnostics
from report_cases import Reader, by_evidence, by_labels, by_path, page_of, ratings


def test_the_numbers_are_those_of_the_model(tmp_path) -> None:
    read = Reader(page_of(by_evidence(), tmp_path, ratings()[1]))
    judged = diagnostics.judge(by_evidence(), ratings()[1])
    assert f"{judged.rmse:.4f}" in read.text
    assert f"{judged.mae:.4f}" in read.text
    assert "120 rows and 80 columns" in read.text
    assert "random_state=0" in read.text
    assert f"pygeco{pygeco.__version__}" in read.text.replace("\n", "").replace(" ", "")


def test_the_recipe_reproduces_the_fit(tmp_path) -> None:
    read = Reader(page_of(by_path(), tmp_path))
    code = re.search(r"MatrixCompletion\(.*\)\.fit\(cells\)", read.text, re.DOTALL)
    assert code is not None
    names = {name: getattr(pygeco, name) for name in pygeco.__all__}
    again = eval(code[0], names | {"cells": ratings()[0]})
    assert np.array_equal(again.factors_.to_dense(), by_path().factors_.to_dense())


def test_a_random_seed_is_written_down(tmp_path) -> None:
    model = MatrixCompletion(2, penalty=None).fit(ratings()[0])
    assert f"random_state={model.path_.seed}" in Reader(page_of(model, tmp_path)).text


def table_of(triplets) -> pd.DataFrame:
    rows, cols, values, _ = triplets
    return pd.DataFrame({"member": rows, "film": [f"f{j}" for j in cols], "stars": values})


def test_a_table_has_users_and_items_and_its_held_out_ratings_are_remembered(tmp_path) -> None:
    fitted, held = (table_of(part) for part in ratings())
    model = MatrixCompletion(random_state=0).fit(fitted, columns=("member", "film", "stars"))
    text = Reader(page_of(model.keep_held_out(held), tmp_path)).text
    given = Reader(page_of(model, tmp_path, held)).text
    assert "No held-out cells were given" not in text
    written = re.compile("Written .* UTC")
    charts = json.loads(re.search(r'({"calibration".*)', text)[1].split("\n")[0])
    again = json.loads(re.search(r'({"calibration".*)', given)[1].split("\n")[0])
    assert charts["path"] == again["path"]
    assert written.search(text)
    flat = " ".join(text.split())
    assert f"A table of {fitted.member.nunique()} users and" in flat
    for said in ("Worst-predicted ratings", "mean of the item", "most popular items"):
        assert said in flat
    counts = fitted.film.value_counts()
    listed = re.findall(r"(f[0-9]+) \(([0-9,]+)\)", flat)
    assert len(listed) > 20
    assert all(counts[name] == int(count) for name, count in listed)


def test_a_page_of_ten_ratings_claims_no_more_than_they_say(tmp_path) -> None:
    """One held-out rating has no interval, no honest intervals and no quantiles."""
    fitted = pd.DataFrame(
        {"user": [*"aabbccdde"], "film": [*"xyxzyzxww"], "stars": [*range(1, 6), *range(1, 5)]}
    )
    model = MatrixCompletion(random_state=0).fit(fitted)
    held = pd.DataFrame({"user": ["e"], "film": ["x"], "stars": [5]})
    text = " ".join(Reader(page_of(model, tmp_path, held)).text.split())
    assert "Only 1 rating is held out" in text
    assert "These are too few to say" in text
    assert "user e 1 rating;" in text
    for wrong in ("± 0", "honest", "1 ratings", "Quantiles", "Predicted intervals"):
        assert wrong not in text


def test_effects_are_in_the_units_that_they_have(tmp_path) -> None:
    labels = Reader(page_of(by_labels(), tmp_path)).text
    assert "Effects are in log-odds:" in labels
    assert "ntervals are" not in labels
    assert "Effects are in units of the data:" in Reader(page_of(by_evidence(), tmp_path)).text
