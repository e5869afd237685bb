"""Step 4 of Algorithm 1: a pair (u, v) with a large uᵀGv, from products with G and Gᵀ only.

`Lanczos` and `Power` are ApproxSV: they return the leading singular pair up to a tolerance τ,
its singular value σ₁, and an upper bound on σ₁ that holds with a stated probability.

The bound. Let x = Gaussian start, M = GᵀG, v₁ its leading eigenvector. |⟨x, v₁⟩| ≤ t has
probability at most t √(2/π), whatever v₁ is. So, except with probability δ, the normalised
start has a component c = δ √(π/2) / ‖x‖ along v₁, and ‖p(M)x‖ ≥ c |p(σ₁²)| ‖x‖ for every
polynomial p. The power method knows ‖p(M)x‖ for p(λ) = λᵏ; Lanczos knows it for all p of degree
k and so picks the best (Kuczyński and Woźniakowski 1992 bound the same event in advance; using
the polynomials of the run itself is due to van Dorsselaer, Hochstenbach and van der Vorst 2000).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from pygeco.arrays import HOST, Array, distant, kind, on, once, times, zeros
from pygeco.linalg import qr

ROUNDING = 1e-12  # what the arithmetic of a search may lose of σ₁
TINY = 1e-140  # norms between this and its inverse have squares in range
FIRST = 16  # vectors of a basis for which there is room at first
NOTHING = 1e-14  # the share of a vector below which what is left of it is rounding
SQUARED = 1e-13  # the same for its square, found as a difference


class Operator(Protocol):
    """What a direction may know of the gradient. Its `kind`, if it has one, says of what kind the
    vectors are that it takes.
    """

    @property
    def shape(self) -> tuple[int, int]: ...
    def matvec(self, x: Array) -> Array: ...
    def rmatvec(self, y: Array) -> Array: ...


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
    """Golub–Kahan bidiagonalisation with full re-orthogonalisation.

    Stops as soon as uᵀGv ≥ (1 − τ) σ₁ is proved at the given confidence, or after `iterations`.
    """

    tau: float = 0.05
    iterations: int = 40
    confidence: float = 0.999

    def __post_init__(self) -> None:
        _check(self.tau, self.iterations, self.confidence)

    def __call__(self, G: Operator, rng: np.random.Generator) -> Pair:
        x = on(rng.standard_normal(G.shape[1]), kind(G))
        log_c = _log_component(x, self.confidence)
        V = _Basis(self.iterations + 1)
        V.append(x / _norm(x))
        steps = (_AtOnce if distant(kind(G)) else _InTurn)(G, V, self.iterations)
        alphas: list[float] = []
        betas: list[float] = []
        theta, upper = 0.0, 0.0
        for _ in range(self.iterations):
            alpha, beta = steps.next()
            if alpha == 0.0:
                upper = theta * (1 + ROUNDING)
                break
            alphas, betas = [*alphas, alpha], [*betas, beta]
            left, theta, right = _leading(alphas, betas)
            complete = beta <= NOTHING * theta or len(alphas) == min(G.shape)
            # In complete spaces theta is exact, as far as the start can see.
            upper = theta * (1 + ROUNDING) if complete else _bound(alphas, betas, theta, log_c)
            if complete or theta >= (1 - self.tau) * upper:
                break
        if not alphas:
            return _nothing(G, steps.passes, "singular")
        v, _ = _unit(V.combined(right))
        u, _ = _unit(steps.left(left))
        return Pair(u, v, theta, upper, steps.passes, "singular", self.confidence)


@dataclass(frozen=True)
class Power:
    """The power method on GᵀG, as in the paper's section 5. Stops early once τ is proved."""

    tau: float = 0.0
    iterations: int = 30
    confidence: float = 0.999

    def __post_init__(self) -> None:
        _check(self.tau, self.iterations, self.confidence)

    def __call__(self, G: Operator, rng: np.random.Generator) -> Pair:
        x = on(rng.standard_normal(G.shape[1]), kind(G))
        log_c = _log_component(x, self.confidence)
        v: Array = x / _norm(x)
        log_size = 0.0  # log ‖Mᵏ x‖ / ‖x‖
        for k in range(1, self.iterations + 1):
            u, sigma = _unit(G.matvec(v))
            v, size = _unit(G.rmatvec(u))
            if sigma == 0.0 or size == 0.0:  # one alone: G is rounding of what should be zero
                return _nothing(G, 2 * k, "singular")
            log_size += math.log(sigma) + math.log(size)
            upper = max(size, math.exp((log_size - log_c) / (2 * k))) * (1 + ROUNDING)
            if size >= (1 - self.tau) * upper:
                break
        return Pair(u, v, size, upper, 2 * k, "singular", self.confidence)


