"""OptSpace: a spectral start, then descent over the subspaces.

R. H. Keshavan, A. Montanari and S. Oh, "Matrix completion from a few entries", IEEE Transactions on
Information Theory 56 (2010), the algorithm "Spectral Matrix Completion"; arXiv:0901.3150.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pygeco.algorithm.corrections.core import Core
from pygeco.algorithm.path import Path, Stop
from pygeco.arrays.checks import check_rank
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.arrays.operators import Operator, Weighted
from pygeco.arrays.streams import RandomState
from pygeco.objectives import Entries
from pygeco.objectives.base import Gradient, Objective
from pygeco.rivals.base import Callback, Iterate, Iterates, follow
from pygeco.rivals.singular import find_leading

MAX_HALVINGS = 30  # of a step, before the descent is given up


def optspace(
    objective: Objective,
    rank: int,
    *,
    max_iter: int = 500,
    tol: float = 1e-4,
    random_state: RandomState = None,
    callback: Callback | None = None,
) -> Path:
    """Trim, project, clean: minimize the best R(X S Yᵀ) over subspaces, X (m, r), Y (n, r).

    Trim: rows and columns with more than twice the mean number of cells count as empty. Project:
    X and Y are the leading r singular vectors of what is left. Clean: steepest descent along
    geodesics of the Grassmann manifolds, the step halved until the decrease is half of what the
    slope promises, S the best core at each point. One step an iteration, until the objective
    falls by less than the share `tol`, or its root by that share of the start's. The paper's
    barrier for incoherence is left out, as in the authors' own code.

    Parameters
    ----------
    objective : Objective
        R.
    rank : int
        r.
    max_iter : int, default=500
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
        lambda rng: _optspace(objective, rank, max_iter, tol, rng),
        random_state,
        callback,
    )


def _optspace(
    objective: Objective, r: int, max_iter: int, tol: float, rng: np.random.Generator
) -> Iterates:
    zero = objective.gradient(LowRank.zero(objective.shape))
    spectral, passes = find_leading(_trim(objective, zero), r, rng)
    A = Core().solve(objective, spectral).A
    G = objective.gradient(A)
    if not A.s[0] > 0:
        return Stop.STATIONARY
    if not G.value <= zero.value:  # cells that leave the core open, in single precision
        return Stop.STALLED
    stiff = objective.smoothness * A.s[0] ** 2  # infinite for an unknown smoothness
    length = 1.0 / stiff if 0 < stiff < np.inf else 1.0
    yield Iterate(A, G, passes + 3 * r + 4, trace_norm=float(A.s.sum()))
    for _ in range(max_iter):
        found = _descend(objective, A, G, length)
        if found is None:
            return Stop.STALLED
        A, length = Core().solve(objective, found.A.svd()).A, 2 * found.length
        before, G = G.value, objective.gradient(A)
        if not G.value <= before:
            return Stop.STALLED
        passes = found.passes + 5 * r + 2
        yield Iterate(A, G, passes, trace_norm=float(A.s.sum()))
        if G.value <= tol**2 * zero.value or before - G.value <= tol * before:
            return Stop.CONVERGED
    return Stop.ITERATIONS


class Descent(NamedTuple):
    """X(t) S Y(t)ᵀ, the t that was taken, and the passes that finding it took."""

    A: LowRank
    length: float
    passes: int


def _descend(objective: Objective, A: LowRank, G: Gradient, length: float) -> Descent | None:
    """One step along the geodesics in the direction of steepest descent, S held."""
    down_x = _tangent(A.U, -G.matmat(A.V) * A.s)
    down_y = _tangent(A.V, -G.rmatmat(A.U) * A.s)
    slope = float(np.sum(down_x**2) + np.sum(down_y**2))
    for tried in range(1, MAX_HALVINGS + 1):
        to = LowRank(_geodesic(A.U, down_x, length), A.s, _geodesic(A.V, down_y, length))
        if objective.value(to) < G.value - 0.5 * length * slope:
            return Descent(to, length, tried)
        length /= 2
    return None


def _tangent(X: Array, H: Array) -> Array:
    """(I − X Xᵀ) H."""
    return H - X @ (X.T @ H)


def _geodesic(X: Array, H: Array, t: float) -> Array:
    """X(t) from X in the direction H (Edelman, Arias and Smith 1998, Theorem 2.3)."""
    P, s, Qt = np.linalg.svd(H, full_matrices=False)
    return ((X @ Qt.T) * np.cos(t * s) + P * np.sin(t * s)) @ Qt


def _trim(objective: Objective, G: Gradient) -> Operator:
    """G without the rows and columns that have more than twice their mean number of cells."""
    if not isinstance(objective, Entries):
        return G
    rows, cols = (counts <= 2 * counts.mean() for counts in objective.counts())
    return Weighted(G, rows.astype(float), cols.astype(float))
