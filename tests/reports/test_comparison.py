"""The model beside simple rules."""

import re
from types import SimpleNamespace

import numpy as np

from pygeco import diagnostics
from pygeco.reports import words
from pygeco.reports.comparison import _orders_by_choice
from report_cases import by_evidence, page_of, ratings


def test_figures_stand_beside_those_of_simple_rules(tmp_path) -> None:
    model, held = by_evidence(), ratings()[1]
    page = page_of(model, tmp_path, held)
    rows = [re.sub(r"<[^>]+>", " ", row).split() for row in re.findall(r"<tr>.*?</tr>", page)]
    shown = {" ".join(row) for row in rows}
    judged = diagnostics.judge(model, held)
    for rule in diagnostics.predict_by_rules(model, judged, ("row", "column", "cell")):
        off = rule.predicted - judged.observed
        errors = (np.sqrt(np.mean(off**2)), np.mean(np.abs(off)))
        assert " ".join([rule.name, *(words.format_number(error) for error in errors)]) in shown
    lists = diagnostics.judge_lists(model, judged)
    for name, ranked in (("this model", lists.model), ("most popular columns", lists.popular)):
        figures = (ranked.precision, ranked.recall, ranked.ndcg)
        assert " ".join([name, *(f"{x:.4f}" for x in figures)]) in shown
    for level in ("50%", "90%", "99%"):
        assert f"those of {level} hold" in page


def test_the_page_says_where_choices_order_lists() -> None:
    for power, says in ((0.5, True), (0.0, True), (np.inf, False)):
        lists = SimpleNamespace(power=power)
        assert _orders_by_choice(SimpleNamespace(model_=SimpleNamespace(lists=lists))) == says
    assert not _orders_by_choice(SimpleNamespace(model_=SimpleNamespace(lists=None)))
