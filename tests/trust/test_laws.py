"""Laws of every path, whatever the shape, loss, penalty, correction, engine and precision."""

import numpy as np
import pytest
from hypothesis import strategies as st

from oracles import optimum, stated_penalty
from pygeco import Features, Lanczos, Ridge, Sensing, Solver, Trace, guaranteed_gap, minimize
from pygeco.losses import Huber
from random_cases import EXACT, STATED, dense, problems
from soak import law

PLAIN = {"extras": False, "engines": (None,), "types": (np.float64,)}
SLACK = 2e-6  # what CVXPY may be off


@law("paths that never rise", 14, 20_000, problems())
def test_the_objective_never_rises_and_is_what_it_says(case) -> None:
    path = case.fit()
    values = [case.value(np.zeros(case.shape)), *(step.objective for step in path)]
    scale = 1e-12 * (1 + abs(values[0]))
    assert np.all(np.isfinite(values))
    assert np.all(np.diff(values) <= scale)
    for step in path:
        A = dense(step.A)
        assert np.all(np.isfinite(A))
        assert step.rank <= case.rank
        assert np.linalg.matrix_rank(A) <= step.rank
        assert step.objective == pytest.approx(case.value(A), rel=case.digits, abs=case.digits)
        assert step.gap >= 0


@law(
    "certificates and theorems against true optima",
    10,
    3000,
    problems(losses=STATED, engines=(None,), types=(np.float64,), most=5),
    st.sampled_from([0.3, 2.0, 8.0]),
)
def test_the_certificate_and_theorem_1_bound_the_true_gap(case, trace_norm) -> None:
    path = case.fit()
    penalty = None if case.penalty is None else lambda A: stated_penalty(case.penalty, A)
    if case.penalty is not None and getattr(case.penalty, "p", 2.0) == 1.5:
        return  # no form in CVXPY
    best = optimum(case.loss, case.cells, case.shape, penalty, trace_norm)
    beta = case.entries.smoothness
    tau = case.solver.direction.tau
    for step in path:
        slack = SLACK * (1 + abs(step.objective))
        assert step.objective - best <= step.certificate.gap(trace_norm) + slack
        exact = isinstance(case.solver.direction, Lanczos)  # up to tau
        if case.penalty is None and np.isfinite(beta) and exact:
            sure = guaranteed_gap(trace_norm, step.rank, smoothness=beta, tau=tau)
            assert step.objective - best <= sure + slack


def close(path, other, turn, scale=1.0, rel=1e-5) -> None:
    """The same objectives, times scale², and the same matrices after `turn`, times scale."""
    assert len(path) == len(other)
    for step, counterpart in zip(path, other, strict=True):
        bound = rel * max(1e-3, np.abs(dense(step.A)).max())
        assert counterpart.objective / scale**2 == pytest.approx(step.objective, rel=rel, abs=1e-9)
        np.testing.assert_allclose(
            dense(counterpart.A) / scale, turn(dense(step.A)), rtol=0, atol=bound
        )


# Unique minima and leading pairs, so that only rounding can tell two ways apart.
UNIQUE = {
    "losses": ("squared", "log-cosh", "pseudo-huber"),
    "directions": (EXACT,),
    "penalties": (Ridge(0.02),),
}


@law(
    "permutations",
    10,
    10_000,
    problems(**PLAIN, **UNIQUE),
    st.integers(0, 2**32 - 1),
)
def test_permuting_rows_and_columns_permutes_the_result(case, seed) -> None:
    rng = np.random.default_rng(seed)
    p, q = (rng.permutation(size) for size in case.shape)
    other = case.but(rows=p[case.rows], cols=q[case.cols])
    close(other.fit(), case.fit(), lambda A: A[p][:, q])


@law(
    "transpositions",
    10,
    10_000,
    problems(corrections=("core", "diagonal"), **PLAIN, **UNIQUE),
)
def test_transposing_transposes_the_result(case) -> None:
    other = case.but(rows=case.cols, cols=case.rows, shape=case.shape[::-1])
    close(case.fit(), other.fit(), np.transpose)


