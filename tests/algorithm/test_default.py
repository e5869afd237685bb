"""What the solver does when it is told nothing, and several pairs a step."""

from dataclasses import replace

import numpy as np
import pytest

from loss_cases import CASES, sample
from oracles import random_low_rank
from pygeco import (
    Dense,
    Entries,
    Features,
    LowRank,
    Quadratic,
    Ridge,
    Schatten,
    Solver,
    Stop,
    Trace,
    guaranteed_gap,
    minimize,
)
from pygeco.algorithm.directions import Pair

SHAPE = (14, 11)


class Exact:
    """Step 4 by the dense SVD."""

    def __call__(self, G, rng):
        P, s, Qt = np.linalg.svd(dense(G))
        return Pair(P[:, 0], Qt[0], float(s[0]), float(s[0]), 0, "singular")


def dense(G):
    return np.column_stack([G.matvec(e) for e in np.eye(G.shape[1])])


def cells(loss="squared", seed=0, share=0.7):
    rng = np.random.default_rng(seed)
    rows, cols = np.nonzero(rng.random(SHAPE) < share)
    chosen, _, y = sample(loss, len(rows), seed + 1)
    return Entries(rows, cols, y, SHAPE, loss=chosen)


def table(loss="squared", seed=0):
    rng = np.random.default_rng(seed)
    Y = rng.standard_normal(SHAPE)
    Y[rng.random(SHAPE) < 0.2] = np.nan
    return Dense(Y, loss)


def features(seed=0):
    rng = np.random.default_rng(seed)
    return Features(rng.standard_normal((30, 6)), rng.standard_normal((30, 5)))


def quadratic(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 6))
    return Quadratic(X, rng.standard_normal(60))


@pytest.mark.parametrize(
    ("objective", "penalty", "expected"),
    [
        (cells(), None, "sweep"),
        (cells(), Ridge(1e-3, gamma=0.5), "sweep"),
        (cells(), Trace(0.02), "sweep"),
        (cells(), Schatten(1e-3, 1.5), "core"),
        (cells("huber"), None, "sweep"),
        (cells("logistic"), Ridge(1e-3), "sweep"),
        (cells("logistic"), None, "core"),
        (cells("logistic"), Ridge(0.0), "core"),
        (cells("poisson"), None, "core"),
        (cells("custom"), None, "sweep"),  # a loss of the user's own predicts its target
        (table(), None, "sweep"),
        (table("huber"), None, "sweep"),
        (features(), None, "core"),
        (quadratic(), Ridge(1e-3), "core"),
    ],
)
def test_auto_is_the_correction_that_suits(objective, penalty, expected) -> None:
    paths = [
        minimize(objective, 3, solver, penalty=penalty, random_state=0)
        for solver in (None, Solver(correction=expected))
    ]
    for mine, named in zip(*paths, strict=True):
        assert mine.objective == named.objective
        np.testing.assert_array_equal(mine.A.U, named.A.U)
    assert Solver().correction == "auto"
    assert Solver.paper().correction == "core"


PAIRS = [
    (cells(), Solver(correction="sweep"), None),
    (cells(), Solver(correction="core", replacements=2), None),
    (cells(), Solver(correction="diagonal", signs=True), None),
    (cells("huber"), Solver(signs=True), Ridge(1e-3)),
    (cells("logistic"), Solver(), Ridge(1e-3)),
    (table(), Solver(refine=True), None),
    (features(), Solver(), None),
    (quadratic(), Solver(), None),
]


# All at once with every case, two or three with every other.
COUNTS = [(*case, pairs) for t, case in enumerate(PAIRS) for pairs in (2 + t % 2, 50)]


@pytest.mark.parametrize(("objective", "solver", "penalty", "pairs"), COUNTS)
def test_several_pairs_keep_every_law_of_one(objective, solver, penalty, pairs) -> None:
    rank = min(5, *objective.shape)
    solver = replace(solver, pairs=pairs, direction=Exact())
    path = minimize(objective, rank, solver, penalty=penalty, random_state=0)
    ranks = [step.rank for step in path]
    assert ranks == sorted(set(ranks))
    assert ranks[-1] == rank
    assert len(ranks) < rank
    before = LowRank.zero(objective.shape)
    value = objective.value(before)
    for step in path:
        best = best_along_the_leading_pair(objective, before, penalty)
        assert step.objective <= min(value, best) * (1 + 1e-9)
        G = dense(objective.gradient(step.A))
        if penalty is not None:
            G = G + 2 * penalty.quadratic * step.A.to_dense()
        assert step.certificate.sigma == pytest.approx(np.linalg.norm(G, 2), rel=1e-8, abs=1e-12)
        before, value = step.A, step.objective


