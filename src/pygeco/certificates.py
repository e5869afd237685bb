"""What is proved about a solution: before the run (Theorems 1 and 2) and after it (computed)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pygeco.penalties import Penalty


@dataclass(frozen=True)
class Certificate:
    """No matrix with trace norm ≤ t is better than this one by more than `gap(t)`.

    Convexity gives F(A) − F(Ā) ≤ ⟨G, A⟩ − ⟨G, Ā⟩ ≤ inner + σ₁(G) ‖Ā‖_tr, F = R + h, G its gradient.
    Where h has no gradient, G = ∇R and h itself enters: inner + h(A) + max (σ₁ t − h). σ₁ is
    bounded above with probability at least `confidence` over the solver's random start.
    """

    sigma: float
    upper: float
    inner: float
    trace_norm: float
    confidence: float
    penalty: Penalty | None = None
    penalty_value: float = 0.0

    def gap(self, trace_norm: float | None = None) -> float:
        """The bound against every matrix of at most this trace norm (A's own by default)."""
        t = self.trace_norm if trace_norm is None else trace_norm
        if self.penalty is None or self.penalty.smooth:
            return max(0.0, self.inner + self.upper * t)
        return max(0.0, self.inner + self.penalty_value + self.penalty.excess(self.upper, t))

    def excess(self, value: float) -> float:
        """How far A, of objective `value`, may be above the global minimum of R + α‖·‖_tr.

        R ≥ 0 bounds the minimum's trace norm by value / α. Without a trace norm nothing does.
        """
        alpha = 0.0 if self.penalty is None else self.penalty.threshold
        return self.gap(value / alpha) if alpha > 0 else math.inf


def guaranteed_gap(trace_norm: float, rank: int, *, smoothness: float, tau: float = 0.0) -> float:
    """Theorem 1: after `rank` steps, R(A) ≤ R(Ā) + 2β‖Ā‖²_tr / ((r + 1)(1 − τ)²)."""
    _check(rank=rank, tau=tau, smoothness=smoothness)
    return 2 * smoothness * trace_norm**2 / ((rank + 1) * (1 - tau) ** 2)


def guaranteed_rank(trace_norm: float, gap: float, *, smoothness: float, tau: float = 0.0) -> int:
    """Theorem 1, the other way: the rank at which R(A) ≤ R(Ā) + gap is sure."""
    _check(rank=0, tau=tau, smoothness=smoothness)
    if not gap > 0:
        raise ValueError(f"gap: must be positive, not {gap!r}.")
    return max(0, math.ceil(2 * smoothness * trace_norm**2 / (gap * (1 - tau) ** 2) - 1))


def guaranteed_gap_at_rank(
    other_rank: int,
    rank: int,
    *,
    smoothness: float,
    strong_convexity: float,
    value_at_zero: float,
    tau: float = 0.0,
) -> float:
    """Theorem 2: the same against every Ā of rank `other_rank`.

    R must be σ-strongly convex over the singular vectors of Ā, σ = `strong_convexity`.
    """
    _check(rank=rank, tau=tau, smoothness=smoothness)
    if not strong_convexity > 0:
        raise ValueError(f"strong_convexity: must be positive, not {strong_convexity!r}.")
    scale = 4 * smoothness * value_at_zero / strong_convexity
    return scale * other_rank / ((rank + 1) * (1 - tau) ** 2)


def _check(*, rank: int, tau: float, smoothness: float) -> None:
    if rank < 0:
        raise ValueError(f"rank: must be at least 0, not {rank!r}.")
    if not 0 <= tau < 1:
        raise ValueError(f"tau: must be in [0, 1), not {tau!r}.")
    if not smoothness > 0:
        raise ValueError(f"smoothness: must be positive, not {smoothness!r}.")
