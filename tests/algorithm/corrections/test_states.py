"""Corrections as moves between states: what each keeps, drops, refuses, and counts."""

import sys

import numpy as np
import pytest

import pygeco.algorithm.corrections.core
from oracles import problem, random_low_rank, unit
from pygeco import LowRank, Quadratic, Ridge, Schatten, Solver, Stop, Trace, minimize
from pygeco.algorithm.corrections.core import Core, minimize_core
from pygeco.algorithm.corrections.diagonal import Diagonal
from pygeco.algorithm.corrections.factory import make_correction
from pygeco.algorithm.corrections.sweep import Sweep
from pygeco.algorithm.run import find_direction
from pygeco.algorithm.run_values import Run
from pygeco.arrays.newton import descend
from pygeco.objectives import Objective


class Bare(Objective):
    """An objective that states nothing."""


class Counted(Objective):
    """An objective that counts its passes: one for a value, a half-sweep or a product, two for a
    gradient.
    """

    can_sweep, nonnegative = True, False

    def __init__(self, objective):
        self.objective, self.passes = objective, 0
        self.shape, self.smoothness = objective.shape, objective.smoothness
        self.nonnegative = objective.nonnegative

    def value(self, A):
        self.passes += 1
        return self.objective.value(A)

    def half_sweep(self, *args, **kwargs):
        self.passes += 1
        return self.objective.half_sweep(*args, **kwargs)

    def gradient(self, A):
        self.passes += 2
        return CountedGradient(self, self.objective.gradient(A))


class CountedGradient:
    def __init__(self, owner, G):
        self.owner, self.G, self.value, self.shape = owner, G, G.value, G.shape

    def __getattr__(self, name):
        product = getattr(self.G, name)
        if name not in ("matvec", "rmatvec", "matmat", "rmatmat"):
            return product

        def counted(x):
            self.owner.passes += 1
            return product(x)

        return counted


@pytest.mark.parametrize("penalty", [None, Ridge(0.01), Trace(0.02), Trace(0.3)])
def test_sweeps_count_their_passes(penalty) -> None:
    counted = Counted(problem((14, 11), 0.6).entries)
    sweep = Sweep(penalty)
    state = sweep.start(counted, random_low_rank((14, 11), 2))
    assert state.passes == counted.passes == 1
    state = sweep.extend(state, unit(14), unit(11))
    assert state.passes == counted.passes
    G = counted.objective.gradient(state.A)
    P, _, Qt = np.linalg.svd(np.column_stack([G.matvec(e) for e in np.eye(11)]))
    state = sweep.extend(state, P[:, :2], Qt[:2].T)
    assert state.passes == counted.passes
    if state.A.rank > 1:
        state = sweep.shrink(state)
        assert state.passes == counted.passes
    counted.passes = 0
    assert sweep.solve(counted, state.A).passes == counted.passes


@pytest.mark.parametrize("kind", [Core, Diagonal])
def test_spans_count_three_passes_a_column(kind) -> None:
    entries, correction = problem().entries, kind()
    A = random_low_rank((12, 9), 2).svd()
    state = correction.start(entries, A)
    assert state.passes == correction.solve(entries, A).passes == 6
    state = correction.extend(state, unit(12), unit(9))
    assert state.passes == 9
    U, V = np.eye(12)[:, :2], np.eye(9)[:, :2]
    assert correction.extend(state, U, V).passes == 15
    assert correction.shrink(state).passes == 9  # none of it passes over the data


@pytest.mark.parametrize("penalty", [None, Ridge(0.01), Trace(0.05)])
@pytest.mark.parametrize("settings", [{}, {"signs": True, "replacements": 2}, {"pairs": 3}])
def test_the_steps_of_a_swept_path_count_every_pass(penalty, settings) -> None:
    counted = Counted(problem((14, 11), 0.6).entries)
    told = []
    solver = Solver(correction="sweep", **settings)
    path = minimize(
        counted,
        11 if isinstance(penalty, Trace) else 6,
        solver,
        penalty=penalty,
        random_state=0,
        callback=lambda t: told.append(t),
    )
    assert path.stop is (Stop.OPTIMAL if isinstance(penalty, Trace) else Stop.RANK)
    zero = find_direction(run(counted, solver, penalty), LowRank.zero((14, 11)))
    first = counted.passes - sum(t.passes for t in told) - (2 + zero.pair.passes)  # asked above
    assert first == 1 + 2 + zero.pair.passes  # R(0), the gradient there, and its search


def run(objective, solver, penalty):
    return Run(
        objective, solver, make_correction(solver.correction, penalty), penalty, 6, 0, 0.0, 0.0
    )


@pytest.mark.parametrize(
    ("make", "advice"),
    [
        (lambda: Diagonal(Trace(0.1)), "use Ridge, or correction='core'."),
        (lambda: Sweep(Schatten(0.1, 1.5)), "Trace with correction='sweep', or correction='core'."),
        (lambda: Sweep().start(Bare(), LowRank.zero((3, 3))), "use correction='core'."),
        (
            lambda: make_correction("qr", None),
            "use 'auto', 'core', 'descent', 'diagonal' or 'sweep'.",
        ),
    ],
)
def test_errors_say_what_to_do(make, advice) -> None:
    with pytest.raises(ValueError, match=r"^(penalty|correction): ") as error:
        make()
    assert str(error.value).endswith(advice)


