"""MP, OMP and FCFGS: against scikit-learn and SciPy, and GECO on diagonal matrices."""

import numpy as np
import pytest
from scipy.optimize import minimize as descend
from sklearn.linear_model import orthogonal_mp

from oracles import Exact
from pygeco import Sensing, Solver, Stop, minimize
from pygeco.rivals.sparse import fcfgs, mp, omp


def regression(N=40, n=12, size=4, noise=0.1, seed=0, unit=True):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, n)) * (1 if unit else rng.uniform(0.1, 5, n))
    X = X / np.linalg.norm(X, axis=0) if unit else X
    w = np.zeros(n)
    w[rng.permutation(n)[:size]] = rng.choice([-1, 1], size) * rng.uniform(1, 3, size)
    return X, X @ w + noise * rng.standard_normal(N), w


@pytest.mark.parametrize("seed", range(5))
def test_geco_on_diagonal_matrices_chooses_as_omp_does(seed):
    X, y, _ = regression(seed=seed)
    diagonal = Sensing(np.array([np.diag(x) for x in X]), y)
    path = minimize(diagonal, 6, Solver(direction=Exact()), random_state=0)
    for step, vector in zip(path, omp(X, y, 6), strict=True):
        assert step.rank == len(vector.support)
        used = np.flatnonzero(np.abs(step.A.to_dense()).max(axis=0) > 1e-9)
        assert set(used) == set(vector.support)
        np.testing.assert_allclose(np.diag(step.A.to_dense()), vector.w, atol=1e-8)
        assert step.objective == pytest.approx(vector.objective)


@pytest.mark.parametrize("unit", [True, False])
def test_omp_agrees_with_scikit_learn(unit):
    X, y, _ = regression(seed=6, unit=unit)
    norms = np.linalg.norm(X, axis=0)
    for step in omp(X, y, 5):
        theirs = orthogonal_mp(X / norms, y, n_nonzero_coefs=len(step.support)) / norms
        np.testing.assert_allclose(step.w, theirs, atol=1e-8)
        assert step.objective == pytest.approx(np.mean((X @ step.w - y) ** 2))


@pytest.mark.parametrize("loss", ["squared", "logistic", "huber"])
def test_fcfgs_chooses_the_steepest_and_corrects_fully(loss):
    X, y, _ = regression(seed=7, unit=False)
    y = np.sign(y) * np.where(np.arange(len(y)) % 4, 1, -1) if loss == "logistic" else y
    formulas = {
        "squared": (lambda z: (z - y) ** 2, lambda z: 2 * (z - y)),
        "logistic": (lambda z: np.logaddexp(0, -y * z), lambda z: -y / (1 + np.exp(y * z))),
        "huber": None,
    }[loss]
    path = fcfgs(X, y, 5, loss)
    if formulas is None:
        assert np.all(np.diff([step.objective for step in path]) < 0)
        return
    value, slope = formulas
    w: np.ndarray = np.zeros(X.shape[1])
    for step in path:
        assert step.support[-1] == np.argmax(np.abs(X.T @ slope(X @ w)))
        part = X[:, step.support]
        least = descend(lambda b, part=part: np.mean(value(part @ b)), np.zeros(part.shape[1]))
        assert step.objective == pytest.approx(least.fun, abs=1e-6)
        assert set(np.flatnonzero(step.w)) == set(step.support)
        w = step.w


def test_fcfgs_keeps_its_guarantee_against_every_vector():
    X, y, w = regression(60, 30, 5, seed=8)
    beta = 2 * np.max(np.sum(X**2, axis=0)) / len(y)
    for other in (w, np.linalg.lstsq(X, y)[0], 0.5 * w):
        level = np.mean((X @ other - y) ** 2)
        for k, step in enumerate(fcfgs(X, y, 30), start=1):
            assert step.objective - level <= 2 * beta * np.abs(other).sum() ** 2 / k


def test_mp_takes_away_what_each_column_explains():
    X, y, _ = regression(seed=9, unit=False)
    r, norms = y, np.linalg.norm(X, axis=0)
    path = mp(X, y, 300)
    for step in path:
        along = X.T @ r / norms
        best = np.argmax(np.abs(along))
        r = r - along[best] * X[:, best] / norms[best]
        np.testing.assert_allclose(y - X @ step.w, r, atol=1e-9)
        assert step.objective == pytest.approx(np.mean(r**2))
    least = np.linalg.lstsq(X, y)[0]
    np.testing.assert_allclose(path[-1].w, least, atol=1e-6)
    assert len(path[-1].support) == 12
    assert path[:2] == path.steps[:2]


def test_recovers_a_sparse_vector_and_rests():
    X, y, w = regression(noise=0.0, seed=10)
    assert set(omp(X, y, 4)[-1].support) == set(np.flatnonzero(w))
    assert omp(X, y, 12).stop is Stop.STATIONARY
    assert mp(X, 0 * y, 3).stop is Stop.STATIONARY
    assert len(mp(X, 0 * y, 3)) == 0


def test_errors_say_what_to_do():
    X, y, _ = regression()
    with pytest.raises(ValueError, match=r"^size: expected an integer of at least 1 and at most"):
        omp(X, y, 13)
    with pytest.raises(ValueError, match=r"^y: expected 40 finite numbers"):
        fcfgs(X, y[:3], 2)
    with pytest.raises(ValueError, match=r"^X: expected a matrix of finite numbers"):
        mp(X[0], y, 2)
