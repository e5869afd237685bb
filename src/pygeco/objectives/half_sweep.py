"""One side of a sweep: every row's own small problem, given the other side's factor."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.engines.cells import Cells
from pygeco.engines.simd import BYTES
from pygeco.engines.sweep import half_sweep as kernel
from pygeco.engines.sweep import tables
from pygeco.factors import Array

UNKNOWN: Array = np.zeros(0)


class Side(NamedTuple):
    """One side's factor (m, s) and offsets (m,), and their variances, empty where not known."""

    factor: Array
    bias: Array
    variance: Array = UNKNOWN
    bias_variance: Array = UNKNOWN

    @property
    def rank(self) -> int:
        return self.factor.shape[1]

    def keep(self, columns: NDArray[np.bool_]) -> Side:
        """The same with these components only."""
        return self._replace(
            factor=np.ascontiguousarray(self.factor[:, columns]),
            variance=np.ascontiguousarray(self.variance[:, columns]),
        )


class Swept(NamedTuple):
    """The new side, Σ w (y − ŷ)² (expected, where variances are known), and the posterior mean."""

    side: Side
    error: float
    mean: Side


def half_sweep(
    cells: Cells,
    start: Side,
    partner: Side,
    *,
    prior: Array,
    centre: Array | None = None,
    ridge: Array | None = None,
    tau: float = 1.0,
    jitter: float = 0.0,
    noise: Array | None = None,
    variances: bool = False,
    offsets: bool = True,
) -> Swept:
    """argmin over x_i = (u_i, b_i) of τ Σ w (y − c_j − b_i − ⟨u_i, v_j⟩)² + ridge_i |x_i − μ|²_P.

    `prior` is P (s + 1, s + 1), or its diagonal; `centre` is μ, zero by default. A `noise` of
    standard normals (m, s + 1) draws the rows from their posteriors. Without `offsets`, b_i = 0
    and s + 1 is s in all these shapes. O(|E| s² + m s³).
    """
    m, s = start.factor.shape
    dtype = start.factor.dtype
    flat, width = _padded(partner.factor)
    d = s + offsets
    none = np.zeros((0, d), dtype)
    both = [start.factor, start.bias] if offsets else [start.factor]
    out = np.ascontiguousarray(np.column_stack(both), dtype=dtype)
    variance = np.empty((m, d), dtype) if variances else none
    mean = none if noise is None else np.empty_like(out)
    errors = np.empty(m)
    known = len(partner.bias_variance) > 0
    P = np.diag(prior) if prior.ndim == 1 else prior
    kernel(
        *cells,
        flat,
        width,
        s,
        int(offsets),
        _padded(partner.variance)[0] if known else flat[:0],
        partner.bias.astype(dtype),
        partner.bias_variance.astype(dtype) if known else np.zeros(len(partner.bias), dtype),
        np.ones(m, dtype) if ridge is None else ridge.astype(dtype),
        _prior_table(P, centre, s, dtype),
        dtype.type(tau),
        dtype.type(jitter),
        none if noise is None else noise,
        out,
        mean,
        variance,
        errors,
    )
    found = _split(out, s)
    if variances:
        spread = _split(variance, s)
        found = found._replace(variance=spread.factor, bias_variance=spread.bias)
    return Swept(found, float(errors.sum()), found if noise is None else _split(mean, s))


def _prior_table(P: Array, centre: Array | None, s: int, dtype: np.dtype[Any]) -> Array:
    """P and P μ in the layout of a row's table."""
    d = len(P)
    row, stride, size = tables(s, d, BYTES // dtype.itemsize)
    out = np.zeros((size // stride, stride), dtype)
    out[:d, :d] = P
    if centre is not None:
        out[row, :d] = P @ centre
    return out.reshape(-1)


def _split(table: Array, s: int) -> Side:
    bias = table[:, s] if table.shape[1] > s else np.zeros(len(table), table.dtype)
    return Side(np.ascontiguousarray(table[:, :s]), np.ascontiguousarray(bias))


def _padded(factor: Array) -> tuple[Array, int]:
    """The rows, each padded with zeros to whole vectors, one after the other."""
    lanes = BYTES // factor.itemsize
    n, s = factor.shape
    width = max(1, -(-s // lanes)) * lanes
    out = np.zeros((n, width), factor.dtype)
    out[:, :s] = factor
    return out.reshape(-1), width
