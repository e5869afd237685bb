"""Lanczos's steps: orthonormal bases from products with G and Gᵀ, and what they prove of σ₁."""

from __future__ import annotations

import math

import numpy as np

from pygeco.arrays.kinds import HOST, Array, foreign, on, once
from pygeco.arrays.operators import Operator
from pygeco.engines.columns import is_squarable, steps_of

SEARCH_ROUNDING = 1e-12  # what the arithmetic of a search may lose of σ₁
FIRST_CAPACITY = 16  # vectors of a basis for which there is room at first
MIN_RESIDUAL_SHARE = 1e-14  # the share of a vector below which what is left of it is rounding
MIN_SQUARE_SHARE = 1e-13  # the same for its square, found as a difference


class InTurn:
    """Golub–Kahan: α_j p_j = G v_j and β_j v_j₊₁ = Gᵀ p_j, less their parts in what was before."""

    passes = 0

    def __init__(self, G: Operator, V: Basis, most: int) -> None:
        self.G, self.V, self.U = G, V, Basis(most)
        self.ahead: Array | None = None

    def next(self) -> tuple[float, float]:
        """α_j and β_j; zeros where G v_j is in the span of the earlier p."""
        product = self.G.matvec(self.V.last) if self.ahead is None else self.ahead
        p, alpha = self.U.residual(product)
        self.passes += 1
        if alpha == 0.0:
            return 0.0, 0.0
        self.passes += 1
        w, beta = self.V.residual(self.G.rmatvec(p))
        self.V.append(w)
        # A device goes on while the host looks at the numbers.
        self.ahead = self.G.matvec(w) if foreign(w) else None
        self.U.append(p)
        return alpha, beta

    def left(self, weights: Array) -> Array:
        """Σ weights_j p_j."""
        return self.U.combined(weights)


class AtOnce:
    """The same numbers from GᵀG v_j = α_j β_j₋₁ v_j₋₁ + (α_j² + β_j₋₁²) v_j + α_j β_j v_j₊₁.

    Both products are one journey to where the data are, and no p is kept there. Squares cost
    digits of small singular values, not of large ones.
    """

    passes = 0

    def __init__(self, G: Operator, V: Basis, most: int) -> None:
        self.G, self.V = G, V
        self.alphas: list[float] = []
        self.betas: list[float] = []

    def next(self) -> tuple[float, float]:
        v = self.V.last
        y = self.G.rmatvec(once(self.G.matvec(v)))
        self.passes += 2
        size = float(v @ y)
        square = size - (self.betas[-1] ** 2 if self.betas else 0.0)
        if not square > MIN_SQUARE_SHARE * size:
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


class Basis:
    """Orthonormal vectors, kept one after the other in one block of memory."""

    def __init__(self, most: int) -> None:
        self.memory, self.most, self.size = HOST, most, 0

    def append(self, x: Array) -> None:
        if self.size == 0:
            self.memory = np.empty_like(x, shape=(min(self.most, FIRST_CAPACITY), len(x)))
        elif self.size == len(self.memory):
            self.memory = np.concatenate([self.memory, np.empty_like(self.memory)])
        self.memory[self.size] = x
        self.size += 1

    @property
    def last(self) -> Array:
        return self.memory[self.size - 1]

    def residual(self, x: Array) -> tuple[Array, float]:
        """What x leaves outside of the span, taken twice, normalized, and its norm.

        The norm after the second time is known from the first: ‖y − Q c‖² = ‖y‖² − ‖c‖², c = Qᵀy.
        """
        if not self.size:
            return unit(x)
        Q = self.memory[: self.size]
        y, squares = steps_of(x).leave_span(Q, x)
        before, size = math.sqrt(squares.before), math.sqrt(squares.left)
        if not is_squarable(before):
            before = norm(x)
        if not is_squarable(size):
            y, size = unit(y)
        return (y, size) if size > MIN_RESIDUAL_SHARE * before else (y, 0.0)

    def combined(self, weights: Array) -> Array:
        return on(weights, self.memory) @ self.memory[: len(weights)]


