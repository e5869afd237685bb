"""Reports and pictures of models that live on a device: the same numbers."""

import json
import re

import matplotlib as mpl
import numpy as np
import pytest

import pygeco
from pygeco import MatrixCompletion, Ridge, RobustPCA, diagnostics, engines, plot
from report_cases import ratings

mpl.use("Agg")
from matplotlib import pyplot as plt


@pytest.fixture(autouse=True)
def fake_engine(monkeypatch):
    monkeypatch.setitem(engines.ENGINE_MODULES, "fake", "fake_device")
    monkeypatch.setitem(engines.ENGINE_OF_PACKAGE, "fake_device", "fake")
    yield
    plt.close("all")


def models(**settings):
    fitted, _ = ratings()
    return [
        MatrixCompletion(random_state=0, engine=engine, **settings).fit(fitted)
        for engine in ("cpu", "fake")
    ]


@pytest.mark.parametrize(
    "settings",
    [{}, {"posterior": 3}, {"rank": 3, "penalty": Ridge(1e-4), "biases": True}],
    ids=["evidence", "posterior", "path"],
)
def test_the_page_says_the_same(settings, tmp_path) -> None:
    held = ratings()[1]
    pages = [
        pygeco.report(model, held, output=tmp_path / "page.html").read_text()
        for model in models(**settings)
    ]
    found, known = (
        json.loads(re.search(r'id="charts">(.*?)</script>', page, re.DOTALL)[1])
        for page in reversed(pages)
    )
    assert set(found) == set(known)
    if "posterior" in settings:  # draws part by rounding: another model, with the same page
        return
    for name, chart in known.items():
        for series, other in zip(chart["series"], found[name]["series"], strict=True):
            if name != "residuals":  # a cell may change its bin by rounding
                assert np.allclose(series["y"], other["y"], rtol=1e-3, atol=1e-4), name


def test_the_effects_of_attributes_are_the_same() -> None:
    found, known = (
        {(group.side, group.group): group.strength for group in model.attribute_effects_.groups}
        for model in models(pattern=True)
    )
    assert set(found) == {("row", "pattern"), ("column", "pattern")}
    assert found == pytest.approx(known, rel=1e-2)


def test_every_picture_is_drawn() -> None:
    held = ratings()[1]
    model = models()[1]
    for draw in (plot.path, plot.residuals, plot.calibration):
        draw(model, held)
    plot.spectrum(model)
    plot.factors(model)
    assert diagnostics.find_unseen_cells(model, held).total == len(held[2])
    X = np.outer(np.arange(1.0, 21.0), np.arange(1.0, 13.0))
    X[3, 4] = 1e4
    robust = RobustPCA(1, engine="fake", random_state=0).fit(X)
    plot.frames(robust, X, (3, 4), [3])
    plot.parts(robust, X)
