"""Observed cells: R(A) = Σ_E w ℓ(A_ij, y_ij) / Σ_E w, matrix completion."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from pygeco.engines import cpu
from pygeco.engines.cells import Cells, both_orders
from pygeco.factors import Array, LowRank
from pygeco.losses import Loss, Squared
from pygeco.losses import named as loss_named
from pygeco.objectives.quadratic_span import QuadraticSpan

Product = Callable[[Array], Array]


class Entries:
    """The mean loss over the observed cells of an m × n matrix.

    Cells are kept row-wise and column-wise: per cell and order, 4 bytes of index and one value.
    A cell given more than once is an error unless `duplicates` says "mean", "sum" or "last"; it
    then counts as one cell, with the mean (or the last) of its weights.
    """

    def __init__(
        self,
        rows: ArrayLike,
        cols: ArrayLike,
        values: ArrayLike,
        shape: tuple[int, int] | None = None,
        *,
        loss: str | Loss = "squared",
        sample_weight: ArrayLike | None = None,
        duplicates: str = "error",
        allow_empty: bool = False,
    ) -> None:
        y = _values(values, allow_empty)
        i, j, shape = _indices(rows, cols, len(y), shape)
        w = _weights(sample_weight, y)
        self.shape = shape
        self.loss = loss_named(loss)
        if not isinstance(self.loss, Squared):
            raise ValueError(f"loss: Entries minimises the squared loss, not {self.loss!r}.")
        self.by_row, self.by_col = _unique(*both_orders(i, j, y, w, shape), duplicates, shape)
        self.total_weight = (
            float(self.by_row.weights.sum(dtype=float)) if w is not None else float(self.size)
        )

    @classmethod
    def from_sparse(cls, X: Any, **settings: Any) -> Entries:
        """The stored cells of a scipy sparse matrix, explicit zeros included."""
        coo = X.tocoo()
        if np.iscomplexobj(coo.data):
            raise ValueError("X: complex values are not supported; pass a real matrix.")
        rows, cols = coo.coords
        return cls(rows, cols, coo.data, coo.shape, **settings)

    @classmethod
    def from_dense(cls, X: ArrayLike, **settings: Any) -> Entries:
        """The cells of a dense array that are not NaN."""
        dense = np.asarray(X)
        if dense.ndim != 2:
            raise ValueError(f"X: expected a 2-dimensional array, got {dense.ndim} dimension(s).")
        if dense.dtype.kind not in "fiub":
            raise ValueError(f"X: expected real numbers, not {dense.dtype}.")
        if dense.dtype.kind == "f":
            rows, cols = np.nonzero(~np.isnan(dense))
        else:
            rows, cols = (index.reshape(-1) for index in np.indices(dense.shape))
        return cls(rows, cols, dense[rows, cols], dense.shape, **settings)

    @property
    def size(self) -> int:
        """|E|, the number of observed cells."""
        return self.by_row.size

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.by_row.values.dtype

    @property
    def smoothness(self) -> float:
        """β = L max w / Σ w: the paper's Lemma 1, 2/|E| for the squared loss."""
        w = self.by_row.weights
        return self.loss.smoothness * (float(w.max()) if len(w) else 1.0) / self.total_weight

    @cached_property
    def value_at_zero(self) -> float:
        """R(0) = Σ w y² / Σ w."""
        y = self.by_row.values.astype(float, copy=False)
        w = self.by_row.weights
        return float(np.dot(y * w if len(w) else y, y)) / self.total_weight

    def value(self, A: LowRank) -> float:
        """R(A). One pass, O(|E| s)."""
        return self._pass(self.by_row, A.U * A.s, A.V)[1] / self.total_weight

    def gradient(self, A: LowRank) -> EntriesGradient:
        """∇R(A), sparse: 2 w (A_ij − y_ij) / Σ w on E. Two passes, O(|E| s)."""
        left = A.U * A.s
        rows, squares, inner = self._pass(self.by_row, left, A.V)
        cols, _, _ = self._pass(self.by_col, A.V, left)
        scale = 2.0 / self.total_weight
        return EntriesGradient(self, rows, cols, scale, squares / self.total_weight, scale * inner)

    def span(self, A: LowRank) -> QuadraticSpan:
        """B ↦ R(U B Vᵀ) for the columns of A."""
        problem = QuadraticSpan.empty(self)
        for u, v in zip(A.U.T, A.V.T, strict=True):
            problem = problem.append(u, v)
        return problem

    def shifted(self, row: Array, col: Array) -> Entries:
        """The same cells with y − row_i − col_j as targets. The indices are shared."""
        moved = copy.copy(self)
        ones_row, ones_col = np.ones(len(row)), np.ones(len(col))
        left, right = np.column_stack([row, ones_row]), np.column_stack([ones_col, col])
        for name, P, Q in (("by_row", left, right), ("by_col", right, left)):
            cells: Cells = getattr(self, name)
            unweighted = cells._replace(weights=cells.weights[:0])
            setattr(moved, name, cells._replace(values=-self._pass(unweighted, P, Q)[0]))
        moved.__dict__.pop("value_at_zero", None)
        return moved

    def standardised(self, mean: float, scale: float, dtype: type) -> Entries:
        """The same cells with (y − mean) / scale as targets, in another precision."""
        other = copy.copy(self)
        for name in ("by_row", "by_col"):
            cells: Cells = getattr(self, name)
            values = ((cells.values.astype(float, copy=False) - mean) / scale).astype(dtype)
            setattr(other, name, cells._replace(values=values, weights=cells.weights.astype(dtype)))
        other.__dict__.pop("value_at_zero", None)
        return other

    def target_products(self, flipped: bool) -> tuple[Product, Product]:
        """Y ↦ S y and x ↦ Sᵀ x for the weighted targets S (Sᵀ and S when flipped)."""

        def through(cells: Cells) -> Product:
            data = cells.values * cells.weights if len(cells.weights) else cells.values
            return lambda x: product(cells, data, 1.0, x)

        pair = through(self.by_row), through(self.by_col)
        return pair[::-1] if flipped else pair

    def _pass(self, cells: Cells, P: Array, Q: Array) -> tuple[Array, float, float]:
        out = np.empty_like(cells.values)
        sums = np.empty((len(cells.blocks) - 1, 2))
        P, Q = np.ascontiguousarray(P), np.ascontiguousarray(Q)
        cpu.residuals(*cells, P, Q, out, sums)
        return out, float(sums[:, 0].sum()), float(sums[:, 1].sum())


