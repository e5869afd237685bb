"""Penalties h(σ(A)) on the singular values (the paper's section 2.1.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy  # scipy.optimize is imported when used: it takes longer than the rest of it

from pygeco.arrays.checks import is_real
from pygeco.arrays.low_rank import Array


class Penalty(Protocol):
    """A convex function of the singular values s ≥ 0, of A or of D_r^½ A D_c^½.

    The weights D are (row and column counts)^gamma, scaled to mean 1 on each side: cells are not
    observed uniformly, and the plain norm suffers for it (Salakhutdinov and Srebro 2010).
    """

    @property
    def gamma(self) -> float:
        """The power of the counts; 0 is the plain norm."""

    @property
    def quadratic(self) -> float | None:
        """α where h = α Σ s², else None."""

    @property
    def smooth(self) -> bool:
        """Whether h has a gradient, U diag(slope(s)) Vᵀ, everywhere."""

    @property
    def threshold(self) -> float:
        """α where h = α Σ s: the size of ∇R that h holds down; else 0."""

    @property
    def degree(self) -> int:
        """d with h(c s) = cᵈ h(s)."""

    def value(self, s: Array) -> float: ...
    def slope(self, s: Array) -> Array: ...
    def prox(self, s: Array, step: float) -> Array:
        """argmin_x h(x) + ‖x − s‖² / (2 step)."""

    def excess(self, sigma: float, trace_norm: float) -> float:
        """Max over ‖Ā‖_tr ≤ trace_norm of σ₁‖Ā‖_tr − h(Ā): what a certificate adds."""


def _check(alpha: float, gamma: float) -> None:
    if not (is_real(alpha) and 0 <= alpha < np.inf):
        raise ValueError(f"alpha: must be a finite number ≥ 0, not {alpha!r}.")
    if not (is_real(gamma) and 0 <= gamma <= 1):
        raise ValueError(f"gamma: must be between 0 and 1, not {gamma!r}.")


@dataclass(frozen=True)
class Schatten:
    """h = α (Σ sᵖ)^(2/p), the squared Schatten-p norm. p = 2 is the ridge.

    Parameters
    ----------
    alpha : float
        α, the weight beside the mean loss.
    p : float, default=2.0
        At least 1; near 1 it lowers the rank.
    gamma : float, default=0.0
        The power of the counts in a weighted norm; 0 is the plain norm. See `Penalty`.

    Examples
    --------
    >>> import numpy as np
    >>> from pygeco import Schatten
    >>> Schatten(0.5, p=1).value(np.array([2.0, 1.0]))
    4.5
    """

    alpha: float
    p: float = 2.0
    gamma: float = 0.0

    def __post_init__(self) -> None:
        _check(self.alpha, self.gamma)
        if not (is_real(self.p) and 1 <= self.p < np.inf):
            raise ValueError(
                f"p: must be a finite number ≥ 1 (h is not convex below), not {self.p!r}."
            )

    @property
    def quadratic(self) -> float | None:
        return self.alpha if self.p == 2 else None

    @property
    def smooth(self) -> bool:
        return self.p > 1

    @property
    def threshold(self) -> float:
        return 0.0

    @property
    def degree(self) -> int:
        return 2

    def value(self, s: Array) -> float:
        return self.alpha * self._norm(s) ** 2

    def slope(self, s: Array) -> Array:
        size = self._norm(s)
        if size == 0.0 or not self.smooth:
            return np.zeros_like(s)
        return 2 * self.alpha * size * (s / size) ** (self.p - 1)

    def prox(self, s: Array, step: float) -> Array:
        """X = t z with ‖z‖_p = 1, where each z + c z^(p−1) = s / t, c = 2 α step."""
        c, size = 2 * self.alpha * step, self._norm(s)
        if self.p == 2 or c == 0 or size == 0:
            return s / (1 + c)
        if self.p == 1:
            ordered = np.sort(s)[::-1]
            norms = np.cumsum(ordered) / (1 + c * np.arange(1, len(s) + 1))
            return np.maximum(s - c * norms[np.sum(ordered > c * norms) - 1], 0.0)
        return self._prox(s / size, c) * size

    def _prox(self, s: Array, c: float) -> Array:
        """The search for ℓ = −log t, for ‖s‖_p = 1: ‖z‖_p rises with it, and is 1 in between."""

        def z(level: float) -> Array:
            return _root(np.exp(level) * s, c, self.p - 1)

        # ‖z + c z^(p−1)‖_p ≤ 1 + c k^((2−p)/p) for the k values of a unit z, by Hölder.
        high = np.log1p(c * len(s) ** max(0.0, 2 / self.p - 1))
        room = 1e-9 * (1 + high)  # for rounding at the ends
        level = scipy.optimize.brentq(
            lambda at: self._norm(z(at)) - 1, -room, high + room, xtol=1e-15, rtol=1e-15
        )
        return z(level) * np.exp(-level)

    def excess(self, sigma: float, trace_norm: float) -> float:
        # h(Ā) ≥ 0 is all that is used for p > 1, where the smooth gradient serves instead.
        if self.p > 1 or self.alpha == 0:
            return sigma * trace_norm if sigma > 0 else 0.0
        best = min(trace_norm, sigma / (2 * self.alpha))
        return sigma * best - self.alpha * best**2

    def _norm(self, s: Array) -> float:
        top = float(np.max(s, initial=0.0))  # powers of tiny or huge values leave the range
        return top * float(np.linalg.norm(s / top, self.p)) if top > 0 else 0.0


def Ridge(alpha: float, gamma: float = 0.0) -> Schatten:
    """Make the penalty α ‖A‖²_F, which is Schatten-2.

    Parameters
    ----------
    alpha : float
        α, the weight beside the mean loss.
    gamma : float, default=0.0
        The power of the counts in a weighted norm; 0 is the plain norm. See `Penalty`.

    Returns
    -------
    Schatten
        With p = 2.

    Examples
    --------
    >>> import numpy as np
    >>> from pygeco import Ridge
    >>> round(Ridge(0.5).value(np.array([3.0, 1.0])), 9)
    5.0
    """
    return Schatten(alpha, 2.0, gamma)


@dataclass(frozen=True)
class Trace:
    """h = α ‖A‖_tr: the sum of the singular values (Schatten-1), which lowers the rank.

    Parameters
    ----------
    alpha : float
        α, the weight beside the mean loss.
    gamma : float, default=0.0
        The power of the counts in a weighted norm; 0 is the plain norm. ½ often serves ratings
        best; 1 is ALS-WR. See `Penalty`.
    quadratic : None
        Not a choice: h is not a sum of squares.
    smooth : bool, default=False
        Not a choice: h has no gradient where a singular value is zero.

    Examples
    --------
    >>> import numpy as np
    >>> from pygeco import Dense, Trace, minimize
    >>> path = minimize(Dense(np.diag([3.0, 1.0])), 2, penalty=Trace(1.0), random_state=0)
    >>> path.A.s.round(3).tolist()
    [1.0]
    >>> path.stop.name
    'OPTIMAL'
    """

    alpha: float
    gamma: float = 0.0
    quadratic: float | None = None
    smooth: bool = False

    def __post_init__(self) -> None:
        _check(self.alpha, self.gamma)

    @property
    def threshold(self) -> float:
        return self.alpha

    @property
    def degree(self) -> int:
        return 1

    def value(self, s: Array) -> float:
        return self.alpha * float(np.abs(s).sum())

    def slope(self, s: Array) -> Array:
        return np.zeros_like(s)

    def prox(self, s: Array, step: float) -> Array:
        return np.maximum(s - step * self.alpha, 0.0)

    def excess(self, sigma: float, trace_norm: float) -> float:
        return (sigma - self.alpha) * trace_norm if sigma > self.alpha else 0.0


def _root(w: Array, c: float, power: float) -> Array:
    """The z ≥ 0 with z + c z^power = w: Newton from above on a convex function."""
    if power < 1:  # convex in y = z^power: y^(1/power) + c y = w
        return _root(w / c, 1 / c, 1 / power) ** (1 / power)
    z = np.minimum(w, (w / c) ** (1 / power))
    for _ in range(60):
        lower = z - (z + c * z**power - w) / (1 + c * power * z ** (power - 1))
        done = np.all(z - lower <= 1e-15 * z)
        z = np.maximum(lower, 0.0)
        if done:
            break
    return z
