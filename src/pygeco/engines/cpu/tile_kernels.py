"""The loss on one tile of a dense matrix, fused (numba)."""

from __future__ import annotations

import numpy as np

from pygeco.engines.cpu.keeping import njit

# Reassociation lets LLVM vectorise sums; NaN and infinity keep their meaning. A division that
# may raise is not vectorised, hence NumPy's error model.
_LOOP = {
    "cache": True,
    "nogil": True,
    "fastmath": {"reassoc", "contract", "nsz"},
    "error_model": "numpy",
}


@njit(**_LOOP)
def huber(z, y, delta, scale, value, stiffness):
    """Z ← scale · clip(z − y, ±δ), value ← scale · loss, stiffness ← slope / residual.

    A NaN in y is a missing cell: all three are zero. With δ = ∞ and scale = 2, the squared loss.
    """
    real = z.dtype.type
    zero, half, one = real(0), real(0.5), real(1)
    for i in range(z.shape[0]):
        zi, yi, vi, hi = z[i], y[i], value[i], stiffness[i]
        for j in range(len(zi)):
            r = zi[j] - real(yi[j])
            size = abs(r)
            near = min(size, delta)
            seen = r == r
            zi[j] = scale * (near if r > zero else -near) if seen else zero
            vi[j] = scale * near * (size - half * near) if seen else zero
            hi[j] = scale * (near / size if size > delta else one) if seen else zero


@njit(**_LOOP)
def weigh(w, slope, value, stiffness):
    """Multiply three tiles by w; where w is zero they become zero, whatever they held."""
    zero = w.dtype.type(0)
    for i in range(w.shape[0]):
        wi, zi, vi, hi = w[i], slope[i], value[i], stiffness[i]
        for j in range(len(wi)):
            zi[j] = zi[j] * wi[j] if wi[j] > zero else zero
            vi[j] = vi[j] * wi[j] if wi[j] > zero else zero
            hi[j] = hi[j] * wi[j] if wi[j] > zero else zero


@njit(**_LOOP)
def add_row_sums(x, out):
    """out_i += Σ_j x_ij, in float64."""
    for i in range(x.shape[0]):
        xi = x[i]
        total = 0.0
        for j in range(len(xi)):
            total += xi[j]
        out[i] += total


@njit(**_LOOP)
def add_column_sums(x, out):
    """out_j += Σ_i x_ij, in float64."""
    for i in range(x.shape[0]):
        xi = x[i]
        for j in range(len(xi)):
            out[j] += xi[j]


@njit(cache=True, nogil=True)
def census(y):
    """How many cells are finite, and how many infinite."""
    finite, infinite = 0, 0
    for i in range(y.shape[0]):
        yi = y[i]
        for j in range(len(yi)):
            finite += np.isfinite(yi[j])
            infinite += np.isinf(yi[j])
    return finite, infinite