@dataclass(frozen=True, eq=False)
class EntriesGradient:
    """The residuals in both orders, scaled when multiplied."""

    objective: Entries
    by_row: Array
    by_col: Array
    scale: float
    value: float
    inner: float

    @property
    def shape(self) -> tuple[int, int]:
        return self.objective.shape

    def matvec(self, x: Array) -> Array:
        return product(self.objective.by_row, self.by_row, self.scale, x)

    def rmatvec(self, y: Array) -> Array:
        return product(self.objective.by_col, self.by_col, self.scale, y)

    def matmat(self, X: Array) -> Array:
        return products(self.objective.by_row, self.by_row, self.scale, X)

    def rmatmat(self, Y: Array) -> Array:
        return products(self.objective.by_col, self.by_col, self.scale, Y)

    def to_sparse(self) -> sp.csr_array:
        cells = self.objective.by_row
        return sp.csr_array((self.scale * self.by_row, cells.indices, cells.pointers), self.shape)


def product(cells: Cells, data: Array, scale: float, x: Array) -> Array:
    """Scale · S x, where S has `data` at the cells. O(|E|)."""
    out = np.empty(len(cells.pointers) - 1)
    x = np.ascontiguousarray(x, dtype=float)
    cpu.matvec(cells.pointers, cells.indices, data, cells.blocks, scale, x, out)
    return out


def products(cells: Cells, data: Array, scale: float, X: Array) -> Array:
    """Scale · S X for a few columns at once. O(|E| k), in the precision of the data."""
    out = np.empty((len(cells.pointers) - 1, X.shape[1]), data.dtype)
    X = np.ascontiguousarray(X, dtype=data.dtype)
    cpu.matmat(cells.pointers, cells.indices, data, cells.blocks, scale, X, out)
    return out.astype(float)


def _values(values: ArrayLike, allow_empty: bool) -> Array:
    y = np.asarray(values)
    if y.dtype.kind not in "fiub":
        raise ValueError(f"values: expected real numbers, not {y.dtype}.")
    if y.ndim != 1:
        raise ValueError(f"values: expected a 1-dimensional array, got {y.ndim} dimensions.")
    if y.dtype != np.float32:
        y = y.astype(float, copy=False)
    if len(y) == 0 and not allow_empty:
        raise ValueError("values: no observed cell; at least one is needed.")
    bad = np.flatnonzero(~np.isfinite(y))
    if len(bad):
        raise ValueError(
            f"values: {len(bad)} of {len(y)} observed values are NaN or infinity (the first at "
            f"position {bad[0]}); drop those cells."
        )
    return np.ascontiguousarray(y)