@law(
    "transpositions of convex optima",
    10,
    3000,
    problems(corrections=("sweep",), penalties=(Trace(0.05),), losses=("squared",), **PLAIN),
)
def test_transposing_keeps_the_optimum_of_the_trace_norm(case) -> None:
    full = min(case.shape)
    other = case.but(rows=case.cols, cols=case.rows, shape=case.shape[::-1])
    values = [dense(c.fit(rank=full).A) for c in (case, other)]
    assert case.value(values[0]) == pytest.approx(case.value(values[1].T), rel=1e-5, abs=1e-9)


@law(
    "scalings",
    14,
    10_000,
    problems(
        corrections=("core", "diagonal", "sweep"), **PLAIN, **UNIQUE | {"losses": ("squared",)}
    ),
    st.sampled_from([1e-12, 1e-3, 0.5, -1.0, 7.0, 1e12]),
)
def test_scaling_the_values_scales_the_result(case, scale) -> None:
    close(case.fit(), case.but(y=scale * case.y).fit(), lambda A: A, scale=scale)


@law("continued fits", 14, 20_000, problems(penalties=(None, Ridge(0.02))))
def test_a_fit_continued_is_the_fit_in_one_go(case) -> None:
    case = case.but(solver=Solver(**vars(case.solver) | {"pairs": 1}))
    whole = case.fit()
    half = case.fit(rank=max(1, case.rank - 1))
    rest = case.fit(start=half, random_state=None)
    if len(half) < case.rank - 1:  # it stopped by itself
        assert len(whole) == len(half)
        return
    assert rest.stop is whole.stop
    assert rest.seed == whole.seed
    for one, other in zip(whole, rest, strict=True):
        assert one.objective == other.objective
        assert one.certificate == other.certificate
        np.testing.assert_array_equal(dense(one.A), dense(other.A))


@law(
    "weights of two",
    10,
    5000,
    st.integers(0, 2**32 - 1),
    st.sampled_from(["squared", Huber(0.7)]),
    st.booleans(),
)
def test_a_weight_of_two_is_a_measurement_given_twice(seed, loss, intercept) -> None:
    rng = np.random.default_rng(seed)
    N, m, n = rng.integers(4, 20), *rng.integers(1, 6, 2)
    twice = rng.random(N) < 0.5
    again = np.concatenate([np.arange(N), np.flatnonzero(twice)])
    settings = {"loss": loss, "intercept": intercept}
    X, Y = rng.standard_normal((N, n)), rng.standard_normal((N, m))
    M, y = rng.standard_normal((N, m, n)), rng.standard_normal(N)
    for kind, left, right in ((Features, X, Y), (Sensing, M, y)):
        weighted = kind(left, right, sample_weight=1.0 + twice, **settings)
        doubled = kind(left[again], right[again], **settings)
        paths = [
            minimize(it, min(m, n), Solver(direction=EXACT), penalty=Ridge(0.02), random_state=0)
            for it in (weighted, doubled)
        ]
        close(*paths, lambda A: A)


@law(
    "cells as measurements",
    10,
    5000,
    problems(most=6, **PLAIN, losses=("squared", "pseudo-huber")),
)
def test_weighted_cells_are_measurements_given_as_often(case) -> None:
    """Cells cannot be given twice; as measurements ⟨e_i e_jᵀ, A⟩ they can."""
    case = case.but(
        w=np.random.default_rng(case.seed).integers(1, 4, len(case.y)).astype(float),
        penalty=Ridge(0.02),
        solver=Solver(direction=EXACT, correction="core"),
    )
    times = case.w.astype(int)
    rows, cols, y = (np.repeat(x, times) for x in (case.rows, case.cols, case.y))
    m, n = case.shape
    repeated = Sensing((np.eye(m)[rows], np.eye(n)[cols]), y, case.entries.loss)
    other = minimize(repeated, case.rank, case.solver, penalty=case.penalty, random_state=0)
    close(case.fit(), other, lambda A: A)
