"""Held-out clicks, and lists judged by them, against plain Python."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pygeco import Entries
from pygeco.clicks import judging
from pygeco.clicks.judging import Judge, hold_out_clicks, score_rows
from pygeco.models.seen import sort_cells


def slow_ndcg(scores, seen, held, length):
    total = []
    for line, known, wanted in zip(scores, seen, held, strict=True):
        if not wanted.any():
            continue
        order = [j for j in np.argsort(-line, kind="stable") if not known[j]][:length]
        gain = sum(1 / math.log2(t + 2) for t, j in enumerate(order) if wanted[j])
        ideal = sum(1 / math.log2(t + 2) for t in range(min(int(wanted.sum()), length)))
        total.append(gain / ideal)
    return np.mean(total)


def to_table(seen, shape):
    table = np.zeros(shape, bool)
    table[seen.rows(), seen.indices] = True
    return table


@pytest.mark.parametrize("block", [1 << 24, 170])
def test_means_are_those_of_plain_python(clicks, monkeypatch, block):
    monkeypatch.setattr(judging, "BLOCK_CELLS", block)
    split = hold_out_clicks(clicks, 0)
    scores = np.random.default_rng(0).standard_normal((3, *clicks.shape)).astype(np.float32)
    found = split.judge.compare(lambda rows: (table[rows] for table in scores), 3)
    seen, held = (to_table(x, clicks.shape) for x in (split.judge.seen, split.judge.held))
    expected = [slow_ndcg(table, seen, held, 20) for table in scores]
    assert found == pytest.approx(expected)


def test_fit_and_held_out_are_all_clicks_and_no_row_is_emptied(clicks):
    split = hold_out_clicks(clicks, 5)
    fit, held = to_table(split.judge.seen, clicks.shape), to_table(split.judge.held, clicks.shape)
    every = np.zeros(clicks.shape, bool)
    every[clicks.rows(), clicks.by_row.indices] = True
    assert not np.any(fit & held)
    assert np.array_equal(fit | held, every)
    assert np.all(fit.any(1) == every.any(1))
    assert 0.05 < held.sum() / every.sum() < 0.15


def test_judged_rows_are_limited(clicks, monkeypatch):
    monkeypatch.setattr(judging, "MIN_JUDGED_ROWS", 7)
    monkeypatch.setattr(judging, "MAX_JUDGED_ROWS", 7)
    assert len(hold_out_clicks(clicks, 0).judge.rows) == 7


def test_single_clicks_leave_nothing_to_judge_by():
    lone = Entries(np.arange(9), np.arange(9), np.ones(9, np.float32), (9, 9))
    assert hold_out_clicks(lone, 0) is None


@pytest.mark.parametrize("columns", [1, 7, 4096])
def test_scores_by_blocks_of_columns(monkeypatch, columns):
    monkeypatch.setattr(judging, "SCORED_COLUMNS", columns)
    rng = np.random.default_rng(0)
    left, right = (rng.standard_normal((k, 5)).astype(np.float32) for k in (40, 23))
    rows = np.array([3, 0, 39])
    found = score_rows(left, rows, right)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, left[rows] @ right.T, rtol=1e-5, atol=1e-6)
    assert score_rows(left, rows[:0], right).shape == (0, 23)


@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 0.9, 1.0])
def test_columns_without_a_click_are_left_out_of_tables_and_not_of_lists(share):
    """Lists are those of whole tables, to the last of many equal scores."""
    rng = np.random.default_rng(0)
    is_empty = rng.random(200) < share
    is_empty[:2] = False
    m, n = 60, len(is_empty)
    clicked = (rng.random((m, n)) < 0.1) & ~is_empty
    clicked[0] = ~is_empty  # whose list is of empty columns alone
    cells = sort_cells(*np.nonzero(clicked), np.ones(int(clicked.sum())), (m, n))
    wanted = (rng.random((m, n)) < 0.1) & ~clicked
    held = sort_cells(*np.nonzero(wanted), np.ones(int(wanted.sum())), (m, n))
    judge = Judge(np.arange(0, m, 2), held, cells, (m, n))
    narrow = judge.leave_out(is_empty)
    tables = rng.integers(-2, 3, (3, m, n)).astype(np.float32) * ~is_empty
    whole = judge.compare(lambda rows: (table[rows].copy() for table in tables), 3)
    part = [narrow.take(table.T).T for table in tables]
    found = narrow.compare(lambda rows: (table[rows].copy() for table in part), 3)
    assert found == pytest.approx(whole, rel=1e-12)  # sums of other blocks
    assert (narrow is judge) == (is_empty.sum() <= 20)
    assert part[0].shape[1] == n - max(0, is_empty.sum() - 20)