def test_shrinking_turns_the_spans_that_are_kept() -> None:
    """Better than the core minimized over what zeroing the weakest value leaves."""
    for seed in range(6):
        case = problem((15, 10), 0.6, seed=seed)
        core = Core()
        state = core.solve(case.entries, random_low_rank((15, 10), 4, seed).svd())
        zeroed = core.solve(case.entries, state.A.truncate(3))
        found = core.shrink(state)
        assert found.A.rank == 3
        assert found.value < zeroed.value * (1 - 1e-6)
        # Each side is nearly the best there is, inside the wide spans, given the other.
        left, right = state.A.U.T @ found.A.U, state.A.V.T @ found.A.V
        for one, other in ((left, np.eye(4)), (np.eye(4), right)):
            wide = LowRank(state.A.U @ one, np.zeros(len(one.T)), state.A.V @ other)
            _, value = minimize_core(
                case.entries.span(wide), np.zeros((len(one.T), len(other.T))), None
            )
            assert found.value <= value * (1 + 1e-3)


@pytest.mark.parametrize("kind", [Core, Diagonal])
@pytest.mark.parametrize("loss", ["squared", "huber", "logistic"])
def test_a_state_is_stationary_over_its_spans(kind, loss) -> None:
    """Newton goes on until the slope over the spans vanishes, for any loss."""
    case = problem((12, 9), 0.8)
    rows, cols = np.nonzero(case.W)
    y = case.Y[rows, cols]
    y = np.where(y > 0, 1.0, -1.0) if loss == "logistic" else y
    entries = type(case.entries)(rows, cols, y, (12, 9), loss=loss)
    penalty = Ridge(0.05)
    state = kind(penalty).solve(entries, random_low_rank((12, 9), 3).svd())
    A = state.A
    G = np.column_stack([entries.gradient(A).matvec(e) for e in np.eye(9)])
    G = A.U.T @ (G + 0.1 * A.to_dense()) @ A.V
    np.testing.assert_allclose(G if kind is Core else np.diag(G), 0, atol=1e-6)


@pytest.mark.parametrize("penalty", [Ridge(0.05), Schatten(0.05, 3.0)])
def test_the_gradient_with_a_smooth_penalty_as_an_operator(penalty) -> None:
    case, A = problem(), random_low_rank((12, 9), 3).svd()
    solver = Solver(correction="core", signs=True)
    G = find_direction(run(case.entries, solver, penalty), A).known_gradient
    expected = case.gradient(A.to_dense()) + (A.U * penalty.slope(A.s)) @ A.V.T
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((9, 2)), rng.standard_normal((12, 2))
    assert G.shape == (12, 9)
    np.testing.assert_allclose(G.matmat(X), expected @ X, atol=1e-12)
    np.testing.assert_allclose(G.rmatmat(Y), expected.T @ Y, atol=1e-12)
    np.testing.assert_allclose(G.matvec(X[:, 0]), expected @ X[:, 0], atol=1e-12)
    np.testing.assert_allclose(G.rmatvec(Y[:, 0]), expected.T @ Y[:, 0], atol=1e-12)


@pytest.mark.parametrize("kind", [Core, Diagonal])
def test_one_newton_step_ends_a_quadratic_problem(kind, monkeypatch) -> None:
    steps = []
    monkeypatch.setattr(
        sys.modules[kind.__module__],
        "descend",
        lambda objective, newton, x, most: (
            steps.append(most),
            descend(objective, newton, x, most),
        )[1],
    )
    case = problem()
    kind(Ridge(0.01)).solve(case.entries, random_low_rank((12, 9), 3).svd())
    assert steps == [1]


def test_a_symmetric_state_knows_its_value_and_its_span() -> None:
    rng = np.random.default_rng(0)
    objective = Quadratic(rng.standard_normal((40, 6)), rng.standard_normal(40))
    core, U = Core(), np.linalg.qr(rng.standard_normal((6, 3)))[0]
    narrow = core.solve(objective, LowRank(U[:, :2], np.ones(2), U[:, :2]))
    wide = core.extend(narrow, U[:, 2], -U[:, 2])
    for state in (narrow, wide):
        assert state.value == pytest.approx(objective.value(state.A), rel=1e-12)
        assert state.span.value(np.diag(state.A.s)) == pytest.approx(state.value, rel=1e-12)
    smaller = core.shrink(wide)
    assert smaller.A.rank == 2
    assert smaller.value == pytest.approx(objective.value(smaller.A), rel=1e-12)


@pytest.mark.parametrize("penalty", [Ridge(0.02), Trace(0.01), Schatten(0.01, 3.0)])
def test_with_a_penalty_shrinking_keeps_the_stronger_spans(penalty) -> None:
    """Spans are turned inside the wider ones only where that is known to lower the objective."""
    core = Core(penalty)
    state = core.solve(problem((15, 10), 0.6).entries, random_low_rank((15, 10), 4).svd())
    smaller = core.shrink(state).A
    for kept, wide in ((smaller.U, state.A.U[:, :3]), (smaller.V, state.A.V[:, :3])):
        np.testing.assert_allclose(wide @ (wide.T @ kept), kept, atol=1e-12)


def test_shrinking_turns_the_spans_in_more_rounds_than_one(monkeypatch) -> None:
    gains = []
    for seed in range(10):
        case = problem((15, 10), 0.4, seed=seed)
        state = Core().solve(case.entries, random_low_rank((15, 10), 4, seed).svd())
        values = []
        for rounds in (1, 8):
            monkeypatch.setattr(pygeco.algorithm.corrections.core, "MAX_ROUNDS", rounds)
            values.append(Core().shrink(state).value)
        gains.append(1 - values[1] / values[0])
    assert min(gains) >= -1e-12
    assert max(gains) > 5e-4
