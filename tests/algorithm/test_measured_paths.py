"""The solver over every measured objective: dense Algorithm 1, CVXPY, penalties, variants."""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
import scipy.optimize

from measured_cases import CASES, features, quadratic, sensing
from oracles import Exact
from pygeco import Features, Ridge, Schatten, Sensing, Solver, Stop, Trace, minimize

EVERY = pytest.mark.parametrize("name", CASES)


def leading(case, G):
    """The pair of step 4; eigenpairs where A is symmetric."""
    if case.symmetric:
        values, E = np.linalg.eigh(G)
        w = E[:, np.argmax(np.abs(values))]
        return w, w
    P, _, Qt = np.linalg.svd(G)
    return P[:, 0], Qt[0]


def algorithm_1(case, rank, alpha):
    """Objectives of ranks 1, 2, …, the core and the intercepts by a general optimizer."""
    (m, n), K = case.shape, case.outputs
    U, V, A, b, objectives = np.zeros((m, 0)), np.zeros((n, 0)), np.zeros((m, n)), np.zeros(K), []
    b = case.intercepts(A)
    for s in range(1, rank + 1):
        u, v = leading(case, case.fixed(A, b)[1] + 2 * alpha * A)
        U = np.linalg.qr(np.column_stack([U, u]))[0]
        V = np.linalg.qr(np.column_stack([V, v]))[0]

        def core(x, U=U, V=V, s=s):
            A = U @ x[: s * s].reshape(s, s) @ V.T
            value, G, slope = case.fixed(A, x[s * s :] * case.intercept)
            G = U.T @ (G + 2 * alpha * A) @ V
            return value + alpha * np.sum(A * A), np.append(G.reshape(-1), slope * case.intercept)

        start = np.append((U.T @ A @ V).reshape(-1), b)
        for _ in range(3):  # restarts: the line search of BFGS may give up early
            found = scipy.optimize.minimize(
                core, start, jac=True, method="BFGS", options={"gtol": 1e-10, "maxiter": 2000}
            )
            start = found.x
        A, b = U @ found.x[: s * s].reshape(s, s) @ V.T, found.x[s * s :] * case.intercept
        objectives.append(found.fun)
    return objectives


@EVERY
def test_path_is_algorithm_1(name):
    case = CASES[name]
    rank, alpha = min(3, *case.shape), 1e-3
    solver = Solver(direction=Exact())
    path = minimize(case.objective, rank, solver, penalty=Ridge(alpha), random_state=0)
    expected = algorithm_1(case, rank, alpha)
    np.testing.assert_allclose([step.objective for step in path], expected, rtol=1e-7, atol=1e-9)


def cvxpy_best(case, penalty):
    """The convex optimum over all matrices (symmetric ones where only those count)."""
    A = cp.Variable(case.shape, symmetric=True) if case.symmetric else cp.Variable(case.shape)
    b, w = cp.Variable(case.outputs), case.w / case.w.sum()
    flat = case.tensor.reshape(len(w), case.outputs, -1)
    vec = cp.vec(A, order="C")
    columns = [flat[:, k] @ vec + case.offset[:, k] for k in range(case.outputs)]
    columns = [z + b[k] if case.intercept else z for k, z in enumerate(columns)]
    if case.loss == "multinomial":
        Z = cp.vstack(columns).T
        picked = cp.sum(cp.multiply(np.eye(case.outputs)[case.y], Z), axis=1)
        total = w @ (cp.log_sum_exp(Z, axis=1) - picked)
    else:
        formula = {
            "squared": lambda z, y: cp.square(z - y),
            "huber": lambda z, y: cp.huber(z - y, 0.8) / 2,
            "logistic": lambda z, y: cp.logistic(cp.multiply(-y, z)),
            "poisson": lambda z, y: cp.exp(z) - cp.multiply(y, z),
        }[case.loss]
        total = sum(w @ formula(z, case.y[:, k]) for k, z in enumerate(columns))
    h = {
        Trace: lambda: penalty.alpha * cp.normNuc(A),
        Schatten: lambda: penalty.alpha * cp.sum_squares(A),
    }[type(penalty)]()
    return float(cp.Problem(cp.Minimize(total + h)).solve(solver=cp.CLARABEL))


# The trace norm with every case, the ridge with one of each kind.
OPTIMA = [(name, Trace(0.03)) for name in CASES]
OPTIMA += [(name, Ridge(0.03)) for name in ("features, multinomial", "quadratic", "sensing")]


