"""Proximal steps of the core."""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest

from loss_cases import sample
from oracles import optimum
from pygeco import Entries, LowRank, Schatten, Solver, Trace, minimize
from pygeco.algorithm.corrections.proximal import _step, minimize_proximal

SHAPE = (12, 9)


def problem(name, shape=SHAPE, share=0.8, seed=0):
    rng = np.random.default_rng(seed)
    rows, cols = np.nonzero(rng.random(shape) < share)
    loss, _, y = sample(name, len(rows), seed + 1)
    w = rng.uniform(0.5, 2, len(rows))
    return Entries(rows, cols, y, shape, loss=loss, sample_weight=w), (loss, rows, cols, y, w)


class Plain:
    """A span with a value and a slope, and no model of itself."""

    quadratic = False

    def __init__(self, span):
        self.value, self.slope, self.lipschitz = span.value, span.slope, span.lipschitz


@pytest.mark.parametrize("name", ["logistic", "poisson", "huber"])
def test_proximal_without_a_model(name):
    shape, alpha = (3, 3), 0.05
    entries, cells = problem(name, shape)
    span = entries.span(LowRank(np.eye(3), np.ones(3), np.eye(3)))
    start = np.diag(np.arange(3.0))
    B, value = minimize_proximal(Plain(span), start, Trace(alpha))
    best = optimum(name, cells[1:], shape, lambda A: alpha * cp.normNuc(A))
    assert value == pytest.approx(best, rel=1e-5, abs=1e-6)
    again = span.value(B) + alpha * np.linalg.svd(B, compute_uv=False).sum()
    assert value == pytest.approx(again, rel=1e-12)


@pytest.mark.parametrize("shape", [(11, 5), (5, 11)])
@pytest.mark.parametrize("penalty", [Trace(0.02), Schatten(0.01, 1.0), Schatten(0.01, 1.5)])
@pytest.mark.parametrize("loss", ["squared", "huber", "logistic", "poisson"])
def test_a_weighted_norm_costs_no_more_steps_than_the_plain_one(
    loss, penalty, shape, monkeypatch
) -> None:
    rng = np.random.default_rng(0)
    rows, cols = np.nonzero(rng.random(shape) < 0.7)
    values = rng.standard_normal(len(rows))
    values = {"logistic": np.sign(values), "poisson": np.round(values**2)}.get(loss, values)
    entries = Entries(rows, cols, values, shape, loss=loss)
    steps: list[int] = []

    def counted(*given):
        steps.append(1)
        return _step(*given)

    monkeypatch.setattr("pygeco.algorithm.corrections.proximal._step", counted)
    counts = []
    for gamma in (0.0, 0.5, 1.0):
        steps.clear()
        path = minimize(
            entries,
            2,
            Solver(correction="core"),
            penalty=replace(penalty, gamma=gamma),
            random_state=0,
        )
        assert np.all(np.diff([step.objective for step in path]) < 0)
        counts.append(len(steps))
    assert max(counts[1:]) <= 3 * counts[0] + 100