def best_along_the_leading_pair(objective, A, penalty):
    """min over η of (R + h)(A + η u vᵀ), (u, v) the leading pair: all that Theorem 1 asks."""
    G = dense(objective.gradient(A)) + (
        0 if penalty is None else 2 * penalty.quadratic * A.to_dense()
    )
    P, _, Qt = np.linalg.svd(G)
    values = []
    for eta in -np.geomspace(1e-4, 100, 60):
        moved = LowRank(
            np.column_stack([A.U, P[:, 0]]), np.append(A.s, eta), np.column_stack([A.V, Qt[0]])
        ).svd()
        h = 0.0 if penalty is None else penalty.value(moved.s)
        values.append(objective.value(moved) + h)
    return min(values)


def test_theorem_1_counts_steps_of_any_number_of_pairs() -> None:
    entries = cells(seed=3)
    other = LowRank.from_dense(2 * random_low_rank(SHAPE, 3).to_dense())
    path = minimize(entries, 9, Solver(pairs=4, direction=Exact()), random_state=0)
    for steps, step in enumerate(path, 1):
        gap = guaranteed_gap(other.s.sum(), steps, smoothness=entries.smoothness)
        assert step.objective <= entries.value(other) + gap


def test_pairs_of_a_symmetric_objective_stay_symmetric() -> None:
    path = minimize(quadratic(), 5, Solver(pairs=3), random_state=0)
    for step in path:
        A = step.A.to_dense()
        np.testing.assert_allclose(A, A.T, atol=1e-10)


@pytest.mark.parametrize("gamma", [0.0, 0.5])
def test_pairs_reach_the_same_trace_norm_optimum(gamma) -> None:
    entries, penalty = cells(seed=5), Trace(0.02, gamma)
    one, more = (
        minimize(entries, 11, Solver(pairs=k), penalty=penalty, random_state=0) for k in (1, 4)
    )
    assert one.stop is more.stop is Stop.OPTIMAL
    assert more[-1].objective == pytest.approx(one[-1].objective, rel=2e-6)
    assert len(more) < len(one)


@pytest.mark.parametrize("loss", ["logistic", "huber", "ordinal", "poisson"])
def test_weighted_ridge_of_any_loss_is_certified_near_its_optimum(loss) -> None:
    """At full rank the problem is convex: the sweeps' own certificate must be nearly closed."""
    entries, penalty = cells(loss, seed=6), Ridge(0.01, gamma=1.0)
    sweep, core = (
        minimize(entries, 11, Solver(correction=name), penalty=penalty, random_state=0)[-1]
        for name in ("sweep", "core")
    )
    assert sweep.objective <= core.objective * (1 + 1e-6)
    assert sweep.gap < 0.05 * sweep.objective


@pytest.mark.parametrize("name", CASES)
def test_a_loss_that_says_it_is_never_negative_is_not(name) -> None:
    loss, z, y = sample(name, 2000, 0)
    scale = np.random.default_rng(1).choice([0.01, 1, 5], len(z))
    values = loss.value(z * scale, y)
    assert not loss.nonnegative or values.min() >= 0
    assert loss.nonnegative == (name not in ("poisson", "poisson-capped", "custom"))


def test_a_loss_that_may_be_negative_proves_nothing() -> None:
    path = minimize(cells("poisson"), 11, penalty=Trace(0.05), random_state=0)
    assert path.stop is not Stop.OPTIMAL


@pytest.mark.parametrize("pairs", [0, -1, 1.5])
def test_a_bad_number_of_pairs_is_named(pairs) -> None:
    with pytest.raises(ValueError, match=r"^pairs: expected an integer of at least 1"):
        Solver(pairs=pairs)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", ["entries", "dense"])
@pytest.mark.parametrize("values", [(2.0, 5.0), (1.0, -3.0, 2.0)])
def test_groups_of_cells_that_share_nothing_keep_to_their_size(values, kind, seed) -> None:
    """A component of one group has rounding in another, whose inverse must not be asked for."""
    k, Y = np.arange(len(values)), np.full((len(values), len(values)), np.nan)
    Y[k, k] = values
    objective = Entries(k, k, values) if kind == "entries" else Dense(Y)
    path = minimize(objective, len(values), random_state=seed)
    np.testing.assert_allclose(np.diag(path.A.to_dense()), values, rtol=1e-6)
    assert np.abs(path.A.to_dense()).max() < 1e3 * np.abs(values).max()
