"""What is proved about a solution after the run: a bound that is computed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import scipy  # scipy.optimize is imported when used

from pygeco.algorithm.directions import Pair
from pygeco.algorithm.penalties import Penalty
from pygeco.arrays.checks import is_real
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.objectives.base import Gradient, Objective
from pygeco.objectives.scaled import Scaled

ROUNDING = 16 * float(np.finfo(float).eps)
# A golden section of [0, 1] so often: 1e-12 wide.
GOLDEN_SECTIONS = 58
GOLDEN_RATIO = (math.sqrt(5) - 1) / 2
# Passes over the data that a search for the best scaling of the dual point may take.
MAX_TRIALS = 8
# Below this share of what could be known at most, the gap is within a quarter of a percent of what
# the best scaling gives: no search.
TIGHT_SHARE = 0.01
# The first scaling that is tried: where it is no better than zero, next to nothing is known.
FIRST_SCALE = 0.1


@dataclass(frozen=True)
class Certificate:
    """A bound: no matrix of trace norm at most t is better than A by more than `gap(t)`.

    F = R + h, and G is the gradient of F, or of R alone where h has none. For every scaling c of
    the dual point, F(A) − F(Ā) ≤ lift(c) + max over ‖Ā‖ ≤ t of c σ₁ ‖Ā‖ (less h(Ā) where h has no
    gradient), lift(c) = F(A) + F*(c G). At c = 1 that is convexity, ⟨G, A⟩ + σ₁ t; at c = 0 it
    is all that F(A) could fall by. For squares lift(c) = F (1 − c)² + c ⟨G, A⟩, and the best c
    gives F (1 − max(0, 1 − (⟨G, A⟩ + σ₁ t) / 2F)²). For other losses with a conjugate `lifts` holds
    lift at a few c, and where only R ≥ 0 is known, lift(c) ≤ F (1 − c) + c ⟨G, A⟩.

    With a penalty of weighted norm (`gamma`) G is that of the weighted matrix and `gap` speaks of
    the weighted norm ‖D_r^½ A D_c^½‖_tr; `gap(trace_norm=t)` is for the plain norm all the same,
    through ‖D_r^½ Ā D_c^½‖_tr ≤ stretch ‖Ā‖_tr.

    σ₁ is bounded above with probability at least `confidence` over the solver's random start, for
    each certificate by itself: k of them hold together with probability at least
    1 − k (1 − confidence).

    Attributes
    ----------
    sigma, upper : float
        σ₁(G) as found, and the bound on it.
    inner : float
        ⟨G, A⟩, measured.
    trace_norm : float
        ‖A‖_tr, the plain norm.
    confidence : float
        The probability of the bound on σ₁.
    penalty, penalty_value : Penalty or None, float
        h, and h(A).
    value : float
        R(A); NaN where it is not known.
    nonnegative, squared : bool
        Whether R ≥ 0 is known, and whether R is a weighted sum of squares.
    lifts : tuple of (float, float)
        (c, lift(c)), c rising.
    weighted_norm : float or None
        ‖D_r^½ A D_c^½‖_tr, where the penalty weights the norm.
    stretch : float
        √(max D_r · max D_c).
    rounding : float
        The share of ⟨G, A⟩ that may be rounding; a gap that is a difference is at least this large.

    Examples
    --------
    >>> import numpy as np
    >>> from pygeco import Dense, minimize
    >>> path = minimize(Dense(np.diag([3.0, 2.0, 1.0])), 2, random_state=0)
    >>> certificate = path[-1].certificate
    >>> bool(0 <= certificate.gap() <= certificate.gap(trace_norm=100.0))
    True
    """

    sigma: float
    upper: float
    inner: float
    trace_norm: float
    confidence: float
    penalty: Penalty | None = None
    penalty_value: float = 0.0
    value: float = math.nan
    nonnegative: bool = False
    squared: bool = False
    lifts: tuple[tuple[float, float], ...] = ()
    weighted_norm: float | None = None
    stretch: float = 1.0
    rounding: float = ROUNDING

    @property
    def norm(self) -> str:
        """The norm that `gap()` speaks of, in words."""
        gamma = self._gamma
        return f"trace norm weighted by counts to the power {gamma:g}" if gamma else "trace norm"

    @property
    def vacuous(self) -> bool:
        """Whether nothing is known at A's own norm: `gap()` is as large as any gap could be."""
        gap = self.gap()
        return gap > 0 and gap >= (1 - 1e-9) * self._rise(0.0, 0.0)

    def gap(self, trace_norm: float | None = None, *, weighted_norm: float | None = None) -> float:
        """The bound against every matrix of at most this trace norm (A's own by default).

        With a weighted penalty, A's own weighted norm is the default and `weighted_norm` takes any
        other; `trace_norm` is the plain norm. Infinity stands for all matrices.
        """
        if trace_norm is not None and weighted_norm is not None:
            raise ValueError("weighted_norm: is given beside trace_norm; give one of them.")
        for name, given in (("trace_norm", trace_norm), ("weighted_norm", weighted_norm)):
            if given is not None and not (is_real(given) and given >= 0):
                raise ValueError(f"{name}: must be a number of at least 0, not {given!r}.")
        if weighted_norm is not None:
            if not self._gamma:
                raise ValueError(
                    "weighted_norm: this certificate is of the plain norm; give trace_norm."
                )
            return self._gap(weighted_norm)
        if trace_norm is None:
            return self._gap(self.trace_norm if self.weighted_norm is None else self.weighted_norm)
        if self._gamma and self.weighted_norm is None:
            raise ValueError(
                "trace_norm: this certificate is of a weighted norm whose weights it does not "
                "have; give weighted_norm."
            )
        return self._gap(self.stretch * trace_norm)

    def excess(self, value: float) -> float:
        """How far A, of objective `value`, may be above the global minimum of R + α‖·‖_tr.

        R ≥ 0 bounds the minimum's trace norm by value / α. Where R can be negative, and without a
        trace norm, nothing does: infinite.
        """
        alpha = self._alpha
        return self._gap(value / alpha) if alpha > 0 and self.nonnegative else math.inf

    @property
    def _gamma(self) -> float:
        return 0.0 if self.penalty is None else self.penalty.gamma

    @property
    def _alpha(self) -> float:
        return 0.0 if self.penalty is None else self.penalty.threshold

    @property
    def _kink(self) -> float:
        """The scaling at which c σ₁ = α: up to it a trace norm outweighs every matrix."""
        return self._alpha / self.upper if self.upper > 0 else math.inf

    @property
    def _smooth(self) -> bool:
        return self.penalty is None or self.penalty.smooth

    @property
    def _least(self) -> float:
        """F(A) where h has a gradient, else R(A): what the dual point is scaled against."""
        return self.value + (self.penalty_value if self._smooth else 0.0)

    def _gap(self, t: float) -> float:
        return max(0.0, min(self._rise(c, t) for c in self._scales(t)))

    def _rise(self, c: float, t: float) -> float:
        """The bound that the dual point c G gives, over norms up to t."""
        # All terms but a negative ⟨G, A⟩ are ≥ 0: where they cancel, rounding is what is left.
        steep, hidden = c * self.upper, self.rounding * c * max(0.0, -self.inner)
        if self._smooth:
            return self._lift(c) + (steep * t if steep > 0 else 0.0) + hidden
        assert self.penalty is not None
        return self._lift(c) + self.penalty_value + self.penalty.excess(steep, t) + hidden

    def _lift(self, c: float) -> float:
        if c == 1.0:
            return self.inner
        if self.squared:
            return self._least * (1 - c) ** 2 + c * self.inner
        for (low, at_low), (high, at_high) in zip(self.lifts, self.lifts[1:], strict=False):
            if low <= c <= high:  # F* is convex: the chord lies above it
                return at_low + (at_high - at_low) * (c - low) / (high - low)
        return self._least * (1 - c) + c * self.inner if self.nonnegative else math.inf

    def _scales(self, t: float) -> list[float]:
        """Scalings of which one is the best, to rounding."""
        scales = [0.0, 1.0, *(c for c, _ in self.lifts)]
        if self.squared and self._least > 0:
            scales += [self._vertex(0.0), self._vertex(self.upper * t)]
            scales.append(min(self._kink, self._vertex(0.0)))
        elif self._kink < 1:
            scales.append(self._kink)
        if not self._smooth:
            scales.append(least_of(lambda c: self._rise(c, t)))
        return scales

    def _vertex(self, slope: float) -> float:
        return max(0.0, 1 - (self.inner + slope) / (2 * self._least))


