"""Lists of a model of clicks, counted by hand and judged by `evaluate`."""

import numpy as np
import pytest

from click_table_cases import make_click_table
from pygeco import ImplicitCompletion, evaluate
from pygeco.clicks.judging import hold_out_clicks, hold_out_more
from pygeco.diagnostics import judge_clicks, measure_long_tail, measure_popularity
from pygeco.objectives import Entries

SPECTRAL = {"rank": 4, "row_power": 0.3, "column_power": 0.3, "ridge": 1.0, "popularity": 0.0}


@pytest.fixture(scope="module")
def fitted():
    table = make_click_table()
    model = ImplicitCompletion(spectral=SPECTRAL, squares=False, random_state=0)
    return model.fit(table.iloc[80:]), table.iloc[:80]


def test_figures_are_those_of_evaluate(fitted) -> None:
    model, held = fitted
    rows, cols = model.known_cells(held)[:2]
    found = judge_clicks(model, rows, cols)
    ours = evaluate(model, held, protocol="all")
    assert (found.rows, found.clicks) == (ours.rows, ours.held_out)
    for name, figures in ours.to_dict().items():
        if name != "popularity":
            assert found.model[name] == pytest.approx(figures)
    assert judge_clicks(model, model.seen_.rows(), model.seen_.indices) is None
    unknown = np.append(rows, [-1, 3, 5]), np.append(cols, [2, -1, -1])
    assert judge_clicks(model, *unknown) == found


def test_the_long_tail_by_hand(fitted) -> None:
    model, _ = fitted
    counts = np.bincount(model.seen_.indices)
    top = set(np.argsort(-counts, kind="stable")[:4].tolist())  # a tenth of 40
    every = model.model_.best(np.arange(len(model.row_ids_)), 20).columns.reshape(-1)
    tail = measure_long_tail(model)
    assert tail.top_share == pytest.approx(np.mean([j in top for j in every.tolist()]))
    assert tail.clicked_share == pytest.approx(sum(counts[j] for j in top) / counts.sum())
    assert tail.coverage == len(set(every.tolist())) / 40


def test_popularity_at_the_clicks_that_choose(fitted) -> None:
    model, _ = fitted
    seen, told = model.seen_, []
    clicks = Entries(seen.rows(), seen.indices, seen.values, model.factors_.shape)
    split = hold_out_clicks(clicks, 0)
    for kept, judge in (split, *hold_out_more(clicks, 0, split)):
        counts = np.bincount(kept.by_row.indices, minlength=40).astype(float)
        found = evaluate(
            (np.ones((kept.shape[0], 1)), counts[:, None]),
            (judge.held.rows(), judge.held.indices),
            protocol="all",
            k=20,
            seen=(kept.rows(), kept.by_row.indices),
        )
        told.append(found.ndcg[20])
    assert measure_popularity(model) == pytest.approx(np.mean(told))
