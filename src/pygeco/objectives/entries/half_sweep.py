"""One side of a sweep: every row's own small problem, given the other side's factor."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pygeco.arrays.kinds import times
from pygeco.arrays.low_rank import Array
from pygeco.arrays.short_repr import show_fields
from pygeco.engines.values import Cells, Ridges, Vectors

UNKNOWN: Array = np.zeros(0)

# A pull to the start, as a share of a row's mean curvature: it settles what the row's cells leave
# open, well above the rounding of the Grams and far below anything that they say.
START_PULL = {"f": 1e-4, "d": 1e-10}


class Side(NamedTuple):
    """One side's factor (m, s) and offsets (m,), and their variances, empty where not known."""

    factor: Array
    bias: Array
    variance: Array = UNKNOWN
    bias_variance: Array = UNKNOWN

    def __repr__(self) -> str:
        return show_fields(self)

    @property
    def rank(self) -> int:
        return self.factor.shape[1]


class Swept(NamedTuple):
    """The new side, Σ w Var(ŷ) by the variances of both sides, and the posterior mean."""

    side: Side
    uncertainty: float
    mean: Side


def half_sweep(
    cells: Cells,
    start: Side,
    partner: Side,
    *,
    prior: Array,
    center: Array | None = None,
    ridge: Array | None = None,
    tau: float = 1.0,
    jitter: float = 0.0,
    noise: Array | None = None,
    variances: bool = False,
    offsets: bool = True,
) -> Swept:
    """argmin over x_i = (u_i, b_i) of τ Σ w (y − c_j − b_i − ⟨u_i, v_j⟩)² + ridge_i |x_i − μ|²_P.

    `prior` is P (s + 1, s + 1), or its diagonal; `center` is μ, zero by default, or
    (m, s + 1), one a row. A `noise` of
    standard normals (m, s + 1) draws the rows from their posteriors. Without `offsets`, b_i = 0
    and s + 1 is s in all these shapes. O(|E| s² + m s³).
    """
    dtype = start.factor.dtype
    known = len(partner.bias_variance) > 0
    P = np.diag(prior) if prior.ndim == 1 else prior
    ridges = Ridges(
        partner=partner.factor.astype(dtype, copy=False),
        bias=partner.bias,
        variance=partner.variance if known else None,
        bias_variance=partner.bias_variance if known else None,
        ridge=ridge,
        prior=P,
        shift=np.zeros(len(P)) if center is None else _pull_of(center, P),
        tau=tau,
        jitter=jitter,
        noise=noise,
        offsets=offsets,
    )
    begin = Vectors(start.factor, start.bias.astype(dtype, copy=False))
    solved = cells.engine.solve_side(cells, begin, ridges, variances=variances)
    found = Side(*solved.out, *(solved.variance or ()))
    return Swept(found, solved.uncertainty, found if solved.mean is None else Side(*solved.mean))


def _pull_of(center: Array, P: Array) -> Array:
    """P μ, of one center or of one a row."""
    return P @ center if center.ndim == 1 else times(center, P)
