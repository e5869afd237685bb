"""The mean loss as a function of all measurements z (N, K), intercepts eliminated."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pygeco.arrays.linalg import solve_psd
from pygeco.arrays.low_rank import Array
from pygeco.arrays.newton import NEWTON_STEPS, descend
from pygeco.losses import Loss, Multinomial, Squared

MAX_LAST_STEPS = 4  # of Newton, undamped, once the value cannot tell any more
MAX_FORCE = 1e-6  # left of the slopes' sum at the best intercepts, as a share of their sizes
MAX_DOUBLINGS, BISECTIONS = 30, 60  # of an interval that holds an intercept


class Curvature(NamedTuple):
    """The second derivative of r in z, as an action on dz (N, K).

    Row n of it is diag(hₙ) − cₙcₙᵀ. Where intercepts were eliminated, H − H F M⁺ FᵀH with F the
    columns of ones and M = FᵀHF (the Schur complement).
    """

    diagonal: Array
    coupling: Array | None
    inverse: Array | None

    def rowwise(self, dz: Array) -> Array:
        out = self.diagonal * dz
        if self.coupling is not None:
            out -= self.coupling * np.sum(self.coupling * dz, axis=1, keepdims=True)
        return out

    def act(self, dz: Array) -> Array:
        out = self.rowwise(dz)
        if self.inverse is None:
            return out
        shift = self.inverse @ out.sum(axis=0)
        return out - self.rowwise(np.broadcast_to(shift, out.shape))

    def totals(self) -> Array:
        """Σₙ diag(hₙ) − cₙcₙᵀ, the curvature of the intercepts (K, K)."""
        M = np.diag(self.diagonal.sum(axis=0))
        return M if self.coupling is None else M - self.coupling.T @ self.coupling


@dataclass(frozen=True, eq=False)
class Risk:
    """r(z) = min_b Σₙ wₙ ℓ(zₙ + oₙ + b, yₙ): z (N, K), w (N, 1) summing to one, b (K,).

    b is zero without `intercept`. With it, r stays convex and at most as curved, since it is a
    partial minimum; its slope is the slope at the best b. `settle` adds o and b; the other
    functions take what it returns.
    """

    loss: Loss
    y: Array
    weights: Array
    offset: Array | float = 0.0
    intercept: bool = False

    @property
    def quadratic(self) -> bool:
        return isinstance(self.loss, Squared)

    def settle(self, z: Array, start: Array | None = None) -> tuple[Array, Array]:
        """Z + o + b and the best b (K,), searched for from `start`."""
        moved = z + self.offset
        if not self.intercept:
            return moved, np.zeros(z.shape[1])
        # Where z has a large mean, every prediction is saturated: without it they tell more.
        starts = [self._first - (self.weights * z).sum(axis=0)]
        starts += [] if start is None else [start]
        b = self._best(moved, min(starts, key=lambda b: self.value(moved + b)))
        return moved + b, b

    def value(self, at: Array) -> float:
        values = self.loss.value(at, self.y).reshape(len(at), -1)
        return float(np.sum(self.weights * values))

    def slope(self, at: Array) -> Array:
        return self.weights * self.loss.slope(at, self.y)

    def curvature(self, at: Array, *, stiff: bool = False) -> Curvature:
        """The curvature at z, or with `stiff` the one that Newton steps use."""
        rows = self._rowwise(at, stiff)
        if not self.intercept:
            return rows
        return rows._replace(inverse=np.linalg.pinv(rows.totals(), hermitian=True))

    def _rowwise(self, at: Array, stiff: bool) -> Curvature:
        measure = self.loss.stiffness if stiff else self.loss.curvature
        h = measure(at, self.y)
        # The multinomial loss is the one whose predictions of a row meet: diag(π) − π πᵀ.
        coupling = np.sqrt(self.weights) * h if isinstance(self.loss, Multinomial) else None
        return Curvature(self.weights * h, coupling, None)

    @cached_property
    def _first(self) -> Array:
        """The best intercepts at z = 0, from whose mean each later search starts."""
        zero = self._zero
        return self._best(zero, -(self.weights * zero).sum(axis=0))

    @cached_property
    def _zero(self) -> Array:
        """Predictions without z and b."""
        K = self.y.shape[1] if self.y.ndim == 2 else len(getattr(self.loss, "classes", ()))
        return np.zeros((len(self.weights), K)) + self.offset

    @cached_property
    def _usual(self) -> Array:
        """Σ w |ℓ′| without z and b, (K,): what a sum of slopes is small beside."""
        return np.abs(self.slope(self._zero)).sum(axis=0)

    def _best(self, z: Array, b: Array) -> Array:
        """Argmin_b Σ w ℓ(z + b, y): Newton on K variables; bisection where rounding stops that."""
        b = self._newton(z, b)
        slopes = self.slope(z + b)
        usual = np.maximum(self._usual, np.abs(slopes).sum(axis=0))
        far = np.abs(slopes.sum(axis=0)) > MAX_FORCE * usual
        if not far.any() or isinstance(self.loss, Multinomial):  # whose predictions of a row meet
            return b
        return np.where(far, self._bisect(z, b), b)

    def _bisect(self, z: Array, b: Array) -> Array:
        """The same where each b is found alone: its slope Σ w ℓ′ never falls as it grows."""
        reach = self._reach(z + b)
        low, high = b - reach, b + reach
        for _ in range(MAX_DOUBLINGS):
            below, above = self.slope(z + low).sum(axis=0), self.slope(z + high).sum(axis=0)
            if np.all(below <= 0) and np.all(above >= 0):
                break
            low, high = (
                np.where(below > 0, 2 * low - b, low),
                np.where(above < 0, 2 * high - b, high),
            )
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            rises = self.slope(z + middle).sum(axis=0) > 0
            low, high = np.where(rises, low, middle), np.where(rises, middle, high)
        return (low + high) / 2

    def _reach(self, at: Array) -> Array:
        """How far intercepts may have to move, (K,): predictions of y to the furthest of these."""
        if not self.loss.regression:
            return 1 + np.abs(at).max(axis=0)
        return np.maximum(np.abs(at - self.y).max(axis=0), np.finfo(float).tiny)

    def _newton(self, z: Array, b: Array) -> Array:
        """Newton steps with a line search from b, none much longer than it may have to move."""

        def force(b: Array) -> Array:
            return -self.slope(z + b).sum(axis=0)

        def newton(b: Array, *, stiff: bool = True) -> tuple[Array, float]:
            M, f = self._rowwise(z + b, stiff).totals(), force(b)
            if isinstance(self.loss, Multinomial):
                M += np.trace(M) / len(M) ** 2  # the same number added to every b changes nothing
            if stiff:  # Saturated predictions bend so little that a step would be without bound.
                M[np.diag_indices_from(M)] += np.abs(f) / self._reach(z + b)
            step = solve_psd(M, f)
            return step, float(f @ step)

        b, _ = descend(lambda b: self.value(z + b), newton, b, NEWTON_STEPS)
        # The value cannot tell any more; the slope still can, and it is what others use.
        size = np.abs(force(b)).max()
        for _ in range(MAX_LAST_STEPS):
            last = b + newton(b, stiff=False)[0]
            before, size = size, np.abs(force(last)).max()
            if not size < before:
                break
            b = last
        return b
