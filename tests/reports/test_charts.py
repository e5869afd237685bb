"""The data of the charts."""

import json
import re

import numpy as np

from pygeco.diagnostics import Spread
from pygeco.reports.charts import draw_values
from report_cases import by_path, page_of, ratings


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


def test_levels_are_called_by_their_value() -> None:
    levels, counts = np.array([0.1, 3.0, 1234567.0]), np.array([2, 1, 1])
    chart = draw_values(Spread(levels, counts, None, 0.0, 1.0, 0.0), "cell")
    assert chart["say"] == [
        "value: 0.1, cells: 2, share: 50.0%",
        "value: 3, cells: 1, share: 25.0%",
        "value: 1,234,567, cells: 1, share: 25.0%",
    ]
    assert chart["xLabel"] == "value"
    assert draw_values(Spread(levels, counts, None, 0.0, 1.0, 0.0), "rating")["xLabel"] == "rating"