def least_of(function: Callable[[float], float]) -> float:
    """Where a convex function on [0, 1] is least: golden sections."""
    low, high = 0.0, 1.0
    for _ in range(GOLDEN_SECTIONS):
        a, b = high - GOLDEN_RATIO * (high - low), low + GOLDEN_RATIO * (high - low)
        if function(a) <= function(b):
            high = b
        else:
            low = a
    return (low + high) / 2


def certify(
    objective: Objective,
    A: LowRank,
    G: Gradient,
    pair: Pair,
    *,
    penalty: Penalty | None = None,
    s: Array | None = None,
    trace_norm: float | None = None,
) -> Certificate:
    """The certificate at A, from ∇R(A) and the leading pair of ∇(R + h).

    `s` are A's singular values and `trace_norm` their sum, or a bound on norms that is an
    algorithm's own, where they are known. For a loss that is not squared but has a conjugate, a few
    passes look for the best scaling of the dual point at A's own norm.
    """
    s = A.svd().s if s is None else s
    own = float(s.sum()) if trace_norm is None else trace_norm
    h, slope = (0.0, 0.0) if penalty is None else (penalty.value(s), float(penalty.slope(s) @ s))
    # Along its own gradient, h* is known where h is a squared norm: h*(c ∇h) = c² h.
    known = penalty is None or not penalty.smooth or penalty.degree == 2
    found = Certificate(
        pair.sigma,
        pair.upper,
        G.inner + slope,
        own,
        pair.confidence,
        penalty,
        h,
        G.value,
        nonnegative=objective.nonnegative,
        squared=known and objective.squared,
        rounding=max(ROUNDING, float(np.finfo(objective.dtype).eps)),
    )
    if isinstance(objective, Scaled):
        plain = float(objective.unscaled(A).svd().s.sum())
        found = replace(found, trace_norm=plain, weighted_norm=own, stretch=objective.stretch)
    along = None if found.squared or not known else objective.slack(A)
    return found if along is None else _with_lifts(found, along, own)


def _with_lifts(found: Certificate, along: Callable[[float], float], t: float) -> Certificate:
    """The certificate with lift(c) at a few c, the best of them for norms up to t nearly so."""
    # h + h*(c ∇h) − c ⟨∇h, A⟩ = h (1 − c)² for a squared norm h.
    curved = found.penalty_value if found.penalty is not None and found.penalty.smooth else 0.0
    lifts = {1.0: found.inner}

    def stated() -> Certificate:
        return replace(found, lifts=tuple(sorted(lifts.items())))

    def rise(c: float) -> float:
        lift = along(c) + curved * (1 - c) ** 2 + c * found.inner
        if math.isfinite(lift):
            lifts[float(c)] = float(lift)
        return stated()._rise(c, t)

    most, alpha = rise(0.0), found._alpha
    if 0 < alpha < found.upper:
        rise(alpha / found.upper)
    if stated()._rise(1.0, t) <= TIGHT_SHARE * most or rise(FIRST_SCALE) >= most:
        return stated()
    scipy.optimize.minimize_scalar(
        rise, bounds=(FIRST_SCALE, 1.0), method="bounded", options={"maxiter": MAX_TRIALS}
    )
    return stated()
