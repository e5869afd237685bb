"""Rows laid out as kernels gather them: each in whole vectors, one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from pygeco.arrays.low_rank import Array
from pygeco.engines.cpu import column_kernels
from pygeco.engines.cpu.pieces import find_place
from pygeco.engines.cpu.vectors import BYTES

PAD_ROWS = 256  # that a thread pads at once


def empty_lines(n: int, width: int, dtype: Any) -> Array:
    """An array whose rows begin with a line of the cache, where they are whole vectors.

    NumPy's begin 16 bytes behind one: each vector would lie on two lines.
    """
    room = np.empty(n * width * dtype.itemsize + BYTES, np.uint8)
    skipped = -find_place(room) % BYTES
    return room[skipped : skipped + n * width * dtype.itemsize].view(dtype).reshape(n, width)


def _begins_line(array: Array) -> bool:
    return array.flags.c_contiguous and not find_place(array) % BYTES


def pad_rows(
    factor: Array, scale: Array | None = None, variance: Array | None = None
) -> tuple[Array, int]:
    """The rows, times `scale`, each padded with zeros to whole vectors; how wide each is then.

    Where there are variances, their vectors take turns with the row's own.
    """
    lanes = BYTES // factor.itemsize
    n, s = factor.shape
    width = max(1, -(-s // lanes)) * lanes
    if s == width and scale is None and variance is None and _begins_line(factor):
        return factor.reshape(-1), width
    out = empty_lines(n, width if variance is None else 2 * width, factor.dtype)
    other = out[:0, :s] if variance is None else variance
    scales = out[:0, 0] if scale is None else scale
    given = (np.ascontiguousarray(x, factor.dtype) for x in (factor, other, scales))
    column_kernels.pad(*given, PAD_ROWS, -(-n // PAD_ROWS), lanes, out)
    return out.reshape(-1), width


def lay_partners(
    partner: Array, bias: Array | None, variance: Array | None, bias_variance: Array | None
) -> tuple[Array, int, int, Array]:
    """What `row_tables` gathers: padded rows, whether variances follow them, the width, offsets.

    Offsets (n, 2) go with their variances; what is not known is zero.
    """
    flat, width = pad_rows(partner, variance=variance)
    offsets = np.zeros((len(partner), 2), partner.dtype)
    for k, known in enumerate((bias, bias_variance)):
        if known is not None:
            offsets[:, k] = known
    return flat, int(variance is not None), width, offsets
