"""Objectives over measurements beside plain dense oracles: a matrix T with z = T vec(A)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.optimize
import scipy.sparse as sp
import scipy.special

from pygeco import Features, LowRank, Quadratic, Sensing
from pygeco.losses import Huber

N = 40
DELTA = 0.8


def _multinomial_slope(z, y):
    return scipy.special.softmax(z, axis=1) - np.eye(z.shape[1])[y]


# Value summed over the outputs of a sample, and slope, from SciPy's own formulas.
FORMULAS = {
    "squared": (lambda z, y: ((z - y) ** 2).sum(1), lambda z, y: 2 * (z - y)),
    "huber": (
        lambda z, y: scipy.special.huber(DELTA, z - y).sum(1),
        lambda z, y: np.clip(z - y, -DELTA, DELTA),
    ),
    "logistic": (
        lambda z, y: np.logaddexp(0, -y * z).sum(1),
        lambda z, y: -y * scipy.special.expit(-y * z),
    ),
    "poisson": (lambda z, y: (np.exp(z) - y * z).sum(1), lambda z, y: np.exp(z) - y),
    "multinomial": (
        lambda z, y: scipy.special.logsumexp(z, axis=1) - z[np.arange(len(z)), y],
        _multinomial_slope,
    ),
}


@dataclass(frozen=True, eq=False)
class Case:
    """An objective, and the same from dense arrays; `tensor` is (N, K, m, n)."""

    objective: object
    tensor: np.ndarray
    y: np.ndarray
    loss: str
    w: np.ndarray
    offset: np.ndarray
    intercept: bool = False

    @property
    def shape(self):
        return self.tensor.shape[2:]

    @property
    def symmetric(self):
        return isinstance(self.objective, Quadratic)

    @cached_property
    def outputs(self):
        return self.tensor.shape[1]

    def z(self, A):
        return np.einsum("nkij,ij->nk", self.tensor, A)

    def fixed(self, A, b):
        """Value, gradient in A and slope in b at given intercepts."""
        value, slope = FORMULAS[self.loss]
        z, w = self.z(A) + self.offset + b, self.w / self.w.sum()
        g = w[:, None] * slope(z, self.y)
        return w @ value(z, self.y), np.einsum("nk,nkij->ij", g, self.tensor), g.sum(0)

    def intercepts(self, A):
        if not self.intercept:
            return np.zeros(self.outputs)

        def both(b):
            value, _, slope = self.fixed(A, b)
            return value, slope

        b = np.zeros(self.outputs)
        for _ in range(3):
            b = scipy.optimize.minimize(both, b, jac=True, options={"gtol": 1e-12}).x
        return b

    def value(self, A):
        return self.fixed(A, self.intercepts(A))[0]

    def gradient(self, A):
        return self.fixed(A, self.intercepts(A))[1]


def _targets(rng, loss, outputs):
    return {
        "squared": lambda: 2 * rng.standard_normal((N, outputs)),
        "huber": lambda: 2 * rng.standard_t(2, (N, outputs)),
        "logistic": lambda: rng.choice([-1.0, 1.0], (N, outputs)),
        "poisson": lambda: rng.poisson(2.0, (N, outputs)).astype(float),
        "multinomial": lambda: np.concatenate(
            [np.arange(outputs), rng.integers(0, outputs, N - outputs)]
        ),
    }[loss]()


def _loss(name):
    return Huber(DELTA) if name == "huber" else name


def features(loss, *, sparse=False, weights=False, intercept=False, seed=0, shape=(4, 6)):
    rng = np.random.default_rng(seed)
    outputs, inputs = shape
    X = rng.standard_normal((N, inputs)) * (rng.random((N, inputs)) < (0.5 if sparse else 1))
    y = _targets(rng, loss, outputs)
    w = rng.uniform(0.2, 2, N) if weights else np.ones(N)
    objective = Features(
        sp.csr_array(X) if sparse else X,
        y,
        _loss(loss),
        sample_weight=w if weights else None,
        intercept=intercept,
    )
    tensor = np.einsum("kl,nj->nklj", np.eye(outputs), X)
    return Case(objective, tensor, y, loss, w, np.zeros((N, outputs)), intercept)


def quadratic(loss, *, sparse=False, weights=False, offset=False, intercept=False, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, 5)) * (rng.random((N, 5)) < (0.6 if sparse else 1))
    y = _targets(rng, loss, 1)
    w = rng.uniform(0.2, 2, N) if weights else np.ones(N)
    o = rng.standard_normal(N) if offset else np.zeros(N)
    objective = Quadratic(
        sp.csr_array(X) if sparse else X,
        y[:, 0],
        _loss(loss),
        sample_weight=w if weights else None,
        offset=o if offset else None,
        intercept=intercept,
    )
    tensor = np.einsum("ni,nj->nij", X, X)[:, None]
    return Case(objective, tensor, y, loss, w, o[:, None], intercept)


def sensing(loss, kind, *, weights=False, intercept=False, seed=0, shape=(4, 6)):
    rng = np.random.default_rng(seed)
    m, n = shape
    if kind == "pairs":
        a, b = rng.standard_normal((N, m)), rng.standard_normal((N, n))
        given, cube = (a, b), np.einsum("ki,kj->kij", a, b)
    else:
        cube = rng.standard_normal((N, m, n)) * (rng.random((N, m, n)) < 0.4)
        given = [sp.coo_array(M) for M in cube] if kind == "sparse" else cube
    y = _targets(rng, loss, 1)
    w = rng.uniform(0.2, 2, N) if weights else np.ones(N)
    objective = Sensing(
        given,
        y[:, 0],
        _loss(loss),
        sample_weight=w if weights else None,
        intercept=intercept,
    )
    return Case(objective, cube[:, None], y, loss, w, np.zeros((N, 1)), intercept)


CASES = {
    "features": features("squared"),
    "features, multinomial": features("multinomial"),
    "features, multinomial, sparse, intercept": features(
        "multinomial", sparse=True, intercept=True, weights=True
    ),
    "features, huber, weights, intercept": features("huber", weights=True, intercept=True),
    "features, logistic, sparse": features("logistic", sparse=True),
    "features, squared, intercept": features("squared", intercept=True, weights=True),
    "features, one output": features("poisson", shape=(1, 6)),
    "quadratic": quadratic("squared"),
    "quadratic, logistic, sparse, weights": quadratic("logistic", sparse=True, weights=True),
    "quadratic, huber, offset, intercept": quadratic("huber", offset=True, intercept=True),
    "sensing": sensing("squared", "dense"),
    "sensing, sparse, huber, weights": sensing("huber", "sparse", weights=True),
    "sensing, pairs, logistic": sensing("logistic", "pairs"),
    "sensing, pairs, intercept": sensing("squared", "pairs", intercept=True, shape=(6, 3)),
}


def random_matrix(case, rank, seed=0) -> LowRank:
    """A matrix of this rank, symmetric where the objective asks for it."""
    rng = np.random.default_rng(seed)
    m, n = case.shape
    if rank == 0:
        return LowRank.zero((m, n))
    U = np.linalg.qr(rng.standard_normal((m, rank)))[0]
    V = U * rng.choice([-1.0, 1.0], rank) if case.symmetric else None
    V = np.linalg.qr(rng.standard_normal((n, rank)))[0] if V is None else V
    return LowRank(U, rng.uniform(0.1, 0.6, rank), V)
