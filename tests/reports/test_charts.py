"""The data of the charts."""

import json
import re

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
