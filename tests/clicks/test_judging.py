"""Held-out clicks, and lists judged by them, against plain Python."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pygeco import Entries
from pygeco.clicks import judging
from pygeco.clicks.judging import hold_out_clicks, score_rows


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
