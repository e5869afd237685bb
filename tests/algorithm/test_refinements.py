"""Descent over both factors, alone and with a free linear part."""

import numpy as np
import pytest

from measured_cases import CASES, features, quadratic, random_matrix
from oracles import problem
from pygeco import Features, LowRank, Quadratic, Ridge, Schatten, Solver, Stop, Trace, minimize
from pygeco.algorithm.joint import minimize_jointly
from pygeco.algorithm.refinements import Free, refine
from pygeco.losses import Multinomial
from pygeco.objectives import validation


def value(objective, A, penalty):
    return objective.value(A) + (penalty.value(np.abs(A.svd().s)) if penalty else 0.0)


# Two penalties for each case, so that each meets every kind.
PENALTIES = (None, Ridge(0.02), Trace(0.02))
PAIRS = [(name, PENALTIES[(t + k) % 3]) for t, name in enumerate(CASES) for k in (0, 1)]


@pytest.mark.parametrize(("name", "penalty"), PAIRS, ids=str)
def test_it_ends_where_no_factor_can_improve(name, penalty):
    """At a stationary point G V and GᵀU vanish, G the gradient of R + h."""
    case = CASES[name]
    if penalty is None and case.loss in ("logistic", "multinomial"):
        penalty = Ridge(1e-3)  # labels that a rank separates have no minimum
    A = random_matrix(case, min(2, *case.shape))
    found = refine(case.objective, A, penalty).A
    assert found.rank == A.rank
    assert value(case.objective, found, penalty) < value(case.objective, A, penalty)
    D, s = found.to_dense(), found.s
    G = case.gradient(D)
    if isinstance(penalty, Trace):
        slope = np.full(len(s), penalty.alpha)
    else:
        slope = 0 * s if penalty is None else penalty.slope(s)
    left = G @ found.V + found.U * slope
    right = G.T @ found.U + found.V * slope
    scale = np.linalg.norm(case.gradient(0 * D))
    assert np.linalg.norm(left * s) <= 1e-3 * scale
    assert np.linalg.norm(right * s) <= 1e-3 * scale


def test_a_penalty_that_it_cannot_handle_is_left_alone():
    case = CASES["features"]
    A = random_matrix(case, 2)
    assert refine(case.objective, A, Schatten(0.1, 1.5)).A is A


@pytest.mark.parametrize("limit", [0, 1000])
def test_columns_of_any_unit_are_alike(monkeypatch, limit):
    """In units that differ by 1e12 the descent ends where it does in equal ones."""
    monkeypatch.setattr(validation, "MAX_GRAM_SIZE", limit)
    rng = np.random.default_rng(0)
    X, units = rng.standard_normal((60, 7)), np.logspace(-6, 6, 7)
    Y = X @ rng.standard_normal((7, 4)) + rng.standard_normal((60, 4))
    A = LowRank.from_dense(rng.standard_normal((4, 7)), 2)
    even = refine(Features(X, Y, intercept=True), A, None)
    objective = Features(X * units, Y, intercept=True)
    found = refine(objective, LowRank(A.U, A.s, A.V / units[:, None]), None)
    expected = Features(X, Y, intercept=True).value(even.A)
    assert objective.value(found.A) == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("size", [1e-9, 1e9])
def test_small_numbers_are_fitted_as_well_as_large_ones(size):
    case = features("squared", intercept=True)
    A = random_matrix(case, 2)
    one = refine(case.objective, A, None).A
    other = Features(case.objective.X, case.y * size, intercept=True)
    found = refine(other, LowRank(A.U, A.s * size, A.V), None).A
    assert other.value(found) == pytest.approx(case.objective.value(one) * size**2, rel=1e-7)


@pytest.mark.parametrize("size", [1e-8, 1e8])
@pytest.mark.parametrize("loss", ["squared", "absolute"])
@pytest.mark.parametrize("intercept", [False, True])
def test_targets_of_any_size_take_the_same_way(size, loss, intercept):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((40, 6))
    S, W = rng.standard_normal((6, 6)), rng.standard_normal((6, 4))
    outputs, squares = X @ W, np.sum((X @ (S + S.T)) * X, axis=1)
    for kind, y in ((Features, outputs), (Quadratic, squares)):
        y = y + rng.standard_normal(y.shape)
        fits = []
        for unit in (1.0, size):
            objective = kind(X, unit * y, loss, intercept=intercept)
            A = minimize(objective, 2, Solver(correction="core"), random_state=0).A
            found = refine(objective, A, None)
            power = 2 if loss == "squared" else 1
            fits.append((objective.value(found.A) / unit**power, found.passes))
        assert fits[1][0] == pytest.approx(fits[0][0], rel=1e-6)
        if loss == "squared":  # where a loss has kinks, the last bits lead another way
            assert fits[1][1] < 1.5 * fits[0][1]


