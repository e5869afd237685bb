"""ADMiRA: atomic decomposition for minimum rank approximation.

K. Lee and Y. Bresler, "ADMiRA: atomic decomposition for minimum rank approximation", IEEE
Transactions on Information Theory 56 (2010), Algorithm 1; arXiv:0905.0044.
"""

from __future__ import annotations

import numpy as np

from pygeco.algorithm.corrections.diagonal import Diagonal
from pygeco.algorithm.path import Path, Stop
from pygeco.arrays.checks import check_rank
from pygeco.arrays.linalg import solve_psd
from pygeco.arrays.low_rank import LowRank
from pygeco.arrays.streams import RandomState
from pygeco.objectives import Entries
from pygeco.objectives.base import Objective
from pygeco.rivals.base import Callback, Iterate, Iterates, follow
from pygeco.rivals.singular import find_leading


def admira(
    objective: Objective,
    rank: int,
    *,
    max_iter: int = 200,
    tol: float = 1e-4,
    random_state: RandomState = None,
    callback: Callback | None = None,
) -> Path:
    """Find a matrix of rank at most r by atoms: 2r new ones, least squares, the best r kept.

    One step an iteration. It ends when the objective falls by less than the share `tol`, or
    its root is that share of the start's; an iteration that raises it is not taken. For squared
    losses, as in the paper. O(|E| r²) beyond the 2r singular pairs.

    Parameters
    ----------
    objective : Objective
        R.
    rank : int
        r.
    max_iter : int, default=200
        The most of them.
    tol : float, default=1e-4
        See above.
    random_state : int, Generator or None, default=None
        The same seed gives the same bits.
    callback : callable or None, default=None
        Called with each `Step`; if it returns true, the run stops.

    Returns
    -------
    Path
        One step an iteration.
    """
    rank = check_rank(rank, objective.shape)
    return follow(
        objective,
        lambda rng: _admira(objective, rank, max_iter, tol, rng),
        random_state,
        callback,
    )


def _admira(
    objective: Objective, r: int, max_iter: int, tol: float, rng: np.random.Generator
) -> Iterates:
    A = LowRank.zero(objective.shape)
    G = objective.gradient(A)
    enough = tol**2 * G.value
    for _ in range(max_iter):
        new, passes = find_leading(G, 2 * r, rng)
        atoms = LowRank(
            np.column_stack([A.U, new.U]), np.append(A.s, 0 * new.s), np.column_stack([A.V, new.V])
        )
        A = least_squares(objective, atoms).svd().truncate(r)
        before, G = G.value, objective.gradient(A)
        if not G.value < before:
            return Stop.STALLED
        yield Iterate(A, G, 3 + passes, trace_norm=float(A.s.sum()))
        if G.value <= enough or before - G.value <= tol * before:
            return Stop.CONVERGED
    return Stop.ITERATIONS


def least_squares(objective: Objective, atoms: LowRank) -> LowRank:
    """Argmin over s of R(Σ s_k u_k v_kᵀ). O(|E| s²)."""
    if not (isinstance(objective, Entries) and objective.squared):
        return Diagonal().solve(objective, atoms).A
    grams, sides = objective.engine.moments(objective.by_col, atoms.U)
    H = np.einsum("jkl,jk,jl->kl", grams, atoms.V, atoms.V)
    return LowRank(atoms.U, solve_psd(H, np.sum(sides * atoms.V, axis=0)), atoms.V)
