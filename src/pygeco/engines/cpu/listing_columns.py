"""Columns and rows in coordinates by which products can be bounded: balanced, largest first."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.kinds import parts
from pygeco.arrays.low_rank import Array
from pygeco.engines.cpu.threads import each
from pygeco.engines.values import Products

BLOCK_LINES = 4096  # of a tall product on one thread
MAX_SAMPLE = 1 << 15  # rows by which coordinates are turned
SPLIT = 0.5  # of the coordinates that are multiplied first
MAX_ERROR = 16.0  # of turned coordinates, relative to that of an orthogonal turn
ROUNDING = 2.0**-24  # relative, of a number in single precision
MIN_LENGTH = 1e-12  # of a row, relative to all, whose coordinates are exact to single precision


class Columns(NamedTuple):
    """Columns for the screening, longest first, in coordinates whose first ones matter most.

    A score by single precision, for a row of length one, is off by at most `margin` times the
    length of the column. `tails` are the lengths of the coordinates from `split` on. Rows are
    brought to these coordinates by `scales`, then `turn`.
    """

    names: NDArray[np.int64]
    factors: Array
    lengths: Array
    tails: Array
    scales: Array
    turn: Array
    split: int
    margin: float


def prepare_columns(asked: Products) -> Columns:
    """Bring the columns to coordinates in which lengths bound products well.

    With L = A M and R = B M⁻ᵀ scores are L Rᵀ, for any M; ‖l‖ ‖r‖ bounds them best where LᵀL = RᵀR
    is diagonal.
    """
    right, offsets = asked.right[asked.names], asked.offsets[asked.names]
    g = np.append(np.einsum("ij,ij->j", asked.left, asked.left, dtype=float), len(asked.left))
    h = np.append(np.einsum("ij,ij->j", right, right, dtype=float), offsets @ offsets)
    useful = (g > 0) & (h > 0)
    g, h = np.where(useful, g, 1.0), np.where(useful, h, 1.0)
    scales = useful * (h / g) ** 0.25
    size = np.sqrt(max(float(np.sum(useful * np.sqrt(g * h))), 1e-300))
    A = widen(asked.left[:MAX_SAMPLE], 1.0, scales / size)
    B = widen(right, offsets, np.divide(useful, scales * size, where=useful, out=np.zeros(len(g))))
    turn, back, error = _balance(_gram(A), _gram(B))
    factors = multiply(B, back)
    lengths = np.sqrt(np.einsum("ij,ij->i", factors, factors, dtype=float))
    longest = lengths.max(initial=0.0) or 1.0
    order = np.argsort(-lengths, kind="stable")
    factors = factors[order] * np.float32(1 / longest)
    split = min(-(-int(SPLIT * len(turn)) // 8) * 8, len(turn))
    margin = 1.01 * (error + ROUNDING * (len(turn) + 16))
    tails, lengths = measure_lengths(factors[:, split:]), lengths[order] / longest
    return Columns(asked.names[order], factors, lengths, tails, scales / size, turn, split, margin)


def place_rows(asked: Products, columns: Columns, lines: NDArray[np.int64]) -> tuple[Array, Array]:
    """Rows of length one in the coordinates of the columns, and the lengths that they had."""
    own = multiply(widen(asked.left[lines], 1.0, columns.scales), columns.turn)
    length = np.sqrt(np.einsum("ij,ij->i", own, own, dtype=float))
    own *= (1 / np.where(length > 0, length, 1)).astype(np.float32)[:, None]
    return own, length


def widen(factors: Array, offsets: Array | float, scales: Array) -> Array:
    """Scaled factors in single precision, with a coordinate for the offsets."""
    out = np.empty((len(factors), factors.shape[1] + 1), np.float32)
    np.multiply(factors, scales[:-1], out=out[:, :-1], casting="same_kind")
    out[:, -1] = offsets * scales[-1]
    return out


def multiply(X: Array, M: Array) -> Array:
    """X M, a block of lines on a thread."""
    out = np.empty((len(X), M.shape[1]), np.float32)
    blocks = list(parts(len(X), BLOCK_LINES))

    def job(t: int) -> None:
        np.matmul(X[blocks[t]], M, out=out[blocks[t]])

    each(job, len(blocks))
    return out


def measure_lengths(X: Array) -> Array:
    """Of the lines, rounded up."""
    return (np.sqrt(np.einsum("ij,ij->i", X, X)) * (1 + 1e-4)).astype(np.float32)


def _gram(X: Array) -> Array:
    """XᵀX, as a sum over blocks of lines."""
    blocks = list(parts(len(X), BLOCK_LINES))
    found = np.empty((len(blocks), X.shape[1], X.shape[1]), np.float32)

    def job(t: int) -> None:
        np.matmul(X[blocks[t]].T, X[blocks[t]], out=found[t])

    each(job, len(blocks))
    return found.sum(axis=0, dtype=float)


def _balance(G: Array, H: Array) -> tuple[Array, Array, float]:
    """M and M⁻ᵀ such that MᵀGM and M⁻¹HM⁻ᵀ are the same diagonal, largest first.

    The number is the error of (A M)(B M⁻ᵀ)ᵀ in single precision, relative to the lengths of both
    factors. Where it would be large, as G or H is nearly singular, coordinates are only sorted.
    """
    size = len(G)
    try:
        P, Q = np.linalg.cholesky(G), np.linalg.cholesky(H)
        W, s, _ = np.linalg.svd(P.T @ Q)  # G = PPᵀ, H = QQᵀ
        turn = np.linalg.solve(P.T, W) * np.sqrt(s)
        M, N = turn.astype(np.float32), np.linalg.inv(turn).T.astype(np.float32)
    except np.linalg.LinAlgError:
        return (*_sort_coordinates(G), 0.0)
    m, n = (float(np.linalg.norm(X, 2)) for X in (M, N))
    rounding = ROUNDING * (size + 1) * (np.linalg.norm(M) * n + np.linalg.norm(N) * m)
    inverse = float(np.linalg.norm(M.astype(float) @ N.T.astype(float) - np.eye(size))) * m * n
    error = float(rounding + inverse)
    if not error < MAX_ERROR * ROUNDING * (size + 1) * np.sqrt(size):
        return (*_sort_coordinates(G), 0.0)
    return M, N, error


def _sort_coordinates(G: Array) -> tuple[Array, Array]:
    turn = np.eye(len(G), dtype=np.float32)[:, np.argsort(-np.diagonal(G), kind="stable")]
    return turn, turn