def _indices(
    rows: ArrayLike, cols: ArrayLike, count: int, shape: tuple[int, int] | None
) -> tuple[NDArray[Any], NDArray[Any], tuple[int, int]]:
    sides = []
    shape = None if shape is None else _shape(shape)
    for axis, (name, given) in enumerate((("rows", rows), ("cols", cols))):
        index = np.asarray(given)
        if index.dtype.kind not in "iu":
            raise ValueError(f"{name}: expected integers, not {index.dtype}.")
        if index.shape != (count,):
            raise ValueError(f"{name}: expected {count} indices, one per value, not {index.shape}.")
        size = int(index.max(initial=-1)) + 1 if shape is None else shape[axis]
        if count and (index.min() < 0 or index.max() >= size):
            wrong = index[(index < 0) | (index >= size)][0]
            raise ValueError(f"{name}: index {wrong} is outside 0 … {size - 1}; see `shape`.")
        if size > np.iinfo(np.int32).max:
            raise ValueError(f"shape: at most 2³¹ − 1 {name} are supported, not {size}.")
        sides.append((np.ascontiguousarray(index), size))
    (i, m), (j, n) = sides
    return i, j, (m, n)


def _shape(given: tuple[int, int]) -> tuple[int, int]:
    sides = tuple(given) if np.ndim(given) == 1 else ()
    whole = [isinstance(side, (int, np.integer)) and not isinstance(side, bool) for side in sides]
    if len(sides) != 2 or not all(whole) or min(sides) < 1:
        raise ValueError(f"shape: expected two integers of at least 1, not {given!r}.")
    return int(sides[0]), int(sides[1])


def _weights(sample_weight: ArrayLike | None, y: Array) -> Array | None:
    if sample_weight is None:
        return None
    given = np.asarray(sample_weight)
    if given.dtype.kind not in "fiub":
        raise ValueError(f"sample_weight: expected real numbers, not {given.dtype}.")
    w = np.ascontiguousarray(given, dtype=y.dtype)
    if w.shape != y.shape:
        raise ValueError(f"sample_weight: expected shape {y.shape}, one per value, not {w.shape}.")
    if not (np.all(np.isfinite(w)) and w.min() >= 0 and w.max() > 0):
        raise ValueError("sample_weight: weights must be finite, ≥ 0 and not all zero.")
    return w


def _unique(
    by_row: Cells, by_col: Cells, duplicates: str, shape: tuple[int, int]
) -> tuple[Cells, Cells]:
    """The cells with at most one each, by the policy."""
    policies = ("error", "mean", "sum", "last")
    if duplicates not in policies:
        raise ValueError(f"duplicates: unknown policy {duplicates!r}; use one of {policies}.")
    again = np.flatnonzero(by_row.indices[1:] == by_row.indices[:-1]) + 1
    starts = by_row.pointers[np.searchsorted(by_row.pointers, again)]
    again = again[starts != again]  # the first cell of a row may repeat the last row's column
    if not len(again):
        return by_row, by_col
    rows = np.repeat(np.arange(shape[0]), by_row.counts())
    if duplicates == "error":
        i, j = rows[again[0]], by_row.indices[again[0]]
        raise ValueError(
            f"values: cell ({i}, {j}) is given more than once ({len(again)} repeats in all); "
            'remove repeats or pass duplicates="mean", "sum" or "last".'
        )
    first = np.ones(by_row.size, bool)
    first[again] = False
    at = np.flatnonzero(first)
    w = by_row.weights if len(by_row.weights) else None
    y, heavier = _merged(by_row.values, w, at, duplicates)
    return both_orders(rows[at], by_row.indices[at], y, heavier, shape)


def _merged(
    y: Array, w: Array | None, at: NDArray[np.int64], duplicates: str
) -> tuple[Array, Array | None]:
    """One value and the mean weight for each run of repeats that starts at `at`."""
    if duplicates == "last":
        last = np.append(at[1:], len(y)) - 1
        return y[last], None if w is None else w[last]
    counts = np.diff(np.append(at, len(y)))
    if w is None:
        total = np.add.reduceat(y, at)
        return (total if duplicates == "sum" else total / counts.astype(y.dtype)), None
    heavy = np.add.reduceat(w, at)
    mean = (heavy / counts).astype(w.dtype)
    if duplicates == "sum":
        return np.add.reduceat(y, at), mean
    return np.add.reduceat(w * y, at) / np.where(heavy > 0, heavy, 1), mean