@pytest.mark.parametrize(("name", "penalty"), OPTIMA, ids=str)
def test_convex_optimum_and_certificate(name, penalty):
    """At full rank the path ends at the global optimum; before, the certificate covers it."""
    case = CASES[name]
    best = cvxpy_best(case, penalty)
    solver = Solver(direction=Exact(), refine=True)
    path = minimize(case.objective, min(case.shape), solver, penalty=penalty, random_state=0)
    assert path[-1].objective == pytest.approx(best, rel=1e-4, abs=1e-6)
    for step in path:
        assert step.objective >= best - 1e-6
    strict = minimize(case.objective, min(case.shape), penalty=penalty, random_state=0)
    trace_norm = path[-1].certificate.trace_norm * 1.001
    for step in strict:
        assert step.objective - best <= step.certificate.gap(trace_norm) + 1e-6


SOLVERS = {
    "paper": replace(Solver.paper(), replacements=5),
    "refitted": replace(Solver.refitted(), replacements=5),
    "refined": Solver(signs=True, replacements=2, refine=True),
    "diagonal": Solver(correction="diagonal", signs=True, replacements=2),
}
# Two for each case, so that each meets several of every kind.
PAIRS = [(name, list(SOLVERS)[(t + k) % 4]) for t, name in enumerate(CASES) for k in (0, 1)]


@pytest.mark.parametrize(("name", "choice"), PAIRS)
def test_variants_never_rise_and_know_their_value(name, choice):
    case, solver = CASES[name], SOLVERS[choice]
    path = minimize(
        case.objective, min(2, *case.shape), solver, random_state=0, penalty=Ridge(1e-2)
    )
    values = [step.objective for step in path]
    assert values == sorted(values, reverse=True)
    for step in path:
        A = step.A.to_dense()
        assert step.objective == pytest.approx(case.value(A) + 1e-2 * np.sum(A * A), rel=1e-9)
        if solver.replacement == "refit":  # zeroing (2.1.2) leaves the minimum over the spans
            assert abs(step.certificate.inner) <= 1e-4 * abs(values[0])


@pytest.mark.parametrize("build", [features, quadratic], ids=["features", "quadratic"])
def test_the_same_seed_gives_the_same_bits(build):
    case = build("logistic", intercept=True)
    runs = [
        minimize(case.objective, 3, Solver(refine=True), penalty=Ridge(0.01), random_state=3)
        for _ in range(2)
    ]
    np.testing.assert_array_equal(runs[0].A.to_dense(), runs[1].A.to_dense())


def test_a_zero_gradient_stops_at_once():
    X = np.ones((4, 2))
    path = minimize(Features(X, np.zeros((4, 3))), 2)
    assert path.stop is Stop.STATIONARY
    assert path.A.rank == 0


def test_rank_of_all_classes():
    """The shift of all classes together has no curvature; full rank must still be an optimum."""
    case = features("multinomial", seed=5)
    path = minimize(case.objective, 4, Solver(refine=True), penalty=Ridge(0.01), random_state=0)
    assert path[-1].objective == pytest.approx(cvxpy_best(case, Ridge(0.01)), rel=1e-6)


def test_sensing_recovers_a_matrix_from_few_measurements():
    rng = np.random.default_rng(0)
    truth = rng.standard_normal((12, 2)) @ rng.standard_normal((2, 10))
    for operators in (
        rng.standard_normal((90, 12, 10)),
        (rng.standard_normal((90, 12)), rng.standard_normal((90, 10))),
    ):
        tall = isinstance(operators, tuple)
        y = (
            np.einsum("ki,ij,kj->k", operators[0], truth, operators[1])
            if tall
            else np.einsum("kij,ij->k", operators, truth)
        )
        path = minimize(Sensing(operators, y), 2, Solver(refine=True), random_state=0)
        error = np.linalg.norm(path.A.to_dense() - truth) / np.linalg.norm(truth)
        assert error <= 1e-4


def test_trace_penalty_on_sensing_finds_the_rank():
    case = sensing("squared", "dense", seed=7)
    path = minimize(case.objective, 4, Solver(refine=True), penalty=Trace(0.6), random_state=0)
    best = cvxpy_best(case, Trace(0.6))
    assert path[-1].objective == pytest.approx(best, rel=1e-5)
    assert path.A.rank < 4
