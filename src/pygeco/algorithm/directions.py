"""Step 4 of Algorithm 1: a pair (u, v) with a large uᵀGv, from products with G and Gᵀ only.

`Lanczos` and `Power` are ApproxSV: they return the leading singular pair up to a tolerance τ,
its singular value σ₁, and an upper bound on σ₁ that holds with a stated probability.

The bound. Let x = Gaussian start, M = GᵀG, v₁ its leading eigenvector. |⟨x, v₁⟩| ≤ t has
probability at most t √(2/π), whatever v₁ is. So, except with probability δ, the normalized
start has a component c = δ √(π/2) / ‖x‖ along v₁, and ‖p(M)x‖ ≥ c |p(σ₁²)| ‖x‖ for every
polynomial p. The power method knows ‖p(M)x‖ for p(λ) = λᵏ; Lanczos knows it for all p of degree
k and so picks the best (Kuczyński and Woźniakowski 1992 bound the same event in advance; using
the polynomials of the run itself is due to van Dorsselaer, Hochstenbach and van der Vorst 2000).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from pygeco.algorithm.krylov import (
    MIN_RESIDUAL_SHARE,
    SEARCH_ROUNDING,
    AtOnce,
    Basis,
    InTurn,
    SigmaBound,
    find_leading_triplet,
    find_leading_value,
    log_component,
    norm,
    unit,
)
from pygeco.arrays.kinds import Array, distant, on, stack, times, zeros
from pygeco.arrays.linalg import qr
from pygeco.arrays.operators import Operator
from pygeco.engines.columns import draw_normals


class Pair(NamedTuple):
    """Unit vectors with uᵀGv = sigma ≥ 0, and what the search cost in products with G or Gᵀ."""

    u: Array
    v: Array
    sigma: float
    upper: float
    passes: int
    kind: str
    confidence: float = 1.0


class Direction(Protocol):
    def __call__(self, G: Operator, rng: np.random.Generator) -> Pair: ...


@dataclass(frozen=True)
class Lanczos:
    """Golub–Kahan bidiagonalization with full re-orthogonalization, the default direction.

    Stops as soon as uᵀGv ≥ (1 − τ) σ₁ is proved at the given confidence, or after `max_iter`.

    Parameters
    ----------
    tau : float, default=0.05
        τ, the share of σ₁ that a pair may lack.
    max_iter : int, default=40
        Maximum number of products with G and with Gᵀ.
    confidence : float, default=0.999
        The probability of the bound on σ₁.

    Examples
    --------
    >>> import numpy as np
    >>> from pygeco import Dense, Lanczos, Solver, minimize
    >>> path = minimize(Dense(np.eye(4)), 1, Solver(direction=Lanczos(tau=0.01)), random_state=0)
    >>> path[0].certificate.confidence
    0.999
    """

    tau: float = 0.05
    max_iter: int = 40
    confidence: float = 0.999

    def __post_init__(self) -> None:
        _check(self.tau, self.max_iter, self.confidence)

    def __call__(self, G: Operator, rng: np.random.Generator) -> Pair:
        x = on(rng.standard_normal(G.shape[1]), G.kind)
        log_c = log_component(x, self.confidence)
        V = Basis(self.max_iter + 1)
        V.append(x / norm(x))
        steps = (AtOnce if distant(G.kind) else InTurn)(G, V, self.max_iter)
        alphas: list[float] = []
        betas: list[float] = []
        complete = False  # in complete spaces theta is exact, as far as the start can see
        for _ in range(self.max_iter):
            alpha, beta = steps.next()
            if alpha == 0.0:
                complete = True
                break
            alphas, betas = [*alphas, alpha], [*betas, beta]
            theta = find_leading_value(alphas, betas)
            complete = beta <= MIN_RESIDUAL_SHARE * theta or len(alphas) == min(G.shape)
            if complete or SigmaBound(alphas, betas, theta, log_c).is_proved(self.tau):
                break
        if not alphas:
            return _zero_pair(G, steps.passes, "singular")
        left, theta, right = find_leading_triplet(alphas, betas)
        upper = (
            theta * (1 + SEARCH_ROUNDING)
            if complete
            else SigmaBound(alphas, betas, theta, log_c).find()
        )
        v, _ = unit(V.combined(right))
        u, _ = unit(steps.left(left))
        return Pair(u, v, theta, upper, steps.passes, "singular", self.confidence)


@dataclass(frozen=True)
class Power:
    """The power method on GᵀG, as in the paper's section 5. Stops early once τ is proved.

    Parameters
    ----------
    tau : float, default=0.0
        τ, the share of σ₁ that a pair may lack; zero takes every iteration.
    max_iter : int, default=30
        Maximum number of products with G and with Gᵀ.
    confidence : float, default=0.999
        The probability of the bound on σ₁.
    """

    tau: float = 0.0
    max_iter: int = 30
    confidence: float = 0.999

    def __post_init__(self) -> None:
        _check(self.tau, self.max_iter, self.confidence)

    def __call__(self, G: Operator, rng: np.random.Generator) -> Pair:
        x = on(rng.standard_normal(G.shape[1]), G.kind)
        log_c = log_component(x, self.confidence)
        v: Array = x / norm(x)
        log_size = 0.0  # log ‖Mᵏ x‖ / ‖x‖
        for k in range(1, self.max_iter + 1):
            u, sigma = unit(G.matvec(v))
            v, size = unit(G.rmatvec(u))
            if sigma == 0.0 or size == 0.0:  # one alone: G is rounding of what should be zero
                return _zero_pair(G, 2 * k, "singular")
            log_size += math.log(sigma) + math.log(size)
            upper = max(size, math.exp((log_size - log_c) / (2 * k))) * (1 + SEARCH_ROUNDING)
            if size >= (1 - self.tau) * upper:
                break
        return Pair(u, v, size, upper, 2 * k, "singular", self.confidence)


@dataclass(frozen=True)
class Signs:
    """Alternating maximization of uᵀGv over uᵢ = ±1/√m, vⱼ = ±1/√n (the paper's section 5).

    From a random start, so that each call may find another pair. Where a row of G is zero,
    any value is optimal and zero is taken. σ₁ is not bounded: use it through `Solver(signs=True)`.

    Parameters
    ----------
    max_iter : int, default=30
        The most rounds over u and v.
    tol : float, default=1e-3
        Stop when a round gains less than this share.
    """

    max_iter: int = 30
    tol: float = 1e-3

    def __post_init__(self) -> None:
        _check(0.0, self.max_iter, 0.5)

    def __call__(self, G: Operator, rng: np.random.Generator) -> Pair:
        v = on(np.where(rng.random(G.shape[1]) < 0.5, -1.0, 1.0), G.kind)
        gain, passes = 0.0, 0
        for _ in range(self.max_iter):
            u = np.sign(G.matvec(v))
            w = G.rmatvec(u)
            passes += 2
            v, reached = np.sign(w), float(np.abs(w).sum())
            before, gain = gain, reached
            if gain <= before * (1 + self.tol):
                break
        u, p = unit(u)
        v, q = unit(v)
        if p == 0.0 or q == 0.0:
            return _zero_pair(G, passes, "signs")
        return Pair(u, v, gain / (p * q), math.inf, passes, "signs")


def leading_block(
    G: Operator,
    count: int,
    rng: np.random.Generator,
    iterations: int = 3,
    start: Array | None = None,
) -> tuple[Array, Array, Array]:
    """The leading `count` singular triplets, by subspace iteration with a few columns to spare.

    U (m, count), s, V (n, count). Each iteration is one product with G and one with Gᵀ. A `start`
    near the right singular vectors saves iterations; precision is that of the start.
    """
    m, n = G.shape
    width = min(count + 4, m, n)
    if start is None:
        Y: Array = on(rng.standard_normal((n, width)), G.kind)
    else:
        known = start[:, :width]
        Y = stack([known, draw_normals(rng, (n, width - known.shape[1]), start)], start.dtype)
    for _ in range(iterations):
        X = qr(G.matmat(Y))[0]
        Y = qr(G.rmatmat(X))[0]
    X, R = qr(G.matmat(Y))
    P, s, Qt = np.linalg.svd(R, full_matrices=False)  # R may have more digits than X
    left, right = P[:, :count].astype(X.dtype), Qt.T[:, :count].astype(Y.dtype)
    return times(X, left), s[:count], times(Y, right)


def _check(tau: float, max_iter: int, confidence: float) -> None:
    if not 0 <= tau < 1:
        raise ValueError(f"tau: must be in [0, 1), not {tau!r}.")
    if not max_iter >= 1:
        raise ValueError(f"max_iter: must be at least 1, not {max_iter!r}.")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence: must be between 0 and 1, not {confidence!r}.")


def _zero_pair(G: Operator, passes: int, kind_: str) -> Pair:
    m, n = G.shape
    return Pair(zeros(m, G.kind), zeros(n, G.kind), 0.0, 0.0, passes, kind_)
