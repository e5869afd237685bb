"""Offsets of periods against a dense mixed model, whose normal equations NumPy solves."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from pygeco import Entries
from pygeco.bayes.attributes import AttributeValues
from pygeco.bayes.effects import DOUBT_DRAWS
from pygeco.bayes.evidence import fit_evidence
from pygeco.bayes.periods import cut_times
from pygeco.bayes.posterior import Known, Posterior
from pygeco.bayes.priors import FLOAT, Gaussian
from pygeco.bayes.side_information import gather_known
from pygeco.bayes.timing import begin_drift, draw_drift, draw_rows, settle_drift
from pygeco.objectives.entries.half_sweep import Side

RNG = np.random.default_rng(0)
M, N, PERIODS = 12, 9, 4
SPREADS_GIVEN = np.array([0.3, 0.2])
TAU = 2.0


def make(weighted: bool = False):
    """Cells with times, in standard units, and a posterior that says zero everywhere."""
    pick = RNG.permutation(M * N)[:80]
    values, times = RNG.standard_normal(80), RNG.uniform(0, 1, 80)
    weights = RNG.uniform(0.5, 2, 80) if weighted else None
    data = Entries(pick // N, pick % N, values.astype(FLOAT), (M, N), sample_weight=weights)
    order = np.argsort(pick)
    periods = cut_times(data, times[order], PERIODS)
    sides = [Side(np.zeros((k, 0), FLOAT), np.zeros(k, FLOAT)) for k in (M, N)]
    priors = [Gaussian(np.eye(1), np.zeros(1), np.ones(k, bool), True) for k in (M, N)]
    drift = begin_drift(periods, SPREADS_GIVEN)
    return data, periods, Posterior(*sides, *priors, TAU, 0.0, 1.0, drift=drift)


def row_by_row(group, periods):
    codes = group.codes.copy()
    if group.periods.side == "column":
        codes[periods.by_column] = group.codes
    return codes


def solve_densely(data, periods):
    """Mean and covariance of all offsets: (Zᵀ W Z τ + V⁻¹)⁻¹."""
    Z = np.hstack([np.eye(len(g.sizes))[row_by_row(g, periods)] for g in periods.groups])
    v = np.repeat(SPREADS_GIVEN, [len(g.sizes) for g in periods.groups])
    w = data.by_row.weights if data.weighted else np.ones(data.size)
    covariance = np.linalg.inv(TAU * Z.T @ (w[:, None] * Z) + np.diag(1 / v))
    return covariance @ (TAU * Z.T @ (w * data.by_row.values)), covariance


@pytest.mark.parametrize("weighted", [False, True])
def test_offsets_settle_where_the_normal_equations_say(weighted):
    data, periods, now = make(weighted)
    for _ in range(60):
        now = replace(now, drift=settle_drift(data, now, periods).drift)
    found = np.concatenate([part.mean for part in now.drift.offsets])
    assert np.allclose(found, solve_densely(data, periods)[0], atol=1e-6)


def test_draws_have_the_mean_and_the_spread_of_the_exact_posterior(monkeypatch):
    data, periods, now = make()
    spreads = iter(np.tile(SPREADS_GIVEN, 1500))
    monkeypatch.setattr("pygeco.bayes.timing.draw_spread", lambda *_: (next(spreads), 0.0))
    rng, draws, means = np.random.default_rng(1), [], []
    for _ in range(1500):
        new = draw_drift(data, now, periods, 0.0, rng)
        now = replace(now, drift=new.drift)
        draws.append(np.concatenate([part.mean for part in new.drift.offsets]))
        means.append(np.concatenate([part.mean for part in new.means.offsets]))
    mean, covariance = solve_densely(data, periods)
    sure = 5 * np.sqrt(np.diag(covariance) / 500)  # draws follow each other: fewer count
    assert np.all(np.abs(np.mean(draws, axis=0) - mean) < sure)
    assert np.all(np.abs(np.mean(means, axis=0) - mean) < sure)
    assert np.allclose(np.var(draws, axis=0), np.diag(covariance), rtol=0.25)


def make_drifting(size: float, seed: int = 0):
    """Ratings of 60 × 40, whose columns drift from one of six periods to the next."""
    rng = np.random.default_rng(seed)
    m, n = 60, 40
    pick = rng.permutation(m * n)[:1500]
    rows, cols = pick // n, pick % n
    times = rng.integers(0, 6, len(rows)) + 0.5
    moves = size * rng.standard_normal((n, 6))
    taste = rng.standard_normal(m)[:, None] * rng.standard_normal(n)
    values = (
        taste[rows, cols] + moves[cols, times.astype(int)] + 0.3 * rng.standard_normal(len(rows))
    )
    entries = Entries(rows, cols, values, (m, n))
    order = np.argsort(pick)
    return entries, times[order], moves


def test_a_drift_of_columns_is_found_and_one_of_rows_is_not():
    entries, times, moves = make_drifting(0.8)
    found = fit_evidence(entries, rank=5, known=Known(periods=cut_times(entries, times, 6)))
    p = found.posterior
    assert [part.periods.side for part in p.drift.offsets] == ["column"]
    part = p.drift.offsets[0]
    assert part.spread * p.scale**2 == pytest.approx(0.64, rel=0.4)
    # An offset of a column itself and the mean of its drift are one.
    wanted = moves - moves.mean(axis=1, keepdims=True)
    mean = np.zeros_like(moves)
    mean[part.lines, part.numbers] = p.scale * part.mean
    mean -= mean.mean(axis=1, keepdims=True)
    assert np.sqrt(np.mean((mean - wanted) ** 2)) < 0.25


def test_the_cells_of_some_rows_tell_the_same_variances(monkeypatch):
    entries, times, _ = make_drifting(0.8)
    known = Known(periods=cut_times(entries, times, 6))
    seen = []

    def draw_and_see(*given):
        seen.append(draw_rows(*given))
        return seen[-1]

    monkeypatch.setattr("pygeco.bayes.timing.MAX_CHAIN_CELLS", 700)
    monkeypatch.setattr("pygeco.bayes.sampling.draw_rows", draw_and_see)
    p = fit_evidence(entries, rank=5, known=known).posterior
    ((part, now, some),) = seen
    rows = np.unique(part.rows())
    assert 700 <= part.size < 760
    assert np.array_equal(np.flatnonzero(now.row_prior.some), rows)
    mask = np.isin(entries.rows(), rows)
    whole = entries.standardize(p.mean, p.scale, FLOAT)
    assert np.array_equal(part.by_row.values, whole.by_row.values[mask])
    for group, whole in zip(some.periods.groups, known.periods.groups, strict=True):
        own = row_by_row(group, some.periods)
        wanted = row_by_row(whole, known.periods)[mask]
        assert np.array_equal(group.lines[own], whole.lines[wanted])
        assert np.array_equal(group.numbers[own], whole.numbers[wanted])
        assert np.array_equal(group.sizes, np.bincount(own))
    (part,) = p.drift.offsets
    assert part.periods.side == "column"
    assert len(part.mean) == len(known.periods.groups[1].sizes)  # of all cells
    assert part.spread * p.scale**2 == pytest.approx(0.64, rel=0.4)


def test_where_time_says_nothing_the_fit_is_the_fit_without():
    entries, times, _ = make_drifting(0.0)
    plain = fit_evidence(entries, rank=5).posterior
    found = fit_evidence(entries, rank=5, known=Known(periods=cut_times(entries, times))).posterior
    assert found.drift is None
    assert found.tau == plain.tau
    assert np.array_equal(found.rows.factor, plain.rows.factor)


def test_attributes_and_time_are_found_together():
    entries, times, _ = make_drifting(0.8)
    m, n = entries.shape
    level = np.random.default_rng(5).integers(0, 2, m)
    cells = entries.by_row
    rows = np.repeat(np.arange(m), np.diff(cells.pointers))
    told = cells.values + 2.0 * level[rows]
    entries = Entries(rows, cells.indices, told, (m, n))
    table = AttributeValues(
        sp.csr_array(np.eye(2, dtype=FLOAT)[level]), np.ones(m, bool), ("level",), (2,)
    )
    known = gather_known(entries, values=(table, None))
    known = known._replace(periods=cut_times(entries, times, 6))
    found = fit_evidence(entries, rank=5, known=known).posterior
    assert [part.periods.side for part in found.drift.offsets] == ["column"]
    (effect,) = found.row_prior.effects
    gap = found.scale * np.diff(effect.coefficients[:, -1])[0]
    assert gap == pytest.approx(2.0, rel=0.2)
    assert effect.doubt.shape[1] == DOUBT_DRAWS  # stated anew, after the last sweep
