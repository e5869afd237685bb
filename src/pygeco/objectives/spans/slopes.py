"""The core of an objective of which nothing is known but its value and its slopes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
import scipy  # scipy.optimize is imported when used

from pygeco.arrays.low_rank import Array, LowRank
from pygeco.objectives.spans.kronecker import Model

MIN_TURN, MAX_TURN = 0.1, 1.0  # shares of the slope at zero by which it changes within a unit
LENGTHS = 0.01 * 10.0 ** np.arange(30)  # tried for that, and as many shorter ones


class Sloped(Protocol):
    """What the span needs of an objective."""

    def value(self, A: LowRank) -> float: ...
    def slopes(self, A: LowRank) -> Any:
        """∇R(A): whatever multiplies."""


class Units(NamedTuple):
    """A length in which cores are measured, and how much R changes over it."""

    length: float
    value: float


@dataclass(frozen=True, eq=False)
class CustomSpan:
    """B ↦ R(U B Vᵀ) with slope Uᵀ∇R V; no curvature is known, so steps come from L-BFGS."""

    objective: Sloped
    U: Array
    V: Array
    quadratic: bool = False

    def append(self, u: Array, v: Array) -> Self:
        return replace(self, U=np.column_stack([self.U, u]), V=np.column_stack([self.V, v]))

    def rotate(self, P: Array, Q: Array) -> Self:
        return replace(self, U=self.U @ P, V=self.V @ Q)

    def value(self, B: Array) -> float:
        return self.objective.value(self._matrix(B))

    def slope(self, B: Array) -> Array:
        return self.U.T @ np.asarray(self.objective.slopes(self._matrix(B)) @ self.V)

    @cached_property
    def units(self) -> Units:
        """From the slope at zero: over the length it changes by a good share of itself.

        Data may be of any size; the tolerances of L-BFGS and the steps of differences are not.
        """
        start = self.slope(np.zeros((self.U.shape[1], self.V.shape[1])))
        size = float(np.linalg.norm(start))
        if size == 0.0:
            return Units(1.0, 1.0)

        def turn(length: float) -> float:
            return float(np.linalg.norm(self.slope(-length / size * start) - start)) / size

        if turn(LENGTHS[0]) < MIN_TURN:
            found = (t for t in LENGTHS[1:].tolist() if turn(t) >= MIN_TURN)
        else:
            found = (t for t in (LENGTHS[0] ** 2 / LENGTHS).tolist() if turn(t) <= MAX_TURN)
        length = next(found, 1.0)
        return Units(length, length * size)

    def newton(self, B: Array, ridge: float) -> Array:
        """The whole way to the minimum of R + ridge/2 ‖B‖², as far as L-BFGS gets."""
        length, size = self.units

        def both(x: Array) -> tuple[float, Array]:
            C = length * x.reshape(B.shape)
            value = self.value(C) + 0.5 * ridge * float(np.sum(C * C))
            return value / size, (self.slope(C) + ridge * C).reshape(-1) * (length / size)

        found = scipy.optimize.minimize(
            both,
            B.reshape(-1) / length,
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": 1000, "maxfun": 2000, "maxcor": 30, "ftol": 1e-15, "gtol": 1e-12},
        )
        return length * found.x.reshape(B.shape) - B

    def model(self, B: Array) -> Model:
        """The quadratic model at B, the curvature by differences of the slope: 2 s² gradients."""
        H = self._differences(lambda x: self.slope(x.reshape(B.shape)).reshape(-1), B.reshape(-1))
        bend = float(np.linalg.eigvalsh(H)[-1])

        def apply(D: Array) -> Array:
            return (H @ D.reshape(-1)).reshape(B.shape)

        return Model(B, self.value(B), self.slope(B), apply, bend)

    def lipschitz(self) -> float:
        """The curvature at zero, as a first guess."""
        return self.model(np.zeros((self.U.shape[1], self.V.shape[1]))).lipschitz()

    def diagonal(self, b: Array) -> tuple[Array, Array]:
        """The curvature by differences of the slope: 2 s gradients."""

        def slope(b: Array) -> Array:
            return np.diag(self.slope(np.diag(b)))

        return slope(b).copy(), self._differences(slope, b)

    def _differences(self, slope: Callable[[Array], Array], x: Array) -> Array:
        """The symmetric matrix of derivatives of a slope at x, by central differences."""
        step = 1e-5 * (self.units.length + float(np.abs(x).max(initial=0.0)))
        H = np.stack([slope(x + e) - slope(x - e) for e in step * np.eye(len(x))]) / (2 * step)
        return (H + H.T) / 2

    def _matrix(self, B: Array) -> LowRank:
        P, s, Qt = np.linalg.svd(B, full_matrices=False)
        return LowRank(self.U @ P, s, self.V @ Qt.T)
