"""Slow, plain answers to compare with: dense NumPy, CVXPY, and random problems."""

from __future__ import annotations

from dataclasses import dataclass

import cvxpy as cp
import numpy as np
import pytest

from pygeco import Entries, LowRank, Schatten
from pygeco.algorithm.directions import Pair
from pygeco.arrays.operators import Operator


@dataclass(frozen=True, eq=False)
class Matrix(Operator):
    """A dense matrix as the operator that directions take."""

    M: np.ndarray

    @property
    def shape(self):
        return self.M.shape

    def matvec(self, x):
        return self.M @ x

    def rmatvec(self, y):
        return self.M.T @ y


def dense(G) -> np.ndarray:
    """The matrix of an operator, column by column."""
    return np.column_stack([G.matvec(e) for e in np.eye(G.shape[1])])


@dataclass(frozen=True)
class Exact:
    """The leading singular pair from the dense SVD."""

    def __call__(self, G, rng):
        P, s, Qt = np.linalg.svd(dense(G))
        return Pair(P[:, 0], Qt[0], float(s[0]), float(s[0]) * (1 + 1e-12), 0, "exact")


@dataclass(frozen=True, eq=False)
class Problem:
    """Y with weights W (zero where a cell is unknown), and the same as `Entries`."""

    Y: np.ndarray
    W: np.ndarray
    entries: Entries

    def value(self, A) -> float:
        return float(np.sum(self.W * (A - self.Y) ** 2) / self.W.sum())

    def gradient(self, A) -> np.ndarray:
        return 2 * self.W * (A - self.Y) / self.W.sum()


def problem(shape=(12, 9), share=0.6, seed=0, *, weights=False, dtype=float, rank=3, noise=0.3):
    """A random low-rank matrix plus noise, some of whose cells are observed."""
    rng = np.random.default_rng(seed)
    m, n = shape
    Y = rng.standard_normal((m, rank)) @ rng.standard_normal((rank, n))
    Y = (Y + noise * rng.standard_normal(shape)).astype(dtype)
    seen = rng.random(shape) < share
    seen.flat[rng.integers(m * n)] = True
    W = seen * (rng.uniform(0.2, 3.0, shape).astype(dtype) if weights else 1.0)
    rows, cols = np.nonzero(seen)
    given = W[rows, cols] if weights else None
    entries = Entries(rows, cols, Y[rows, cols], shape, sample_weight=given)
    return Problem(np.where(seen, Y, 0.0).astype(float), W.astype(float), entries)


def algorithm_1(problem: Problem, rank: int) -> list[float]:
    """Algorithm 1 of the paper as it is printed, with dense arrays; R after each rank."""
    m, n = problem.Y.shape
    i, j = np.nonzero(problem.W)
    root = np.sqrt(problem.W[i, j])
    U, V = np.zeros((m, 0)), np.zeros((n, 0))
    objectives = []
    for _ in range(rank):
        left, _, right = np.linalg.svd(problem.gradient(U @ V.T))
        U, V = np.column_stack([U, left[:, 0]]), np.column_stack([V, right[0]])
        design = np.einsum("ek,el->ekl", U[i], V[j]).reshape(len(i), -1)
        vec = np.linalg.lstsq(design * root[:, None], problem.Y[i, j] * root)[0]
        P, D, Qt = np.linalg.svd(vec.reshape(U.shape[1], V.shape[1]))
        U, V = U @ P * D, V @ Qt.T
        objectives.append(problem.value(U @ V.T))
    return objectives


def penalty_value(penalty, A: np.ndarray) -> float:
    return 0.0 if penalty is None else penalty.value(np.linalg.svd(A, compute_uv=False))


def best(problem: Problem, penalty=None, trace_norm: float | None = None, U=None, V=None) -> float:
    """Min of R + h by CVXPY: over the trace-norm ball, or over the cores of spans U and V."""
    m, n = problem.Y.shape
    U, V = np.eye(m) if U is None else U, np.eye(n) if V is None else V
    B = cp.Variable((U.shape[1], V.shape[1]))
    A = U @ B @ V.T
    loss = cp.sum_squares(cp.multiply(np.sqrt(problem.W / problem.W.sum()), A - problem.Y))
    limits = [] if trace_norm is None else [cp.normNuc(B) <= trace_norm]
    task = cp.Problem(cp.Minimize(loss + stated_penalty(penalty, B)), limits)
    return float(task.solve(solver=cp.CLARABEL))