def norm(x: Array) -> float:
    """‖x‖, without overflow or underflow."""
    with np.errstate(over="ignore"):
        size = math.sqrt(float(x @ x))
    if is_squarable(size):
        return size
    top = float(np.max(np.abs(x))) if len(x) else 0.0
    return top * math.sqrt(float((x / top) @ (x / top))) if 0.0 < top < math.inf else top


def unit(x: Array) -> tuple[Array, float]:
    """The vector x / ‖x‖, and ‖x‖, without overflow or underflow; a zero vector stays zero."""
    size = norm(x)
    if is_squarable(size):
        return x / size, size
    if not size > 0.0:
        return x, 0.0
    y = x / float(np.max(np.abs(x)))
    return y / norm(y), size


def log_component(x: Array, confidence: float) -> float:
    """Log c: the start x has |⟨x, v₁⟩|/‖x‖ ≥ c with probability at least `confidence`."""
    return math.log((1 - confidence) * math.sqrt(math.pi / 2) / norm(x))


def find_leading_triplet(alphas: list[float], betas: list[float]) -> tuple[Array, float, Array]:
    """The leading singular triplet of UᵀGV."""
    P, theta, Qt = np.linalg.svd(_make_bidiagonal(alphas, betas))
    return P[:, 0], float(theta[0]), Qt[0]


def find_leading_value(alphas: list[float], betas: list[float]) -> float:
    """The leading singular value of UᵀGV, in a third of the time."""
    return float(np.linalg.svd(_make_bidiagonal(alphas, betas), compute_uv=False)[0])


def _make_bidiagonal(alphas: list[float], betas: list[float]) -> Array:
    """UᵀGV, k × (k + 1): αⱼ on the diagonal, βⱼ right of it."""
    k = len(alphas)
    B = np.zeros((k, k + 1))
    B.flat[:: k + 2] = alphas
    B.flat[1 :: k + 2] = betas
    return B


class SigmaBound:
    """Which σ above `theta` σ₁ cannot have: those at which Σ φⱼ(σ²)² is above 1/c².

    φ are the run's orthonormal polynomials: min over p of ‖p(M)x‖² with p(λ) = 1 is
    ‖x‖² / Σ φⱼ(λ)². Both coefficient lists have length k: T = BᵀB has diagonal αⱼ² + βⱼ₋₁² and
    off-diagonal αⱼ βⱼ.
    """

    def __init__(self, alphas: list[float], betas: list[float], theta: float, log_c: float) -> None:
        a, b = np.array(alphas) / theta, np.array(betas) / theta
        diagonal, off = a * a, a * b
        diagonal[1:] += b[:-1] ** 2
        self.coefficients = list(zip(diagonal.tolist(), off.tolist(), strict=True))
        self.theta, self.log_limit = theta, -2 * log_c
        # A sum whose logarithm is above the limit.
        self.ample = min(1e250, (1 + 1e-9) * math.exp(min(self.log_limit, 600.0)))

    def is_proved(self, tau: float) -> bool:
        """Whether theta ≥ (1 − τ) σ₁."""
        return tau > 0.0 and self._excludes((1.0 - tau) ** -2)

    def find(self) -> float:
        """The least σ that is excluded."""
        low, high = 0.0, SEARCH_ROUNDING  # λ − 1
        while not self._excludes(1.0 + high) and high < 1e12:
            low, high = high, 4 * high
        while low > 0.0 and high > (1 + 1e-6) * low:
            middle = 0.5 * (low + high)
            low, high = (low, middle) if self._excludes(1.0 + middle) else (middle, high)
        return self.theta * math.sqrt(1.0 + high)

    def _excludes(self, lam: float) -> bool:
        """Whether the sum at λ, in units of theta², is above the limit."""
        before, now, total, last = 0.0, 1.0, 1.0, 0.0
        for d, e in self.coefficients:
            before, now = now, ((lam - d) * now - last * before) / e
            last = e
            total += now * now
            if total > self.ample:
                return True
        return math.log(total) > self.log_limit