@pytest.mark.parametrize("loss", ["quantile", "absolute", "smoothed-hinge"])
@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_a_trace_norm_is_minimized_in_any_unit_of_the_features(loss, unit):
    """A trace norm weighs A in its own units: in others it is the same problem."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 8))
    Y = X @ rng.standard_normal((8, 2)) @ rng.standard_normal((2, 5))
    Y = Y + 0.5 * rng.standard_normal(Y.shape)
    Y = np.sign(Y) if loss == "smoothed-hinge" else Y
    one, other = (
        minimize(
            Features(size * X, Y, loss, intercept=True),
            5,
            penalty=Trace(0.003 * size),
            random_state=0,
        )
        for size in (1.0, unit)
    )
    assert (one.stop, other.stop) == (Stop.OPTIMAL, Stop.OPTIMAL)
    assert other[-1].objective == pytest.approx(one[-1].objective, rel=2e-6)


@pytest.mark.parametrize("seed", range(6))
def test_a_sample_of_weight_three_takes_the_way_of_three_samples(seed):
    rng = np.random.default_rng(seed)
    X, y, w = rng.random((15, 10)), rng.integers(0, 3, 15), rng.integers(0, 5, 15)
    w[0], X[0] = 0, 1000 * X[0]  # of no sample at all
    weighted = Features(X, y, Multinomial((0, 1, 2)), sample_weight=w, intercept=True)
    rows = np.repeat(X, w, 0), np.repeat(y, w)
    repeated = Features(*rows, Multinomial((0, 1, 2)), intercept=True)
    A = LowRank.from_dense(rng.standard_normal((3, 10)), 2)
    one, other = (refine(objective, A, Ridge(0.01)) for objective in (weighted, repeated))
    assert one.passes == other.passes
    np.testing.assert_allclose(one.A.to_dense(), other.A.to_dense(), atol=1e-7)


def test_observed_cells_too():
    entries = problem(rank=3, noise=0.1).entries
    plain = minimize(entries, 3, random_state=0)
    refined = minimize(entries, 3, Solver(refine=True), random_state=0)
    for before, after in zip(plain, refined, strict=True):
        assert after.objective <= before.objective * (1 + 1e-9)
    assert refined[-1].objective < 0.9 * plain[-1].objective
    assert refined[-1].passes > plain[-1].passes


def test_signs_of_eigenvalues_survive():
    case = quadratic("squared", seed=4)
    found = refine(case.objective, random_matrix(case, 3, seed=2), None).A
    np.testing.assert_array_equal(np.abs(found.U), np.abs(found.V))
    assert np.all(np.diff(found.s) <= 0)


def free_part(X, ridge):
    F = np.column_stack([X, np.ones(len(X))])
    weights = np.full((F.shape[1], 1), ridge)
    weights[-1] = 0.0
    return Free(F, np.zeros((F.shape[1], 1)), weights)


def test_jointly_at_full_rank_is_ridge_on_all_monomials():
    rng = np.random.default_rng(0)
    X, y, alpha = rng.standard_normal((50, 4)), rng.standard_normal(50), 0.05
    found = minimize_jointly(Quadratic(X, y), 4, free_part(X, alpha), penalty=Ridge(alpha))
    a, b = np.triu_indices(4)
    design = np.column_stack([X[:, a] * X[:, b] * np.where(a == b, 1, np.sqrt(2)), X, np.ones(50)])
    lift = alpha * np.eye(design.shape[1])
    lift[-1, -1] = 0
    best = np.linalg.solve(design.T @ design / 50 + lift, design.T @ y / 50)
    expected = np.mean((design @ best - y) ** 2) + best @ lift @ best
    assert found.objectives[-1] == pytest.approx(expected, rel=1e-7)


def test_jointly_never_rises_and_beats_a_held_linear_part():
    rng = np.random.default_rng(1)
    X = rng.exponential(size=(80, 5))  # skewed: squares and linear terms are correlated
    y = np.sign((X @ rng.standard_normal(5)) ** 2 - X @ rng.standard_normal(5) - 1)
    free, penalty = free_part(X, 1e-3), Ridge(1e-3)
    objective = Quadratic(X, y, "logistic")
    found = minimize_jointly(objective, 3, free, penalty=penalty)
    assert list(found.objectives) == sorted(found.objectives, reverse=True)
    assert len(found.objectives) == 4
    c = minimize_jointly(objective, 0, free, penalty=penalty).c
    held = minimize(objective.offset_by(free.F @ c), 3, penalty=penalty, random_state=0)
    held_total = held[-1].objective + float(np.sum(free.ridge * c * c))
    assert found.objectives[-1] < held_total
    z = objective.measure(found.A) + free.F @ found.c
    total = np.mean(np.logaddexp(0, -y * z[:, 0])) + 1e-3 * np.sum(found.A.s**2)
    total += float(np.sum(free.ridge * found.c**2))
    assert found.objectives[-1] == pytest.approx(total, rel=1e-12)


def test_jointly_stops_where_the_linear_part_is_all_there_is():
    X = np.random.default_rng(2).standard_normal((30, 3))
    y = X @ [1.0, -2.0, 0.5] + 3
    found = minimize_jointly(Quadratic(X, y), 3, free_part(X, 0.0))
    np.testing.assert_allclose(found.c[:, 0], [1.0, -2.0, 0.5, 3.0], atol=1e-3)
    assert found.objectives[-1] <= 1e-6


def test_refinement_leaves_an_empty_matrix_alone():
    case = features("squared")
    zero = LowRank.zero(case.shape)
    assert refine(case.objective, zero, None).A.rank == 0


@pytest.mark.parametrize("loss", ["squared", "absolute", "quantile"])
@pytest.mark.parametrize("power", [-100, 40])  # whose fourth roots are powers of two
def test_another_unit_of_the_targets_gives_the_same_bits(loss, power):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((40, 6))
    Y = X @ rng.standard_normal((6, 4)) + rng.standard_normal((40, 4)) + 3
    one, other = (
        minimize(
            Features(X, unit * Y, loss, intercept=True), 2, Solver(refine=True), random_state=0
        ).A
        for unit in (1.0, 2.0**power)
    )
    np.testing.assert_array_equal(other.to_dense(), 2.0**power * one.to_dense())
