"""SVT: singular value thresholding.

J.-F. Cai, E. J. Candès and Z. Shen, "A singular value thresholding algorithm for matrix
completion", SIAM Journal on Optimization 20 (2010), Algorithm 1; arXiv:0810.3286.
"""

from __future__ import annotations

import math

import numpy as np

from pygeco.algorithm.directions import Lanczos
from pygeco.algorithm.path import Path, Stop
from pygeco.arrays.checks import check_rank
from pygeco.arrays.low_rank import LowRank
from pygeco.arrays.streams import RandomState
from pygeco.objectives import Entries
from pygeco.objectives.base import Objective
from pygeco.objectives.entries.gradient import EntriesGradient
from pygeco.rivals.base import (
    Callback,
    Iterate,
    Iterates,
    check_positive,
    check_squared_entries,
    follow,
)
from pygeco.rivals.singular import shrink

MAX_RELATIVE_RESIDUAL = 100.0  # the relative residual at which a run is given up


def svt(
    objective: Objective,
    rank: int,
    *,
    tau: float | None = None,
    delta: float | None = None,
    max_iter: int = 500,
    tol: float = 1e-4,
    random_state: RandomState = None,
    callback: Callback | None = None,
) -> Path:
    """Minimize τ‖A‖_tr + ‖A‖²_F / 2 such that A = Y on the observed cells (equation 2.8), by Uzawa.

    A = D_τ(Z), Z ← Z + δ P_E(Y − A): Z lives on the observed cells, D_τ lowers its singular values
    by τ. Z starts at k₀ δ P_E(Y) (section 5.1.3).

    Parameters
    ----------
    objective : Entries
        With the squared loss, without weights.
    rank : int
        The highest rank.
    tau : float or None, default=None
        τ; None is the paper's 5 √(mn) (section 5.1.2), for cells drawn uniformly from a matrix
        with entries of size one.
    delta : float or None, default=None
        δ; None is the paper's 1.2 mn/|E|. Below 2 it converges always (Theorem 4.2).
    max_iter : int, default=500
        The most of them.
    tol : float, default=1e-4
        It stops when the relative residual on the cells is at most this.
    random_state : int, Generator or None, default=None
        The same seed gives the same bits.
    callback : callable or None, default=None
        Called with each `Step`; if it returns true, the run stops.

    Returns
    -------
    Path
        One step an iteration.
    """
    entries = check_squared_entries("SVT", objective)
    rank, cells = check_rank(rank, entries.shape), math.prod(entries.shape)
    threshold = check_positive("tau", 5 * math.sqrt(cells) if tau is None else tau)
    step = check_positive("delta", 1.2 * cells / entries.size if delta is None else delta)

    def algorithm(rng: np.random.Generator) -> Iterates:
        return _svt(entries, rank, threshold, step, max_iter, tol, rng)

    return follow(entries, algorithm, random_state, callback)


def _svt(
    entries: Entries,
    rank: int,
    tau: float,
    delta: float,
    max_iter: int,
    tol: float,
    rng: np.random.Generator,
) -> Iterates:
    A = LowRank.zero(entries.shape)
    start = entries.residual_gradient(A)
    if start.value == 0.0:
        return Stop.STATIONARY
    rest = _residual(start)
    kicks = math.ceil(tau / (delta * Lanczos(0.01)(rest, rng).upper))
    Z = _sum(rest, delta * kicks - 1, rest)
    for _ in range(max_iter):
        A, passes = shrink(Z, tau, A.rank + 1, rank, rng)
        G = entries.residual_gradient(A)
        yield Iterate(A, G, 2 + passes, trace_norm=float(A.s.sum()))
        if G.value <= tol**2 * start.value:
            return Stop.CONVERGED
        if not G.value <= MAX_RELATIVE_RESIDUAL**2 * start.value:
            return Stop.DIVERGED
        Z = _sum(Z, delta, _residual(G))
    return Stop.ITERATIONS


def _residual(G: EntriesGradient) -> EntriesGradient:
    """P_E(Y − A) in float64, from the gradient at A."""
    return EntriesGradient(
        G.objective, -G.by_row.astype(float), -G.by_col.astype(float), 1.0, 0.0, 0.0
    )


def _sum(Z: EntriesGradient, a: float, W: EntriesGradient) -> EntriesGradient:
    """Z + a W on the cells."""
    rows, cols = Z.by_row + a * W.by_row, Z.by_col + a * W.by_col
    return EntriesGradient(Z.objective, rows, cols, 1.0, 0.0, 0.0)
