"""Draws of the missing cells of a table, from what is known of them and of the model itself.

A covariance is drawn from its inverse Wishart, and the mean beside it. Then a row's missing values
are drawn one column after the other, each given those before it, and its missing numbers at once.
"""

from __future__ import annotations

import numpy as np

from pygeco.arrays.low_rank import Array
from pygeco.bayes.column_codes import NumberCode, ValueCode
from pygeco.bayes.mixed_table import MixedTable
from pygeco.bayes.row_gaps import list_gaps
from pygeco.bayes.table_gaussian import TableGaussian

DRAWN_WIDTH = 0.8  # the coverage by whose measured width the noise of draws is widened


def draw_model(table: MixedTable, rows: float, rng: np.random.Generator) -> MixedTable:
    """The model with a Gaussian drawn from what `rows` rows leave open."""
    covariance, d = table.covariance(), len(table.gaussian.mean)
    freedom = max(rows, d + 2.0)
    A = np.tril(rng.standard_normal((d, d)), -1)
    A[np.diag_indices(d)] = np.sqrt(rng.chisquare(freedom - np.arange(d)))
    # The precision is L A Aᵀ Lᵀ / freedom, with L Lᵀ the inverse of the covariance (Bartlett).
    root = np.linalg.inv(np.linalg.cholesky(covariance)).T @ A / np.sqrt(freedom)
    half = np.linalg.inv(root)
    drawn = half.T @ half
    mean = table.gaussian.mean + half.T @ rng.standard_normal(d) / np.sqrt(freedom)
    return table._replace(gaussian=TableGaussian.of_covariance(mean, drawn))


def draw_cells(table: MixedTable, X: Array, rng: np.random.Generator) -> Array:
    """The table with every missing cell drawn, jointly within each row."""
    X = X.copy()
    for k, code in enumerate(table.codes):
        if isinstance(code, ValueCode) and np.isnan(X[:, k]).any():
            belief = table.believe(X, [k])[0]
            sums = np.cumsum(table.chances(k, belief), axis=1)
            u = rng.random((len(sums), 1)) * sums[:, -1:]
            X[belief.rows, k] = code.values[np.sum(sums <= u, axis=1)]
    Z = table.encode(X)
    drawn = draw_coordinates(Z, table, rng)
    for k, code in enumerate(table.codes):
        rows = np.flatnonzero(np.isnan(X[:, k]))
        if isinstance(code, NumberCode) and len(rows):
            X[rows, k] = code.decode(drawn[rows, table.starts[k]])
    return X


def draw_coordinates(Z: Array, table: MixedTable, rng: np.random.Generator) -> Array:
    """Z with its missing coordinates drawn given the known ones of their row."""
    known, P, mean = ~np.isnan(Z), table.gaussian.precision(), table.gaussian.mean
    pull = np.where(known, Z - mean, 0.0) @ P
    wide = np.concatenate(
        [np.full(code.width, table.widen(k, DRAWN_WIDTH)) for k, code in enumerate(table.codes)]
    )
    out = np.where(known, Z, 0.0)
    for gap in list_gaps(known):
        rows, cols = gap.rows, gap.cols
        own = P[cols[:, :, None], cols[:, None, :]]
        center = mean[cols] - np.linalg.solve(own, pull[rows, cols][:, :, None])[:, :, 0]
        L = np.linalg.cholesky(own)
        normal = rng.standard_normal(cols.shape)[:, :, None]
        noise = np.linalg.solve(np.swapaxes(L, 1, 2), normal)[:, :, 0]  # covariance own⁻¹
        out[rows, cols] = center + noise * wide[cols]
    return out
