"""Penalties h(σ(A)) on the singular values (the paper's section 2.1.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pygeco.factors import Array


class Penalty(Protocol):
    """A convex function of the singular values s ≥ 0."""

    @property
    def quadratic(self) -> float | None:
        """α where h = α Σ s², else None."""

    @property
    def smooth(self) -> bool:
        """Whether h has a gradient, U diag(slope(s)) Vᵀ, everywhere."""

    def value(self, s: Array) -> float: ...
    def slope(self, s: Array) -> Array: ...
    def prox(self, s: Array, step: float) -> Array:
        """argmin_x h(x) + ‖x − s‖² / (2 step)."""

    def excess(self, sigma: float, trace_norm: float) -> float:
        """Max over ‖Ā‖_tr ≤ trace_norm of σ₁‖Ā‖_tr − h(Ā): what a certificate adds."""


def _check(alpha: float) -> None:
    if not (np.isfinite(alpha) and alpha >= 0):
        raise ValueError(f"alpha: must be a finite number ≥ 0, not {alpha!r}.")


@dataclass(frozen=True)
class Schatten:
    """h = α (Σ sᵖ)^(2/p), the squared Schatten-p norm. p = 2 is the ridge."""

    alpha: float
    p: float = 2.0

    def __post_init__(self) -> None:
        _check(self.alpha)
        if not 1 <= self.p < np.inf:
            raise ValueError(
                f"p: must be a finite number ≥ 1 (h is not convex below), not {self.p!r}."
            )

    @property
    def quadratic(self) -> float | None:
        return self.alpha if self.p == 2 else None

    @property
    def smooth(self) -> bool:
        return self.p > 1

    def value(self, s: Array) -> float:
        return self.alpha * self._norm(s) ** 2

    def slope(self, s: Array) -> Array:
        size = self._norm(s)
        if size == 0.0 or not self.smooth:
            return np.zeros_like(s)
        return 2 * self.alpha * size * (s / size) ** (self.p - 1)

    def prox(self, s: Array, step: float) -> Array:
        """Bisection on t = ‖x‖_p; given t, each x solves x + c t^(2-p) x^(p-1) = s alone."""
        if self.p == 2:
            return s / (1 + 2 * step * self.alpha)
        low, high = 0.0, self._norm(s)
        x = s
        for _ in range(100):
            t = 0.5 * (low + high)
            if t <= low or t >= high:
                break
            x = _shrink(s, 2 * step * self.alpha * t ** (2 - self.p), self.p - 1)
            low, high = (t, high) if self._norm(x) > t else (low, t)
        return x

    def excess(self, sigma: float, trace_norm: float) -> float:
        # h(Ā) ≥ 0 is all that is used for p > 1, where the smooth gradient serves instead.
        if self.p > 1 or self.alpha == 0:
            return sigma * trace_norm
        best = min(trace_norm, sigma / (2 * self.alpha))
        return sigma * best - self.alpha * best**2

    def _norm(self, s: Array) -> float:
        return float(np.linalg.norm(s, self.p)) if len(s) else 0.0


def Ridge(alpha: float) -> Schatten:
    """H = α ‖A‖²_F: Schatten-2."""
    return Schatten(alpha, 2.0)


@dataclass(frozen=True)
class Trace:
    """h = α ‖A‖_tr: the sum of the singular values (Schatten-1), which lowers the rank."""

    alpha: float
    quadratic: float | None = None
    smooth: bool = False

    def __post_init__(self) -> None:
        _check(self.alpha)

    def value(self, s: Array) -> float:
        return self.alpha * float(np.abs(s).sum())

    def slope(self, s: Array) -> Array:
        return np.zeros_like(s)

    def prox(self, s: Array, step: float) -> Array:
        return np.maximum(s - step * self.alpha, 0.0)

    def excess(self, sigma: float, trace_norm: float) -> float:
        return max(0.0, sigma - self.alpha) * trace_norm


def _shrink(s: Array, c: float, power: float) -> Array:
    """The x in [0, s] with x + c x^power = s, for power ≥ 0, by bisection."""
    if power == 0:
        return np.maximum(s - c, 0.0)
    low, high = np.zeros_like(s), s.copy()
    for _ in range(60):
        x = 0.5 * (low + high)
        over = x + c * x**power > s
        low, high = np.where(over, low, x), np.where(over, x, high)
    return 0.5 * (low + high)
