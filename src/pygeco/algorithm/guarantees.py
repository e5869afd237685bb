"""What is proved before the run: the paper's Theorems 1 and 2."""

from __future__ import annotations

import math


def guaranteed_gap(trace_norm: float, rank: int, *, smoothness: float, tau: float = 0.0) -> float:
    """Theorem 1: after `rank` steps, R(A) ≤ R(Ā) + 2β‖Ā‖²_tr / ((r + 1)(1 − τ)²).

    Parameters
    ----------
    trace_norm : float
        ‖Ā‖_tr, of the matrix that A is compared with.
    rank : int
        r, the steps taken.
    smoothness : float
        β of R; every objective has it.
    tau : float, default=0.0
        τ of the direction.

    Returns
    -------
    float
        The most by which R(A) exceeds R(Ā).

    Examples
    --------
    >>> from pygeco import guaranteed_gap, guaranteed_rank
    >>> guaranteed_gap(trace_norm=10.0, rank=19, smoothness=0.02)
    0.2
    >>> guaranteed_rank(trace_norm=10.0, gap=0.2, smoothness=0.02)
    19
    """
    _check(rank=rank, tau=tau, smoothness=smoothness)
    return 2 * smoothness * _square(trace_norm) / ((rank + 1) * (1 - tau) ** 2)


def guaranteed_rank(trace_norm: float, gap: float, *, smoothness: float, tau: float = 0.0) -> int:
    """Theorem 1, solved for the rank: the rank at which R(A) ≤ R(Ā) + gap is guaranteed.

    Parameters
    ----------
    trace_norm : float
        ‖Ā‖_tr, of the matrix that A is compared with.
    gap : float
        The allowed distance.
    smoothness : float
        β of R.
    tau : float, default=0.0
        τ of the direction.

    Returns
    -------
    int
        The rank. It is a bound: far fewer steps usually do.
    """
    _check(rank=0, tau=tau, smoothness=smoothness)
    if not gap > 0:
        raise ValueError(f"gap: must be positive, not {gap!r}.")
    steps = 2 * smoothness * _square(trace_norm) / gap / (1 - tau) ** 2 - 1
    if not math.isfinite(steps):
        raise ValueError(
            f"gap: {gap!r} is so small beside trace_norm={trace_norm!r} that the rank overflows; "
            "allow a larger one."
        )
    return max(0, math.ceil(steps))


def guaranteed_gap_at_rank(
    other_rank: int,
    rank: int,
    *,
    smoothness: float,
    strong_convexity: float,
    value_at_zero: float,
    tau: float = 0.0,
) -> float:
    """Theorem 2: the bound of Theorem 1 for every Ā of rank `other_rank`.

    R must be σ-strongly convex over the singular vectors of Ā, σ = `strong_convexity`, and
    nowhere negative: the proof bounds ‖Ā‖_tr by R(0) − R(Ā) ≤ R(0), `value_at_zero`. For a loss
    that can be negative, give R(0) less a lower bound on R instead.

    Parameters
    ----------
    other_rank : int
        The rank of Ā.
    rank : int
        The steps taken.
    smoothness : float
        β of R.
    strong_convexity : float
        σ of R.
    value_at_zero : float
        R(0).
    tau : float, default=0.0
        τ of the direction.

    Returns
    -------
    float
        The most by which R(A) exceeds R(Ā).
    """
    _check(rank=rank, tau=tau, smoothness=smoothness)
    if not strong_convexity > 0:
        raise ValueError(f"strong_convexity: must be positive, not {strong_convexity!r}.")
    if other_rank < 0:
        raise ValueError(f"other_rank: must be at least 0, not {other_rank!r}.")
    if not value_at_zero >= 0:
        raise ValueError(f"value_at_zero: must be at least 0, not {value_at_zero!r}.")
    scale = 4 * smoothness * value_at_zero / strong_convexity
    return scale * other_rank / ((rank + 1) * (1 - tau) ** 2)


def _square(trace_norm: float) -> float:
    """Of a norm; infinite where it overflows."""
    if not (trace_norm >= 0 and math.isfinite(trace_norm)):
        raise ValueError(f"trace_norm: must be finite and at least 0, not {trace_norm!r}.")
    return float(trace_norm) * float(trace_norm)


def _check(*, rank: int, tau: float, smoothness: float) -> None:
    if rank < 0:
        raise ValueError(f"rank: must be at least 0, not {rank!r}.")
    if not 0 <= tau < 1:
        raise ValueError(f"tau: must be in [0, 1), not {tau!r}.")
    if not smoothness > 0:
        raise ValueError(f"smoothness: must be positive, not {smoothness!r}.")
