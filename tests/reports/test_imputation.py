"""The page of an imputation without columns that could be measured."""

import re

import pandas as pd

from pygeco import LowRankImputer
from pygeco.diagnostics import summarize_columns
from pygeco.reports.imputation import gather_imputation, report_imputation


def test_what_was_not_measured_is_said() -> None:
    table = pd.DataFrame({"a": [1.5, None, 2.5], "b": [None, None, None]})
    model = LowRankImputer(random_state=0).fit(table)
    content = gather_imputation(model, summarize_columns(model, table.isna().sum()), 3, "h")
    assert content["columns"][0] == (
        "a", ("number", "from 1.5 to 2.5", "1", "not measured", "")
    )  # fmt: skip
    assert content["left"] == [("b", "no known cell", "3")]
    assert content["tiles"][1]["value"] == "4"


def test_the_page_shows_each_column_with_its_own_labels(tmp_path) -> None:
    table = pd.DataFrame({"a <i>": [1.5, None, 2.5], "b": [None, None, None]})
    model = LowRankImputer(random_state=0).fit(table)
    columns = summarize_columns(model, table.isna().sum())
    page = report_imputation(model, columns, 3, tmp_path / "r.html").read_text(encoding="utf-8")
    body = page[page.index("<tbody>") : page.index("</tbody>")]
    assert re.findall(r'data-label="([^"]*)"', body)[:4] == [
        "kind",
        "why",
        "missing",
        "error when filled",
    ]
    assert "<bdi>a &lt;i&gt;</bdi>" in body
    assert 'class="figures"' not in page  # whose first line stands out, as that of a model does
    assert "<noscript>" not in page  # there are no charts
