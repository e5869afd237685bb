"""The variance of offsets of periods, against dense Gaussians."""

import numpy as np
import pytest

from pygeco.bayes.periods import Periods, group_cells
from pygeco.bayes.spreads import contrast_periods, draw_spread, measure_evidence

TAU = 2.0


def make(spread: float, lines: int = 8, seed: int = 0):
    rng = np.random.default_rng(seed)
    line, time = rng.integers(0, lines, 20 * lines), rng.integers(0, 4, 20 * lines) + 0.5
    line, time = np.append(line, lines), np.append(time, 0.5)  # a line with one period
    group = group_cells(Periods("row", 0.0, 1.0), line, time)
    offsets = np.sqrt(spread) * rng.standard_normal(len(group.sizes))
    noise = rng.standard_normal(len(line)) / np.sqrt(TAU)
    return group, line, 3.0 * line + offsets[group.codes] + noise


def test_the_evidence_is_that_of_dense_contrasts():
    group, line, y = make(0.3)
    Z, X = np.eye(len(group.sizes))[group.codes], np.eye(9)[line]
    free = np.linalg.svd(X)[0][:, 9:]  # contrasts that no offset of a line moves

    def log_density(v):
        C = free.T @ (np.eye(len(y)) / TAU + v * Z @ Z.T) @ free
        return -0.5 * (np.linalg.slogdet(C)[1] + (free.T @ y) @ np.linalg.solve(C, free.T @ y))

    spreads = np.array([1e-6, 0.01, 0.3, 1.0])
    found = measure_evidence(contrast_periods(group, group.sum_cells(y)), TAU, spreads)
    assert found == pytest.approx([log_density(v) - log_density(0.0) for v in spreads], abs=1e-6)


def test_draws_lie_about_the_truth_and_random_periods_gain_nothing(monkeypatch):
    rng = np.random.default_rng(1)
    group, _, y = make(0.3, 200)
    sums = group.sum_cells(y)
    draws = [draw_spread(group, sums, TAU, rng) for _ in range(50)]
    assert np.mean([one.spread for one in draws]) == pytest.approx(0.3, rel=0.15)
    assert min(one.gain for one in draws) > 50
    monkeypatch.setattr("pygeco.bayes.spreads.MAX_PAIRS", 200)  # a quarter of the lines
    assert draw_spread(group, sums, TAU, rng).spread == pytest.approx(0.3, rel=0.5)
    nothing = []
    for seed in range(40):
        group, _, y = make(0.0, 50, seed)
        nothing.append(draw_spread(group, group.sum_cells(y), TAU, rng))
    assert max(one.gain for one in nothing) < 5
    assert np.median([one.spread for one in nothing]) < 0.01


def test_lines_of_one_period_say_nothing():
    group = group_cells(Periods("row", 0.0, 1.0), np.arange(5), np.full(5, 0.5))
    found = contrast_periods(group, np.arange(5.0))
    assert np.array_equal(measure_evidence(found, TAU, np.array([0.1, 1.0])), [0.0, 0.0])
