"""Hazan's algorithm: fixed steps, and singular vectors that sharpen as it goes.

E. Hazan, "Sparse approximate solutions to semidefinite programs", LATIN 2008, on the
lift by which Jaggi and Sulovský (ICML 2010) bring it to the trace norm; see `pygeco.rivals.js`.
"""

from __future__ import annotations

import numpy as np

from pygeco.algorithm.path import Path, Stop
from pygeco.arrays.checks import check_rank
from pygeco.arrays.low_rank import LowRank
from pygeco.arrays.streams import RandomState
from pygeco.objectives.base import Objective
from pygeco.rivals.base import Callback, Iterate, Iterates, check_positive, follow
from pygeco.rivals.frank_wolfe import Columns, approx_ev, curvature, view_of_zero


def hazan(
    objective: Objective,
    rank: int,
    trace_norm: float,
    *,
    random_state: RandomState = None,
    callback: Callback | None = None,
) -> Path:
    """Minimize R(A) such that ‖A‖_tr ≤ t, with the step 2/(k + 2) at iteration k = 0, 1, …

    The pair of iteration k is a singular pair up to an additive error: ApproxEV(∇R, C/(k + 1)²)
    gives t (σ₁ − uᵀ∇R v) ≤ C/(k + 1)². C = 2 β t² bounds the curvature constant of R over the
    ball, whose diameter is 2t. Then R(A_k) − min R = O(C/k) (the paper's Theorem 1). A step's
    `gap` bounds the same difference from the data.

    Parameters
    ----------
    objective : Objective
        R.
    rank : int
        The number of rank-one steps.
    trace_norm : float
        t.
    random_state : int, Generator or None, default=None
        The same seed gives the same bits.
    callback : callable or None, default=None
        Called with each `Step`; if it returns true, the run stops.

    Returns
    -------
    Path
        One step a rank.
    """
    rank, t = check_rank(rank), check_positive("trace_norm", trace_norm)
    return follow(objective, lambda rng: _hazan(objective, rank, t, rng), random_state, callback)


def _hazan(objective: Objective, rank: int, t: float, rng: np.random.Generator) -> Iterates:
    view, weights, columns = view_of_zero(objective), np.zeros(0), Columns(objective.shape, rank)
    C = curvature(objective, t)
    pair = approx_ev(view.gradient(), C / t, rng)
    for k in range(rank):
        if pair.sigma == 0.0:
            return Stop.STATIONARY
        gamma = 2 / (k + 2)
        S = LowRank(-pair.u[:, None], np.array([t]), pair.v[:, None])
        view = view.toward(S).at(gamma)
        weights = np.append((1 - gamma) * weights, gamma * t)
        A = columns.grown(weights, -pair.u, pair.v)
        G = view.gradient()
        pair = approx_ev(G, C / (t * (k + 2) ** 2), rng)
        yield Iterate(A, G, 4 + pair.passes, pair, t)
    return Stop.RANK
