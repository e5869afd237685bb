"""Cells of a standardized table from a low-rank matrix of a rank and ridge given or chosen."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pygeco.algorithm.events import Listener
from pygeco.algorithm.path import Path
from pygeco.algorithm.penalties import Ridge, Schatten
from pygeco.algorithm.refinements import refine
from pygeco.algorithm.run import minimize
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.arrays.streams import Purpose, stream
from pygeco.objectives.dense.objective import Dense

# Where one of rank and ridge is given, the other is chosen among these, by the error at a tenth of
# the known cells.
MAX_CHOSEN_RANK = 15
ALPHAS = (0.01, 0.1, 0.3, 1.0)
HELD_OUT_SHARE = 0.1


def fit_low_rank(
    Z: Array, wanted: tuple[int | None, float | None], seed: int, listener: Listener
) -> tuple[LowRank, float]:
    """The matrix of the rank and ridge that are wanted, and its ridge; None is chosen."""
    known = ~np.isnan(Z)
    rank, alpha = choose_rank_and_ridge(Z, known, wanted, seed, listener)
    A = LowRank.zero(Z.shape)
    if rank:
        path = _fit_path(Z, rank, alpha, seed, listener)
        A = refine(Dense(Z), path.A, _make_ridge(Z.shape, alpha)).A.svd()
    return A, alpha


def choose_rank_and_ridge(
    Z: Array,
    known: NDArray[np.bool_],
    wanted: tuple[int | None, float | None],
    seed: int,
    listener: Listener,
) -> tuple[int, float]:
    """Rank and alpha as given, or those with the smallest error at cells held out for it."""
    rank, alpha = wanted
    most = min(MAX_CHOSEN_RANK, min(Z.shape) - 1) if rank is None else rank
    ranks = range(most + 1) if rank is None else (most,)
    alphas = ALPHAS if alpha is None else (alpha,)
    held = known & (stream(Purpose.IMPUTER_CHOICE, seed).random(Z.shape) < HELD_OUT_SHARE)
    if most < 1 or not held.any() or np.array_equal(held, known):  # nothing to choose by
        return ranks[0] if known.any() else 0, alphas[-1]
    if len(ranks) == len(alphas) == 1:
        return most, alphas[0]
    seen = np.where(held, np.nan, Z)
    errors = {}
    for weight in alphas:
        path = _fit_path(seen, most, weight, seed, listener)
        models = {0: LowRank.zero(Z.shape)} | {step.rank: step.A for step in path}
        for r in ranks:
            A = models.get(r, path.A)  # the path may have stopped before
            filled = predict_rows(seen, A.V, weight * float(known.mean()))
            errors[r, weight] = float(np.sum((Z - filled)[held] ** 2))
    return min(errors, key=errors.__getitem__)


def _fit_path(Z: Array, rank: int, alpha: float, seed: int, listener: Listener) -> Path:
    penalty = _make_ridge(Z.shape, alpha)
    return minimize(Dense(Z), rank, penalty=penalty, random_state=seed, observer=listener)


def _make_ridge(shape: tuple[int, int], alpha: float) -> Schatten:
    return Ridge(alpha / (shape[0] * shape[1]))


def predict_rows(Z: Array, V: Array, ridge: float) -> Array:
    """Each row from its own known cells: argmin_w Σ (z − V w)² + ridge ‖w‖², times Vᵀ."""
    if V.shape[1] == 0 or np.isnan(Z).all():
        return np.zeros(Z.shape)
    data, start = Dense(Z), np.zeros((len(Z), V.shape[1]))
    return data.half_sweep(V, start, side="row", ridge=ridge / data.total_weight) @ V.T


def measure_columns(X: Array, known: NDArray[np.bool_]) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Mean and deviation of the known cells of each column; 0 and 1 where these say nothing.

    And which columns vary.
    """
    count = np.maximum(known.sum(axis=0), 1)
    top = np.abs(np.where(known, X, 0)).max(axis=0, initial=0.0).astype(float)
    top = np.maximum(top, np.finfo(float).tiny)
    Z = np.where(known, X, 0) / top  # squares of huge values would overflow
    mean = Z.sum(axis=0) / count
    scale = np.sqrt(np.sum(np.where(known, Z - mean, 0) ** 2, axis=0) / count)
    flat = scale <= 1e-12
    return mean * top, np.where(flat, 1.0, scale * top), ~flat