@dataclass(frozen=True)
class Signs:
    """Alternating maximisation of uᵀGv over uᵢ = ±1/√m, vⱼ = ±1/√n (the paper's section 5).

    From a random start, so that each call may find another pair. Where a row of G is zero,
    any value is optimal and zero is taken.
    """

    iterations: int = 30
    tolerance: float = 1e-3

    def __post_init__(self) -> None:
        _check(0.0, self.iterations, 0.5)

    def __call__(self, G: Operator, rng: np.random.Generator) -> Pair:
        v = on(np.where(rng.random(G.shape[1]) < 0.5, -1.0, 1.0), kind(G))
        gain, passes = 0.0, 0
        for _ in range(self.iterations):
            u = np.sign(G.matvec(v))
            w = G.rmatvec(u)
            passes += 2
            v, reached = np.sign(w), float(np.abs(w).sum())
            before, gain = gain, reached
            if gain <= before * (1 + self.tolerance):
                break
        u, p = _unit(u)
        v, q = _unit(v)
        if p == 0.0 or q == 0.0:
            return _nothing(G, passes, "signs")
        return Pair(u, v, gain / (p * q), math.inf, passes, "signs")


@dataclass(frozen=True, eq=False)
class Weighted:
    """diag(rows) G diag(cols)."""

    G: Operator
    rows: Array
    cols: Array

    @property
    def shape(self) -> tuple[int, int]:
        return self.G.shape

    def matvec(self, x: Array) -> Array:
        return self.rows * self.G.matvec(self.cols * x)

    def rmatvec(self, y: Array) -> Array:
        return self.cols * self.G.rmatvec(self.rows * y)

    @property
    def kind(self) -> Array:
        return self.rows

    def matmat(self, X: Array) -> Array:
        return self.rows[:, None] * matmat(self.G, self.cols[:, None] * X)

    def rmatmat(self, Y: Array) -> Array:
        return self.cols[:, None] * rmatmat(self.G, self.rows[:, None] * Y)


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
    Y: Array = on(rng.standard_normal((n, width)), kind(G))
    if start is not None:
        known = start[:, :width]
        Y = np.column_stack([known, Y[:, known.shape[1] :]]).astype(start.dtype)
    for _ in range(iterations):
        X = qr(matmat(G, Y))[0]
        Y = qr(rmatmat(G, X))[0]
    X, R = qr(matmat(G, Y))
    P, s, Qt = np.linalg.svd(R, full_matrices=False)
    return times(X, P[:, :count]), s[:count], times(Y, Qt.T[:, :count])


def matmat(G: Operator, X: Array) -> Array:
    """G X: in one pass where the operator can, else column by column."""
    if hasattr(G, "matmat"):
        return G.matmat(X)
    return np.column_stack([G.matvec(x) for x in X.T])


def rmatmat(G: Operator, Y: Array) -> Array:
    """Gᵀ Y, likewise."""
    if hasattr(G, "rmatmat"):
        return G.rmatmat(Y)
    return np.column_stack([G.rmatvec(y) for y in Y.T])


def _check(tau: float, iterations: int, confidence: float) -> None:
    if not 0 <= tau < 1:
        raise ValueError(f"tau: must be in [0, 1), not {tau!r}.")
    if not iterations >= 1:
        raise ValueError(f"iterations: must be at least 1, not {iterations!r}.")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence: must be between 0 and 1, not {confidence!r}.")


class _InTurn:
    """Golub–Kahan: α_j p_j = G v_j and β_j v_j₊₁ = Gᵀ p_j, less their parts in what was before."""

    passes = 0

    def __init__(self, G: Operator, V: _Basis, most: int) -> None:
        self.G, self.V, self.U = G, V, _Basis(most)

    def next(self) -> tuple[float, float]:
        """α_j and β_j; zeros where G v_j is in the span of the earlier p."""
        p, alpha = self.U.residual(self.G.matvec(self.V.last))
        self.passes += 1
        if alpha == 0.0:
            return 0.0, 0.0
        self.passes += 1
        w, beta = self.V.residual(self.G.rmatvec(p))
        self.U.append(p)
        self.V.append(w)
        return alpha, beta

    def left(self, weights: Array) -> Array:
        """Σ weights_j p_j."""
        return self.U.combined(weights)


class _AtOnce:
    """The same numbers from GᵀG v_j = α_j β_j₋₁ v_j₋₁ + (α_j² + β_j₋₁²) v_j + α_j β_j v_j₊₁.

    Both products are one journey to where the data are, and no p is kept there. Squares cost
    digits of small singular values, not of large ones.
    """

    passes = 0

    def __init__(self, G: Operator, V: _Basis, most: int) -> None:
        self.G, self.V = G, V
        self.alphas: list[float] = []
        self.betas: list[float] = []

    def next(self) -> tuple[float, float]:
        v = self.V.last
        y = self.G.rmatvec(once(self.G.matvec(v)))
        self.passes += 2
        size = float(v @ y)
        square = size - (self.betas[-1] ** 2 if self.betas else 0.0)
        if not square > SQUARED * size:
            return 0.0, 0.0
        alpha = math.sqrt(square)
        w, beta = self.V.residual(y)
        self.V.append(w)
        self.alphas, self.betas = [*self.alphas, alpha], [*self.betas, beta / alpha]
        return alpha, beta / alpha

    def left(self, weights: Array) -> Array:
        """The v_j times the inverse of the bidiagonal matrix are the p_j, after one product."""
        self.passes += 1
        k = len(self.alphas)
        B = np.diag(self.alphas) + np.diag(self.betas[: k - 1], 1)
        return self.G.matvec(self.V.combined(np.linalg.solve(B, weights)))


