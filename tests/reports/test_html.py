"""The report: complete, escaped, self-contained, written whole or not at all."""

import re

import numpy as np
import pytest

import pygeco
from pygeco import MatrixCompletion, RobustPCA
from pygeco.errors import ClicksWarning
from report_cases import Reader, by_evidence, by_labels, by_path, page_of, ratings

EVIL = '</script><script>document.title="owned"</script><img src=x onerror=alert(1)> & "quotes"'


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
