"""What is told of each filled column, in numbers and as a picture and a page."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from pygeco import LowRankImputer, diagnostics, plot
from pygeco.reports.imputation import report_imputation

mpl.use("Agg")


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(0)
    u = rng.standard_normal(200)
    table = pd.DataFrame(
        {
            "x": 10 * u,
            "y": u + 0.1 * rng.standard_normal(200),
            "noise": rng.standard_normal(200),
            "sign": np.where(u > 0, "<plus>", "<minus>"),
            "name": [f"n{k}" for k in range(200)],
        }
    )
    table.loc[:19, "x"] = np.nan
    model = LowRankImputer(random_state=0).fit(table)
    return model, diagnostics.summarize_columns(model, table.isna().sum())


def test_errors_are_in_units_and_beside_those_of_means(found) -> None:
    model, columns = found
    x, y, noise, sign, name = columns
    assert (x.missing, y.missing) == (20, 0)
    assert 0.8 < x.error < 5  # ten times the noise of y, or where y is masked, too, more
    assert x.null == pytest.approx(10, rel=0.2)
    assert noise.relative == pytest.approx(1, abs=0.1)
    assert sign.is_category
    assert 0 <= sign.error < 0.25 < sign.null
    assert (name.kind, name.masked, name.relative) == ("skip", 0, None)
    assert x.error == pytest.approx(model.imputation_std_[0])
    with pytest.raises(ValueError, match="expected a LowRankImputer that was fitted to a table"):
        diagnostics.summarize_columns(LowRankImputer().fit(np.eye(3)), [0, 0, 0])


def test_the_picture_draws_a_bar_for_each_measured_column(found) -> None:
    ax = plot.imputation(found[1])
    assert len(ax.patches) == 4
    widths = [patch.get_width() for patch in ax.patches]
    assert widths == sorted(widths, reverse=True)
    assert "noise (number, 0 missing)" in [label.get_text() for label in ax.get_yticklabels()]
    mpl.pyplot.close(ax.figure)


def test_the_page_escapes_and_says_what_was_left(found, tmp_path) -> None:
    model, columns = found
    path = report_imputation(model, columns, 200, tmp_path / "page.html", "A <table>")
    page = path.read_text()
    assert "A &lt;table&gt;" in page
    assert "<table>, " not in page
    assert "200 texts in 200 cells: names" in page
    assert "wrong" in page


def test_errors_are_shown_with_their_units() -> None:
    def show(error, **kind):
        about = {"is_category": False, "is_moment": False, **kind}
        return diagnostics.FilledColumn("", "", "", 1, 1, error, 1.0, **about).show(error)

    assert show(5.25) == "± 5.25"
    assert show(0.125, is_category=True) == "12% wrong"
    assert show(200_000.0, is_moment=True) == "± 2.31 days"
    assert show(5_400.0, is_moment=True) == "± 1.5 hours"
    assert show(0.5, is_moment=True) == "± 0.5 seconds"