class _Basis:
    """Orthonormal vectors, kept one after the other in one block of memory."""

    def __init__(self, most: int) -> None:
        self.memory, self.most, self.size = HOST, most, 0

    def append(self, x: Array) -> None:
        if self.size == 0:
            self.memory = np.empty_like(x, shape=(min(self.most, FIRST), len(x)))
        elif self.size == len(self.memory):
            self.memory = np.concatenate([self.memory, np.empty_like(self.memory)])
        self.memory[self.size] = x
        self.size += 1

    @property
    def last(self) -> Array:
        return self.memory[self.size - 1]

    def residual(self, x: Array) -> tuple[Array, float]:
        """X minus its part in the span, taken twice, normalised, and its norm.

        The norm after the second time is known from the first: ‖y − Q c‖² = ‖y‖² − ‖c‖², c = Qᵀy.
        """
        if not self.size:
            return _unit(x)
        Q = self.memory[: self.size]
        part = Q @ x
        before, x = _norm(x), x - part @ Q
        part = Q @ x
        with np.errstate(over="ignore"):  # `_unit` then finds the size
            size = math.sqrt(max(0.0, float(x @ x) - float(part @ part)))
        x = x - part @ Q
        unit, size = (x / size, size) if TINY < size < 1 / TINY else _unit(x)
        return (unit, size) if size > NOTHING * before else (unit, 0.0)

    def combined(self, weights: Array) -> Array:
        return on(weights, self.memory) @ self.memory[: len(weights)]


def _norm(x: Array) -> float:
    """‖x‖, without overflow or underflow."""
    with np.errstate(over="ignore"):
        size = math.sqrt(float(x @ x))
    if TINY < size < 1 / TINY:
        return size
    top = float(np.max(np.abs(x))) if len(x) else 0.0
    return top * math.sqrt(float((x / top) @ (x / top))) if 0.0 < top < math.inf else top


def _unit(x: Array) -> tuple[Array, float]:
    """X / ‖x‖ and ‖x‖, without overflow or underflow; a zero vector stays zero."""
    size = _norm(x)
    if TINY < size < 1 / TINY:
        return x / size, size
    if not size > 0.0:
        return x, 0.0
    y = x / float(np.max(np.abs(x)))
    return y / _norm(y), size


def _nothing(G: Operator, passes: int, kind_: str) -> Pair:
    m, n = G.shape
    return Pair(zeros(m, kind(G)), zeros(n, kind(G)), 0.0, 0.0, passes, kind_)


def _log_component(x: Array, confidence: float) -> float:
    """Log c: the start x has |⟨x, v₁⟩|/‖x‖ ≥ c with probability at least `confidence`."""
    return math.log((1 - confidence) * math.sqrt(math.pi / 2) / _norm(x))


def _leading(alphas: list[float], betas: list[float]) -> tuple[Array, float, Array]:
    """The leading singular triplet of UᵀGV, k × (k + 1): αⱼ on the diagonal, βⱼ right of it."""
    k = len(alphas)
    P, theta, Qt = np.linalg.svd(
        np.eye(k, k + 1) * [*alphas, 0.0] + np.eye(k, k + 1, 1) * [0.0, *betas]
    )
    return P[:, 0], float(theta[0]), Qt[0]


def _bound(alphas: list[float], betas: list[float], theta: float, log_c: float) -> float:
    """The σ above `theta` at which Σ φⱼ(σ²)² = 1/c², φ the run's orthonormal polynomials.

    σ₁ cannot be larger: min over p of ‖p(M)x‖² with p(λ) = 1 is ‖x‖² / Σ φⱼ(λ)². Both
    coefficient lists have length k: T = BᵀB has diagonal αⱼ² + βⱼ₋₁² and off-diagonal αⱼ βⱼ.
    """
    a, b = np.array(alphas) / theta, np.array(betas) / theta
    diagonal, off = a * a, a * b
    diagonal[1:] += b[:-1] ** 2

    def exceeds(lam: float) -> bool:
        before, now, total, last = 0.0, 1.0, 1.0, 0.0
        log_limit = -2 * log_c
        for d, e in zip(diagonal.tolist(), off.tolist(), strict=True):
            before, now = now, ((lam - d) * now - last * before) / e
            last = e
            total += now * now
            if total > 1e250 or math.log(total) > log_limit:
                return True
        return False

    low, high = 0.0, ROUNDING  # λ − 1
    while not exceeds(1.0 + high) and high < 1e12:
        low, high = high, 4 * high
    while low > 0.0 and high > (1 + 1e-6) * low:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if exceeds(1.0 + middle) else (middle, high)
    return theta * math.sqrt(1.0 + high)


def named(name: str, **settings: Any) -> Direction:
    """The direction called `name`."""
    kinds: dict[str, Any] = {"lanczos": Lanczos, "power": Power, "signs": Signs}
    if name not in kinds:
        raise ValueError(f"direction: unknown name {name!r}; use one of {sorted(kinds)}.")
    return kinds[name](**settings)
