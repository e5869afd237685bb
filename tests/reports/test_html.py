"""The report: complete, escaped, self-contained, written whole or not at all."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

import pygeco
from pygeco import MatrixCompletion, RobustPCA, diagnostics
from pygeco.errors import ClicksWarning
from pygeco.reports import words
from report_cases import by_evidence, by_labels, by_path, ratings

EVIL = '</script><script>document.title="owned"</script><img src=x onerror=alert(1)> & "quotes"'


class Reader(HTMLParser):
    """Tags, ids, links and text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag, attrs) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data) -> None:
        self.text += data


def page_of(model, tmp_path, held_out=None, **settings):
    path = pygeco.report(model, held_out, output=tmp_path / "r.html", **settings)
    assert path == tmp_path / "r.html"
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("model", [by_evidence, by_path, by_labels])
@pytest.mark.parametrize("held", [True, False])
def test_every_section_is_there(model, held, tmp_path) -> None:
    cells = ratings()[1]
    if model is by_labels:
        cells = (*cells[:2], (cells[2] > 3.5).astype(float), cells[3])
    read = Reader(page_of(model(), tmp_path, cells if held else None))
    ids = {attributes.get("id") for _, attributes in read.tags}
    assert {"path", "certificate", "errors", "components", "worst", "again"} <= ids
    assert {"data", "compared", "samples"} <= ids
    assert read.text.index("The certificate:") > read.text.index("Worst-predicted")
    assert not re.search(r"[-−]0\.0+(?![0-9])", read.text)
    assert "100.0%." not in read.text
    assert ("No held-out cells were given" in read.text) is not held
    assert "No matrix of trace norm up to" in read.text
    assert "probability of at least 99.9%" in read.text
    assert "nan" not in read.text.lower().split()


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


def test_ids_and_titles_cannot_inject(tmp_path) -> None:
    model = MatrixCompletion(2, penalty=None, random_state=0).fit(ratings()[0])
    model.row_ids_ = [EVIL] * 120
    model.column_ids_ = list(range(80))
    page = page_of(
        model, tmp_path, ratings()[1], titles=dict.fromkeys(range(80), EVIL), heading=EVIL
    )
    assert EVIL not in page
    assert page.count("<script") == 2
    assert "<img" not in page
    assert EVIL in Reader(page).text  # as text it is all there


def test_nothing_is_loaded_from_anywhere(tmp_path) -> None:
    page = page_of(by_path(), tmp_path, ratings()[1])
    read = Reader(page)
    for tag, attributes in read.tags:
        assert tag not in ("img", "iframe", "object", "embed")
        for name in ("src", "href"):
            target = attributes.get(name) or ""
            assert target.startswith(("#", "data:")) or not target
    policy = next(a["content"] for _, a in read.tags if a.get("http-equiv"))
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    links = set(re.findall(r"https?://[^\"'\s]+", page))
    assert links == {"http://www.w3.org/2000/svg"}  # a name, not an address


def test_the_chart_data_are_json_with_a_sentence_a_point(tmp_path) -> None:
    page = page_of(by_path(), tmp_path, ratings()[1])
    data = json.loads(re.search(r'id="charts">(.*?)</script>', page, re.DOTALL)[1])
    names = {"values", "path", "certificate", "calibration", "residuals", "spectrum"}
    assert set(data) == names
    assert sum(data["values"]["series"][0]["y"]) == len(ratings()[0][2])
    for chart in data.values():
        for series in chart["series"]:
            assert len(series["y"]) == len(chart["x"]) == len(chart["say"])
    assert sum(data["residuals"]["series"][0]["y"]) == len(ratings()[1][2])
    assert data["path"]["say"][0].startswith("rank: 1, fitted cells: ")


def test_a_model_of_rank_zero_has_a_report(tmp_path) -> None:
    rows, cols, _, shape = ratings()[0]
    with pytest.warns(ClicksWarning, match="every value is 3.5"):
        model = MatrixCompletion(random_state=0).fit((rows, cols, np.full(len(rows), 3.5), shape))
    assert model.rank_ == 0
    assert "there are no components" in page_of(model, tmp_path)


def test_only_a_fitted_completion_has_a_report(tmp_path) -> None:
    for model in (MatrixCompletion(), RobustPCA(), 3):
        with pytest.raises(ValueError, match="model: a report needs a fitted MatrixCompletion"):
            pygeco.report(model, output=tmp_path / "r.html")
    assert not list(tmp_path.iterdir())


def test_an_unwritable_place_leaves_things_as_they_were(tmp_path) -> None:
    with pytest.raises(FileNotFoundError):
        pygeco.report(by_path(), output=tmp_path / "no" / "r.html")
    assert not list(tmp_path.iterdir())


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


def test_figures_stand_beside_those_of_simple_rules(tmp_path) -> None:
    model, held = by_evidence(), ratings()[1]
    page = page_of(model, tmp_path, held)
    rows = [re.sub(r"<[^>]+>", " ", row).split() for row in re.findall(r"<tr>.*?</tr>", page)]
    shown = {" ".join(row) for row in rows}
    judged = diagnostics.judge(model, held)
    for rule in diagnostics.simple_rules(model, judged, ("row", "column", "cell")):
        off = rule.predicted - judged.observed
        errors = (np.sqrt(np.mean(off**2)), np.mean(np.abs(off)))
        assert " ".join([rule.name, *(words.number(error) for error in errors)]) in shown
    lists = diagnostics.judge_lists(model, judged)
    for name, ranked in (("this model", lists.model), ("most popular columns", lists.popular)):
        figures = (ranked.precision, ranked.recall, ranked.ndcg)
        assert " ".join([name, *(f"{x:.4f}" for x in figures)]) in shown
    for level in ("50%", "90%", "99%"):
        assert f"those of {level} hold" in page


def test_numbers_have_no_negative_zero_and_no_certainty() -> None:
    for value in (-0.0, -1e-17, -0.00012, -0.000499, -1e-9):
        for digits in (3, 4):
            assert not re.fullmatch(r"-0[.0]*", words.number(value, digits))
    assert words.signed(-0.001) == words.signed(0.0) == "0.00"
    assert words.signed(-0.01) == "-0.01"
    assert words.at_least(0.99999) == "99.9%"
    assert words.at_least(0.999) == "99.9%"
    assert words.verdict(0.5, 0.62, 10_000) == "too wide"
    assert words.verdict(0.99, 0.97, 10_000) == "too narrow"
    assert words.verdict(0.99, 0.97, 20) == "right"  # within chance
