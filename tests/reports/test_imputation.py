"""The page of an imputation without columns that could be measured."""

import pandas as pd

from pygeco import LowRankImputer
from pygeco.diagnostics import summarize_columns
from pygeco.reports.imputation import gather_imputation


def test_what_was_not_measured_is_said() -> None:
    table = pd.DataFrame({"a": [1.5, None, 2.5], "b": [None, None, None]})
    model = LowRankImputer(random_state=0).fit(table)
    content = gather_imputation(model, summarize_columns(model, table.isna().sum()), 3, "h")
    assert content["columns"][0] == (
        "a", ("number", "from 1.5 to 2.5", "1", "not measured", "")
    )  # fmt: skip
    assert content["left"] == [("b", "no known cell", "3")]
    assert content["tiles"][1]["value"] == "4"