def stated_penalty(penalty, B):
    if penalty is None:
        return 0.0
    if not isinstance(penalty, Schatten):
        return penalty.alpha * cp.normNuc(B)
    norms = {1.0: cp.normNuc, 2.0: lambda X: cp.norm(X, "fro")}
    return penalty.alpha * cp.square(norms[penalty.p](B))


def orthonormal(Q: np.ndarray) -> bool:
    return bool(np.allclose(Q.T @ Q, np.eye(Q.shape[1]), atol=1e-10))


def random_low_rank(shape=(7, 5), rank=3, seed=0) -> LowRank:
    """Factors with columns of any length and angle, and weights of either sign."""
    rng = np.random.default_rng(seed)
    m, n = shape
    return LowRank(
        rng.standard_normal((m, rank)), rng.standard_normal(rank), rng.standard_normal((n, rank))
    )


def _stated(name, z, y):
    """Σ ℓ(z, y) for CVXPY, written from the losses' definitions."""
    x = z - y
    if name == "squared":
        return cp.square(x)
    if name == "huber":
        return cp.huber(x, 0.7) / 2
    if name == "pseudo-huber":
        return 0.25 * (cp.norm(cp.vstack([np.ones(len(y)), x / 0.5]), 2, axis=0) - 1)
    if name == "log-cosh":
        return cp.logistic(2 * x) - x - np.log(2)
    if name == "absolute":
        return cp.norm(cp.vstack([np.full(len(y), 0.3), x]), 2, axis=0) - 0.3
    if name == "quantile":  # Moreau: min over t of pinball(t) + (t − (y − z))²/2μ
        t = cp.Variable(len(y))
        return cp.maximum(0.8 * t, -0.2 * t) + cp.square(t + x) / 0.8
    if name == "logistic":
        return cp.logistic(cp.multiply(-y, z))
    if name == "smoothed-hinge":
        t = cp.Variable(len(y))
        return cp.pos(t) + cp.square(t - (1 - cp.multiply(y, z))) / 1.2
    if name == "poisson":
        return cp.exp(z) - cp.multiply(y, z)
    if name == "ordinal":
        theta = np.array([-50.0, -1.0, 0.2, 1.5, 50.0])
        low, high = theta[y.astype(int)], theta[y.astype(int) + 1]
        return cp.logistic(z - high) + cp.logistic(low - z) - np.log1p(-np.exp(low - high))
    return cp.power(cp.abs(x), 3) / 3 + cp.square(x) / 20


def optimum(name, cells, shape, penalty=None, trace_norm=None) -> float:
    """Min over A of Σ w ℓ / Σ w + penalty(A) by CVXPY, also in a ball of the trace norm."""
    rows, cols, y, w = cells
    A = cp.Variable(shape)
    z = cp.reshape(A, (shape[0] * shape[1],), order="C")[rows * shape[1] + cols]
    loss = cp.sum(cp.multiply(w / w.sum(), _stated(name, z, y)))
    limits = [] if trace_norm is None else [cp.normNuc(A) <= trace_norm]
    goal = cp.Problem(cp.Minimize(loss + (penalty(A) if penalty else 0)), limits)
    return float(goal.solve(solver=cp.CLARABEL))


def unit(size, seed=0):
    x = np.random.default_rng(seed).standard_normal(size)
    return x / np.linalg.norm(x)


def frank_wolfe(task, t, steps, rule) -> list[np.ndarray]:
    """The paper's loop on the lift: Z ⪰ 0 of size m + n and trace 2t, dense."""
    m, n = task.Y.shape
    Z = 2 * t * np.eye(m + n) / (m + n)  # its block of A is zero
    iterates = []
    for k in range(steps):
        A = Z[:m, m:]
        lift = np.zeros((m + n, m + n))
        lift[:m, m:] = task.gradient(A) / 2
        values, vectors = np.linalg.eigh(-(lift + lift.T))
        x = vectors[:, -1]
        assert values[-1] == pytest.approx(np.linalg.norm(task.gradient(A), 2) / 2)
        S = 2 * t * np.outer(x, x)

        def along(gamma, Z=Z, S=S):
            return task.value(((1 - gamma) * Z + gamma * S)[:m, m:])

        gamma = rule(k, along)
        Z = (1 - gamma) * Z + gamma * S
        assert np.linalg.eigvalsh(Z)[0] > -1e-9
        assert np.trace(Z) == pytest.approx(2 * t)
        iterates.append(Z[:m, m:])
    return iterates
