"""Alternation over clicks: exact half-sweeps over rows and columns in turn, at one rank.

For ranks of tens to hundreds, where a path would take too long. The sweeps minimize
R(U Vᵀ) + Σ row_ridge_i ‖u_i‖² + Σ column_ridge_j ‖v_j‖², and no half-sweep ever raises it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pygeco.arrays.checks import check_rank
from pygeco.arrays.kinds import on
from pygeco.arrays.low_rank import Array
from pygeco.arrays.streams import Purpose, RandomState, seed_from, stream
from pygeco.engines import session
from pygeco.objectives.clicks.objective import Clicks

START_SIZE = 0.1  # of the vectors of the first columns, as a norm


class Turn(NamedTuple):
    """Both sides swept once more: the objective with its ridges, and the factors, A = U Vᵀ."""

    sweeps: int
    objective: float
    seconds: float
    U: Array
    V: Array


class Alternated(NamedTuple):
    """The factors, A = U Vᵀ, and the objective with its ridges after each sweep."""

    U: Array
    V: Array
    objectives: tuple[float, ...]


def alternate(
    objective: Clicks,
    rank: int,
    *,
    row_ridge: ArrayLike = 0.0,
    column_ridge: ArrayLike = 0.0,
    n_sweeps: int = 16,
    start: tuple[Array, Array] | None = None,
    random_state: RandomState = None,
    callback: Callable[[Turn], object] | None = None,
) -> Alternated:
    """Minimize R(U Vᵀ) + Σ row_ridge_i ‖u_i‖² + Σ column_ridge_j ‖v_j‖² by exact half-sweeps.

    Parameters
    ----------
    objective : Clicks
        R, whose precision is that of the factors.
    rank : int
        The number of columns of U (m, rank) and V (n, rank).
    row_ridge, column_ridge : float or array, default=0.0
        One, or one a row (a column), in the unit of R; see `frequency_ridges`.
    n_sweeps : int, default=16
        How often both sides are swept: rows first, then columns.
    start : tuple (U, V) or None, default=None
        Factors to go on from; only V is used.
    random_state : int, Generator or None, default=None
        The same seed gives the same bits.
    callback : callable or None, default=None
        Called with each `Turn`. A true answer stops.

    Returns
    -------
    Alternated
        U, V and the objective after each sweep.
    """
    began, rank = time.perf_counter(), check_rank(rank, objective.shape)
    ridges = [
        _read_ridge(name, given, count, objective.kind)
        for name, given, count in zip(
            ("row_ridge", "column_ridge"), (row_ridge, column_ridge), objective.shape, strict=True
        )
    ]
    with session(objective):
        V = _first_columns(objective, rank, start, seed_from(random_state))
        U, values = V[:0], []
        for sweep in range(n_sweeps):
            _, U, V, _ = _sweep(objective, False, V, ridges[0])
            left, V, U, _ = _sweep(objective, True, U, ridges[1])
            values.append(left + float(np.sum(ridges[0] * _square_norms(U))))
            turn = Turn(sweep + 1, values[-1], time.perf_counter() - began, U, V)
            if callback is not None and callback(turn):
                break
    return Alternated(U, V, tuple(values))


def frequency_ridges(
    objective: Clicks, weight: float, exponent: float = 1.0
) -> tuple[Array, Array]:
    """Ridges of rows and columns that grow with what holds them (Rendle et al. 2022).

    λ_i = weight (|E_i| + α ρ_i Σ_j κ_j)^exponent / Σ w, and so for columns; the division brings
    the weight of the plain sum to the unit of R.
    """
    total = objective.total_weight
    ridges = []
    for columns, count in zip((False, True), objective.counts(), strict=True):
        own, other = objective.side_weights(columns)
        ridges.append(weight / total * (count + own * float(other.sum())) ** exponent)
    return ridges[0], ridges[1]


def _sweep(
    objective: Clicks, columns: bool, fixed: Array, ridge: Array
) -> tuple[float, Array, Array, Array]:
    """What is left of the objective but for the ridge on `fixed`, and both sides."""
    found = objective.sweep_side(columns, fixed, ridge)
    left = found.unexplained / objective.total_weight
    return left, found.factor, found.partner, found.rotation


def _square_norms(X: Array) -> Array:
    return np.einsum("ik,ik->i", X, X).astype(float)


def _read_ridge(name: str, given: ArrayLike, count: int, like: Array) -> Array:
    ridge = on(given, like, float)
    if ridge.shape not in ((), (count,)):
        raise ValueError(f"{name}: expected a number or {count} numbers, not {ridge.shape}.")
    if not (bool(np.all(np.isfinite(ridge))) and float(ridge.min()) >= 0):
        raise ValueError(f"{name}: must be finite and ≥ 0.")
    return np.broadcast_to(ridge, (count,))


def _first_columns(
    objective: Clicks, rank: int, start: tuple[Array, Array] | None, seed: int
) -> Array:
    n = objective.shape[1]
    if start is not None:
        V = on(start[1], objective.kind, objective.dtype)
        if V.shape != (n, rank):
            raise ValueError(f"start: V has shape {V.shape}, but {(n, rank)} is needed.")
        return V
    rng = stream(Purpose.ALTERNATION, seed)
    scale = START_SIZE / np.sqrt(rank)
    return on(scale * rng.standard_normal((n, rank), np.float32), objective.kind, objective.dtype)
