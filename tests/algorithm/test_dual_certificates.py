"""Scaled dual points: certificates of every loss, penalty and norm against true optima by CVXPY."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

from loss_cases import CASES, CONJUGATE, sample
from measured_cases import features
from oracles import best, optimum, problem, random_low_rank
from pygeco import (
    Custom,
    Dense,
    Entries,
    Features,
    LowRank,
    Ridge,
    Schatten,
    Solver,
    Stop,
    Trace,
    duality_gap,
    minimize,
    trace_path,
)
from pygeco.algorithm.certificates import certify
from pygeco.algorithm.directions import Lanczos

SHAPE = (5, 4)
SLACK = 1e-6  # what CVXPY may be off
STATED = [name for name in CASES if name != "poisson-capped"]


def cells_of(name, seed=0):
    rng = np.random.default_rng(seed)
    rows, cols = np.nonzero(rng.random(SHAPE) < 0.8)
    loss, _, y = sample(name, len(rows), seed + 1)
    w = rng.uniform(0.5, 2, len(rows))
    return loss, (rows, cols, y, w)


def certified(objective, A, penalty=None):
    """The certificate at any matrix, from a search that is exact on matrices this small."""
    G = objective.gradient(A)
    pair = Lanczos(1e-9, 100)(G, np.random.default_rng(0))
    return certify(objective, A, G, pair, penalty=penalty)


@pytest.mark.parametrize("name", STATED)
def test_every_loss_is_bounded_far_from_the_optimum_and_near_it(name) -> None:
    """Entries and Dense alike; with R ≥ 0 never above R, and never above what convexity says."""
    loss, (rows, cols, y, w) = cells_of(name)
    entries = Entries(rows, cols, y, SHAPE, loss=loss, sample_weight=w)
    table, weights = np.full(SHAPE, np.nan), np.zeros(SHAPE)
    table[rows, cols], weights[rows, cols] = y, w
    dense = Dense(table, loss, sample_weight=weights)
    fitted = minimize(entries, 2, Solver(correction="core"), random_state=0).A
    matrices = [LowRank.zero(SHAPE), random_low_rank(SHAPE, 2).svd(), fitted]
    for t in (0.3, 2.0, 40.0):
        least = optimum(name, (rows, cols, y, w), SHAPE, trace_norm=t)
        for A in matrices:
            found = certified(entries, A)
            value, gap = entries.value(A), found.gap(t)
            assert value - least <= gap + SLACK
            assert gap <= max(0.0, found.inner + found.upper * t) + 1e-12 * abs(value)
            if loss.nonnegative:
                assert gap <= value * (1 + 1e-12)
            assert certified(dense, A).gap(t) == pytest.approx(gap, rel=1e-3, abs=1e-9)


@pytest.mark.parametrize("name", [name for name in CONJUGATE if name != "squared"])
def test_the_search_finds_nearly_the_best_scaling(name) -> None:
    """Against ℓ* summed over the cells at a thousand scalings."""
    loss, (rows, cols, y, w) = cells_of(name, 1)
    entries = Entries(rows, cols, y, SHAPE, loss=loss, sample_weight=w)
    for A in (random_low_rank(SHAPE, 2, 5).svd(), minimize(entries, 1, random_state=0).A):
        found, share = certified(entries, A), w / w.sum()
        slope = loss.slope(A.entries(rows, cols), y)
        bounds = [
            entries.value(A)
            + share @ loss.conjugate(c * slope, y)
            + c * found.upper * found.trace_norm
            for c in np.linspace(0, 1, 1000)
        ]
        assert (1 - 1e-5) * min(bounds) <= found.gap() <= 1.02 * min(bounds)


def test_squares_have_it_in_closed_form() -> None:
    """R (1 − max(0, 1 − t σ₁ / 2R)²) after an exact correction."""
    case = problem((7, 6), 0.8)
    step = minimize(case.entries, 2, Solver(correction="core"), random_state=0)[-1]
    assert step.certificate.inner == pytest.approx(0, abs=1e-10)
    R, upper = step.objective, step.certificate.upper
    for t in (0.0, 0.1, 1.0, 5.0, 1e3):
        expected = R * (1 - max(0.0, 1 - t * upper / (2 * R)) ** 2)
        assert step.certificate.gap(t) == pytest.approx(expected, abs=1e-9)
    assert step.certificate.gap(np.inf) == pytest.approx(R)


@pytest.mark.parametrize("penalty", [Ridge(0.02), Trace(0.05), Schatten(0.01, 1.0)], ids=str)
def test_penalties_are_scaled_along(penalty) -> None:
    """At the best and at wild matrices; over all matrices too, where the penalty bounds them."""
    case = problem((6, 5), 0.6, weights=True)
    wild = random_low_rank((6, 5), 2).svd()
    last = minimize(case.entries, 3, Solver(correction="core"), penalty=penalty, random_state=0).A
    for A in (wild, last, LowRank.zero((6, 5))):
        G = case.entries.gradient(A)
        whole = LowRank.from_dense(
            case.gradient(A.to_dense()) + (2 * 0.02 * A.to_dense() if penalty.smooth else 0.0)
        )
        pair = Lanczos(1e-9, 100)(whole, np.random.default_rng(0))
        found = certify(case.entries, A, G, pair, penalty=penalty)
        value = case.value(A.to_dense()) + penalty.value(A.s)
        for t in (0.5, 3.0, 50.0):
            assert value - best(case, penalty, trace_norm=t) <= found.gap(t) + SLACK
            assert found.gap(t) <= value + 1e-12
        assert value - best(case, penalty) <= found.gap(np.inf) + SLACK


def test_an_excess_is_claimed_only_where_r_cannot_be_negative() -> None:
    """Poisson: the objective is negative, and value / α bounds no norm."""
    rng = np.random.default_rng(0)
    rows, cols = np.nonzero(np.ones(SHAPE))
    y = rng.poisson(12.0, len(rows)).astype(float)
    entries = Entries(rows, cols, y, SHAPE, loss="poisson")
    path = minimize(entries, 1, Solver(correction="core"), penalty=Trace(0.02), random_state=0)
    step = path[-1]
    cells = rows, cols, y, np.ones(len(y))
    least = optimum("poisson", cells, SHAPE, lambda A: 0.02 * cp.normNuc(A))
    assert step.objective < 0
    assert step.objective - least > 1e-3
    assert step.certificate.excess(step.objective) == np.inf
    assert step.objective - least <= step.certificate.gap(np.inf) + SLACK  # the conjugate knows


@pytest.mark.parametrize("penalty", [Ridge(0.02, 1.0), Trace(0.05, 0.5)], ids=str)
def test_with_gamma_the_type_says_which_norm(penalty) -> None:
    rng = np.random.default_rng(2)
    seen = rng.random((8, 6)) < np.linspace(0.15, 1.0, 8)[:, None]
    seen[0, 0] = True
    rows, cols = np.nonzero(seen)
    Y = np.where(seen, 3 * rng.standard_normal((8, 6)), 0.0)
    entries = Entries(rows, cols, Y[rows, cols], (8, 6))
    d, c = (
        np.maximum(count, 1.0) ** penalty.gamma / np.mean(np.maximum(count, 1.0) ** penalty.gamma)
        for count in (seen.sum(axis=1), seen.sum(axis=0))
    )
    A = cp.Variable((8, 6))
    inside = cp.multiply(np.sqrt(np.outer(d, c)), A)
    h = 0.02 * cp.sum_squares(inside) if penalty.smooth else 0.05 * cp.normNuc(inside)
    goal = cp.sum_squares(cp.multiply(seen, A - Y)) / seen.sum() + h
    for step in minimize(entries, 2, penalty=penalty, random_state=0):
        found = step.certificate
        X = step.A.to_dense()
        own = np.linalg.norm(np.sqrt(np.outer(d, c)) * X, "nuc")
        assert found.weighted_norm == pytest.approx(own, rel=1e-6)
        assert found.trace_norm == pytest.approx(np.linalg.norm(X, "nuc"), rel=1e-6)
        assert "weighted" in found.norm
        assert step.gap == found.gap(weighted_norm=found.weighted_norm)
        for t in (2.0, 10.0):
            plain = cp.Problem(cp.Minimize(goal), [cp.normNuc(A) <= t]).solve(solver=cp.CLARABEL)
            assert step.objective - plain <= found.gap(trace_norm=t) + SLACK
            within = cp.Problem(cp.Minimize(goal), [cp.normNuc(inside) <= t])
            least = within.solve(solver=cp.CLARABEL)
            assert step.objective - least <= found.gap(weighted_norm=t) + SLACK
        with pytest.raises(ValueError, match=r"^weighted_norm: is given beside"):
            found.gap(1.0, weighted_norm=1.0)
    plain = minimize(entries, 1, random_state=0)[-1].certificate
    assert plain.norm == "trace norm"
    with pytest.raises(ValueError, match=r"^weighted_norm: this certificate is of the plain"):
        plain.gap(weighted_norm=1.0)


def test_a_table_says_where_nothing_is_known() -> None:
    rng = np.random.default_rng(0)
    rows, cols = np.nonzero(rng.random((14, 12)) < 0.6)
    noisy = Entries(rows, cols, rng.standard_normal(len(rows)), (14, 12))
    path = minimize(noisy, 6, Solver(correction="core"), random_state=0)
    vacuous = [step.certificate.vacuous for step in path]
    assert any(vacuous)
    for step, line, nothing in zip(path, repr(path).splitlines()[1:], vacuous, strict=False):
        assert ("nothing known" in line) == nothing == (step.gap >= step.objective)
    proved = minimize(noisy, 12, penalty=Trace(0.05), random_state=0)
    assert not proved[-1].certificate.vacuous


def imitation(case, **settings):
    return Custom(
        case.shape,
        lambda A: case.value(A.to_dense()),
        lambda A: case.gradient(A.to_dense()),
        **settings,
    )


def features_best(case, alpha) -> float:
    A = cp.Variable(case.shape)
    flat = case.tensor.reshape(len(case.w), case.outputs, -1)
    vec = cp.vec(A, order="C")
    w = case.w / case.w.sum()
    loss = sum(w @ cp.square(flat[:, k] @ vec - case.y[:, k]) for k in range(case.outputs))
    return float(cp.Problem(cp.Minimize(loss + alpha * cp.normNuc(A))).solve(solver=cp.CLARABEL))


@pytest.mark.parametrize("alpha", [0.2, 0.02])
def test_custom_and_features_reach_the_trace_norm_optimum(alpha) -> None:
    """Rank 3 of 3 × 6: cores alone would stay within three of the six directions."""
    case = features("squared", shape=(3, 6))
    least = features_best(case, alpha)
    for objective in (case.objective, imitation(case, nonnegative=True), imitation(case)):
        path = minimize(objective, 3, penalty=Trace(alpha), random_state=0)
        assert path[-1].objective == pytest.approx(least, rel=2e-6)
        known = getattr(objective, "nonnegative", False)
        assert path.stop is Stop.OPTIMAL or not known
        core = minimize(
            objective, 3, Solver(correction="core"), penalty=Trace(alpha), random_state=0
        )
        assert core[-1].objective >= path[-1].objective * (1 - 1e-9)
        again = minimize(objective, 3, penalty=Trace(alpha), start=core)
        assert again[-1].objective == pytest.approx(least, rel=2e-6)


def test_the_path_of_trace_norms_takes_any_objective() -> None:
    case = features("squared", shape=(3, 6))
    given = [0.3, 0.05]
    for objective in (case.objective, imitation(case, nonnegative=True)):
        path = trace_path(objective, alphas=given)
        for step in path:
            least = features_best(case, step.alpha)
            assert step.objective == pytest.approx(least, rel=2e-6)
            assert step.objective - least <= step.gap <= 2e-6 * step.objective
    unknown = trace_path(imitation(case), alphas=given, rank=1)
    assert unknown[-1].gap == np.inf  # R may be anything elsewhere
    assert "nothing known" in repr(unknown)
    assert trace_path(case.objective, count=2)[0].rank == 0


@pytest.mark.parametrize("name", ["huber", "logistic", "poisson"])
def test_the_duality_gap_of_other_losses(name) -> None:
    loss, (rows, cols, y, w) = cells_of(name)
    entries = Entries(rows, cols, y, SHAPE, loss=loss, sample_weight=w)
    for alpha in (0.02, 0.1):
        least = optimum(name, (rows, cols, y, w), SHAPE, lambda A, a=alpha: a * cp.normNuc(A))
        for A in (LowRank.zero(SHAPE), random_low_rank(SHAPE, 2).svd()):
            found = duality_gap(entries, A, Trace(alpha))
            assert found.objective - least <= found.gap + SLACK
            assert np.isfinite(found.gap)
        if loss.nonnegative:  # sweeps stop by the proof; Poisson's have none
            end = minimize(entries, 4, penalty=Trace(alpha), random_state=0).A
            assert duality_gap(entries, end, Trace(alpha)).gap <= 1e-4 * least


def test_what_is_not_convex_is_not_minimized() -> None:
    with pytest.raises(ValueError, match=r"^value: is not convex"):
        Custom((4, 3), lambda A: -float(np.sum(A.to_dense() ** 2)), lambda A: -2 * A.to_dense())
    with pytest.raises(ValueError, match=r"^nonnegative: value is -"):
        Custom(
            (4, 3),
            lambda A: float(np.sum(A.to_dense() ** 2)) - 1,
            lambda A: 2 * A.to_dense(),
            nonnegative=True,
        )
    assert "convex objective" in Stop.STATIONARY.advice  # a claim about convex ones alone


def test_full_rank_promises_no_higher_one() -> None:
    case = features("squared", shape=(3, 6))
    path = minimize(Features(case.objective.X, case.y), 3, random_state=0)
    assert path.stop is Stop.RANK
    assert "where the shape allows it" in path.stop.advice
