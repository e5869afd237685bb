"""R1MP: orthogonal rank-one matrix pursuit.

Z. Wang, M.-J. Lai, Z. Lu, W. Fan, H. Davulcu and J. Ye, "Orthogonal rank-one matrix pursuit for low
rank matrix completion", SIAM Journal on Scientific Computing 37 (2015); arXiv:1404.1377.
"""

from __future__ import annotations

import numpy as np

from pygeco.algorithm.corrections.diagonal import Diagonal
from pygeco.algorithm.directions import Direction, Lanczos
from pygeco.algorithm.path import Path, Stop
from pygeco.arrays.checks import check_rank
from pygeco.arrays.linalg import solve_psd
from pygeco.arrays.low_rank import LowRank
from pygeco.arrays.streams import RandomState
from pygeco.objectives.base import Objective
from pygeco.objectives.entries.predictions import Predictions
from pygeco.rivals.base import (
    Callback,
    Iterate,
    Iterates,
    check_squared_entries,
    follow,
)
from pygeco.rivals.frank_wolfe import Columns


def r1mp(
    objective: Objective,
    rank: int,
    *,
    economic: bool = False,
    direction: Direction | None = None,
    random_state: RandomState = None,
    callback: Callback | None = None,
) -> Path:
    """Add a leading pair of the residual a rank, with least squares over the weights of all pairs.

    Both forms: R(A_k) ≤ (1 − 1/min(m, n))^k R(0) for the squared loss without weights (Theorems
    3.1 and 4.1).

    Parameters
    ----------
    objective : Objective
        R.
    rank : int
        The number of pairs.
    economic : bool, default=False
        Plain (Algorithm 1): all weights anew at each rank, for any objective; it is GECO with
        diagonal cores and exact pairs. Economic (Algorithm 2): A ← a A + b u vᵀ, two weights,
        O(|E|) beyond the search.
    direction : Direction or None, default=None
        How pairs are found; None is `Lanczos(tau=0.01, max_iter=100)`.
    random_state : int, Generator or None, default=None
        The same seed gives the same bits.
    callback : callable or None, default=None
        Called with each `Step`; if it returns true, the run stops.

    Returns
    -------
    Path
        One step a rank.
    """
    rank = check_rank(rank)
    search = Lanczos(tau=0.01, max_iter=100) if direction is None else direction
    loop = _economic if economic else _plain
    return follow(objective, lambda rng: loop(objective, rank, search, rng), random_state, callback)


def _plain(
    objective: Objective, rank: int, search: Direction, rng: np.random.Generator
) -> Iterates:
    weights = Diagonal()
    state = weights.start(objective, LowRank.zero(objective.shape))
    pair = search(objective.gradient(state.A), rng)
    for _ in range(rank):
        if pair.sigma == 0.0:
            return Stop.STATIONARY
        state = weights.extend(state, pair.u, pair.v)
        G = objective.gradient(state.A)
        pair = search(G, rng)
        yield Iterate(state.A, G, 5 + pair.passes, pair)
    return Stop.RANK


def _economic(
    objective: Objective, rank: int, search: Direction, rng: np.random.Generator
) -> Iterates:
    entries = check_squared_entries("the economic R1MP", objective)
    y, s, columns = entries.by_row.values, np.zeros(0), Columns(entries.shape, rank)
    z = Predictions.of(entries, LowRank.zero(entries.shape))
    pair = search(z.gradient(), rng)
    for _ in range(rank):
        if pair.sigma == 0.0:
            return Stop.STATIONARY
        new = Predictions.of(entries, LowRank(pair.u[:, None], np.ones(1), pair.v[:, None]))
        D = np.column_stack([z.rows, new.rows])
        a, b = solve_psd(D.T @ D, D.T @ y).tolist()
        z, s = z.mix(a, new, b), np.append(a * s, b)
        A = columns.grown(s, pair.u, pair.v)
        G = z.gradient()
        pair = search(G, rng)
        yield Iterate(A, G, 4 + pair.passes, pair)
    return Stop.RANK
