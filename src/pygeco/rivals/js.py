"""JS: a nuclear-norm constraint by rank-one steps.

M. Jaggi and M. Sulovský, "A simple algorithm for nuclear norm regularized problems", ICML 2010: the
algorithm that the GECO paper compares itself with.
"""

from __future__ import annotations

import numpy as np

from pygeco.algorithm.directions import Direction, Pair
from pygeco.algorithm.path import Path, Stop
from pygeco.arrays.checks import check_rank
from pygeco.arrays.low_rank import LowRank
from pygeco.arrays.streams import RandomState
from pygeco.objectives.base import Gradient, Objective
from pygeco.rivals.base import Callback, Iterate, Iterates, check_positive, follow
from pygeco.rivals.frank_wolfe import Columns, approx_ev, curvature, view_of_zero


def js(
    objective: Objective,
    rank: int,
    trace_norm: float,
    *,
    direction: Direction | None = None,
    random_state: RandomState = None,
    callback: Callback | None = None,
) -> Path:
    """Minimize R(A) such that ‖A‖_tr ≤ t, one rank-one step a rank: Algorithm 2 of the paper.

    The problem is lifted: with Z = [[·, A], [Aᵀ, ·]] ⪰ 0 of size m + n, ‖A‖_tr ≤ t is tr Z ≤ 2t.
    The leading eigenvector x of the lift of −∇R is (−u, v)/√2, u and v the leading singular
    vectors of ∇R(A). So Z ← (1 − γ) Z + 2t γ x xᵀ is, on its block, A ← (1 − γ) A − γ t u vᵀ; γ is
    the best in [0, 1]. A step's `gap` is the Frank–Wolfe duality gap ⟨∇R, A⟩ + σ₁ t, which bounds
    R(A) − min R. O(|E|) a step beyond the search for its pair, whatever the rank.

    Parameters
    ----------
    objective : Objective
        R.
    rank : int
        The number of rank-one steps.
    trace_norm : float
        t.
    direction : Direction or None, default=None
        How pairs are found; None is ApproxEV(∇R, C/k²) at step k, as in `hazan`.
    random_state : int, Generator or None, default=None
        The same seed gives the same bits.
    callback : callable or None, default=None
        Called with each `Step`; if it returns true, the run stops.

    Returns
    -------
    Path
        One step a rank.

    Examples
    --------
    >>> from pygeco import Entries
    >>> from pygeco.data import make_ratings
    >>> from pygeco.rivals import js
    >>> path = js(Entries(*make_ratings((30, 20), 200)), 3, trace_norm=100.0, random_state=0)
    >>> [step.rank for step in path]
    [1, 2, 3]
    """
    rank, t = check_rank(rank), check_positive("trace_norm", trace_norm)
    return follow(
        objective, lambda rng: _js(objective, rank, t, direction, rng), random_state, callback
    )


def _js(
    objective: Objective, rank: int, t: float, direction: Direction | None, rng: np.random.Generator
) -> Iterates:
    C = curvature(objective, t)

    def search(G: Gradient, k: int) -> Pair:
        return approx_ev(G, C / (t * k**2), rng) if direction is None else direction(G, rng)

    view, weights, columns = view_of_zero(objective), np.zeros(0), Columns(objective.shape, rank)
    pair = search(view.gradient(), 1)
    for k in range(1, rank + 1):
        if pair.sigma == 0.0:
            return Stop.STATIONARY
        S = LowRank(-pair.u[:, None], np.array([t]), pair.v[:, None])
        line = view.toward(S)
        gamma = line.best()
        if gamma == 0.0:
            return Stop.STALLED
        view = line.at(gamma)
        weights = np.append((1 - gamma) * weights, gamma * t)
        A = columns.grown(weights, -pair.u, pair.v)
        G = view.gradient()
        pair = search(G, k + 1)
        yield Iterate(A, G, 6 + pair.passes, pair, t)
    return Stop.RANK
