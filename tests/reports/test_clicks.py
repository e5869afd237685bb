"""The page of a model of clicks: lists beside popularity, trials, and nothing of ratings."""

import re

from click_table_cases import make_click_table
from pygeco import ImplicitCompletion, diagnostics, report

SPECTRAL = {"rank": 4, "row_power": 0.3, "column_power": 0.3, "popularity": 0.0}


def test_the_page_of_clicks(tmp_path) -> None:
    table = make_click_table()
    model = ImplicitCompletion(spectral=SPECTRAL, squares=False, random_state=0)
    model.fit(table.iloc[80:]).keep_held_out(table.iloc[:80])
    titles = {f"film-{k}": f"<b>{k}" for k in range(40)}
    page = report(model, output=tmp_path / "page.html", titles=titles).read_text()
    rows = [re.sub(r"<[^>]+>", " ", row).split() for row in re.findall(r"<tr>.*?</tr>", page)]
    shown = {" ".join(row) for row in rows}
    found = diagnostics.judge_clicks(model, *model.known_cells(table.iloc[:80])[:2])
    for name, figures in (("this model", found.model), ("most popular items", found.popular)):
        first = " ".join(f"{figures[key][k]:.4f}" for key in ("recall", "ndcg") for k in (10, 20))
        assert any(row.startswith(f"{name} {first}") for row in shown)
    trials = model.choice_.trials
    assert any(row.startswith(f"1 spectral {trials[0].ndcg:.4f} 4 0.3") for row in shown)
    tail = diagnostics.measure_long_tail(model)
    assert f"{tail.top_share:.0%} of the places on the lists" in page
    assert "&lt;b&gt;" in page
    assert "No held-out clicks were given" not in page
    assert "RMSE" not in page
    assert "ertificate" not in page


def test_without_held_out_clicks_the_page_says_so(tmp_path) -> None:
    model = ImplicitCompletion(spectral=SPECTRAL, squares=False, random_state=0)
    model.fit(make_click_table())
    page = report(model, output=tmp_path / "page.html").read_text()
    assert "No held-out clicks were given" in page
    assert f"{diagnostics.measure_popularity(model):.4f}" in page


def test_settings_that_were_kept_are_not_told_as_given(tmp_path) -> None:
    model = ImplicitCompletion(spectral=SPECTRAL, squares=False, random_state=0)
    table = make_click_table()
    model.fit(table.iloc[:-5]).partial_fit(table.iloc[-5:])
    page = report(model, output=tmp_path / "page.html").read_text()
    assert "all settings were given, or kept when clicks were added" in page
