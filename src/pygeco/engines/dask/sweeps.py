"""Half-sweeps on a worker: over the rows of a slab; over columns, whose systems are summed over
the slabs first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pygeco.arrays.kinds import Array
from pygeco.engines.cpu.packed_tables import packed_tables, solve_tables
from pygeco.engines.cpu.padding import lay_partners
from pygeco.engines.values import Cells, Ridges, Solved

# Of `Ridges`: what goes with the partner's side, and with the side that is swept.
PARTNER = ("partner", "bias", "variance", "bias_variance")
OWN = ("ridge", "noise", "background", "shift")


def solve_rows(
    cells: Cells, start: Array, rest: dict[str, Any], variances: bool, *sides: Array | None
) -> Solved:
    """A slab's rows. `sides` are the fields of `Ridges` in PARTNER and OWN."""
    given: dict[str, Any] = dict(zip((*PARTNER, *OWN), sides, strict=True)) | rest
    ridges = Ridges(**given)
    return cells.engine.half_sweep(cells, start, ridges, variances=variances)


def table_width(s: int, offsets: bool, known: bool) -> int:
    """Numbers of a packed table."""
    d = s + offsets
    return d * (d + 1) // 2 + d + (s + 1 if known else 0)


def column_tables(
    cells: Cells,
    partner: Array,
    bias: Array | None,
    variance: Array | None,
    bias_variance: Array | None,
    offsets: bool,
) -> tuple[Array, Array, float]:
    """A slab's share in the systems of all columns, packed (n, width), in partnerᵀ partner, and in
    the sum of weighted squares Σ w y².
    """
    s, dtype = partner.shape[1], partner.dtype
    flat, vague, width, offset = lay_partners(partner, bias, variance, bias_variance)
    out = np.empty((cells.groups, table_width(s, offsets, variance is not None)), dtype)
    packed_tables(
        *cells[:2],
        cells.values.astype(dtype, copy=False),
        cells.weights.astype(dtype, copy=False),
        cells.blocks,
        flat,
        vague,
        width,
        s,
        int(offsets),
        offset,
        out,
    )
    return out, partner.T @ partner, _sum_squares(cells)


def _sum_squares(cells: Cells) -> float:
    """Σ w y² of a slab's cells in these groups."""
    own = slice(int(cells.pointers[0]), int(cells.pointers[-1]))
    y = cells.values[own].astype(float)
    return float(y @ (cells.weights[own] * y) if len(cells.weights) else y @ y)


def solve_columns(
    sums: tuple[Array, Array, float],
    start: Array,
    rest: dict[str, Any],
    known: bool,
    variances: bool,
) -> tuple[Solved, Array]:
    """The columns' solutions. `rest` is what `Ridges` says of the columns themselves."""
    packed, gram, squares = sums
    n, d = start.shape
    background = rest["background"]
    if background is not None:
        diagonal = [k * (k + 3) // 2 for k in range(d)]
        packed = packed.copy()
        packed[:, diagonal] += background[:, None] * rest["spectrum"]
    dtype = start.dtype
    offsets, noise = bool(rest["offsets"]), rest["noise"]
    none = np.zeros((0, d))
    out, uncertainty = np.empty((n, d), dtype), np.empty(n)
    mean = none if noise is None else np.empty((n, d))
    variance = np.empty((n, d)) if variances else none
    # A copy: what Dask sends cannot be written to, for which numba would compile the kernel anew.
    ridge = np.ones(n) if rest["ridge"] is None else np.array(rest["ridge"], float)
    solve_tables(
        packed,
        d - offsets,
        int(offsets),
        known,
        start.astype(float),
        ridge,
        np.ascontiguousarray(rest["prior"], float),
        np.ascontiguousarray(np.atleast_2d(rest["shift"]), float),
        float(rest["tau"]),
        float(rest["jitter"]),
        none if noise is None else noise.astype(float),
        out,
        mean,
        variance,
        uncertainty,
    )
    found = Solved(
        out,
        None if noise is None else mean.astype(dtype),
        variance.astype(dtype) if variances else None,
        float(uncertainty.sum()),
    )
    if background is not None:
        sides = packed[:, d * (d + 1) // 2 :][:, :d].astype(float)
        found = found._replace(unexplained=squares - float(np.sum(sides * out)))
    return found, gram


def join_blocks(found: list[Solved]) -> Solved:
    """Blocks of columns, one after the other."""
    if len(found) == 1:
        return found[0]
    arrays = zip(*(block[:3] for block in found), strict=True)
    whole: list[Any] = [None if some[0] is None else np.concatenate(some) for some in arrays]
    sums = (sum(getattr(block, name) for block in found) for name in ("uncertainty", "unexplained"))
    return Solved(whole[0], whole[1], whole[2], *sums)
