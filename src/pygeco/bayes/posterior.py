"""What the evidence knows of a matrix: a Gaussian for every row and column, and their priors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.kinds import (
    contiguous,
    full,
    host,
    inner,
    on,
    parts,
    scaled_rows,
    times,
)
from pygeco.arrays.linalg import find_triangle
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.arrays.short_repr import show_fields
from pygeco.bayes.drift import Drift
from pygeco.bayes.likelihoods.base import Likelihood
from pygeco.bayes.periods import CellPeriods
from pygeco.bayes.priors import FLOAT, Gaussian
from pygeco.bayes.ridge import TABLE, RidgeGroup
from pygeco.engines.columns import steps_of
from pygeco.losses.weighted_squares import Weighing
from pygeco.objectives.entries.biases import Biases
from pygeco.objectives.entries.half_sweep import Side

MIN_SUPPORT = 0.01  # the share of a direction that the data, not the prior, must say, on both sides
MIN_SINGULAR_SHARE = 1e-6  # of the largest singular value; below it float32 sees rounding alone
# The least variance of the noise, as a share of the data's own: with less, single precision would
# no longer see the priors beside the cells.
LEAST_NOISE = 1e-9


@dataclass(frozen=True, eq=False)
class Posterior:
    """Both sides' means and variances, in units where the data have mean 0 and deviation 1.

    `weighing` is that of the cells, under a robust loss: 1 / `tau` is the variance of the noise of
    ordinary cells then, and `tails` times that of all. `drift` is what time adds. Under a
    `likelihood` the units are those of its z, and 1 / `tau` is the mean variance of its squares.
    A weight of `weight_unit` times the given one is that of the cells.
    """

    rows: Side
    cols: Side
    row_prior: Gaussian
    col_prior: Gaussian
    tau: float
    mean: float
    scale: float
    weighing: Weighing | None = None
    drift: Drift | None = None
    likelihood: Likelihood | None = None
    tails: float = 1.0
    weight_unit: float = 1.0

    def __repr__(self) -> str:
        return show_fields(self)

    @property
    def rank(self) -> int:
        return self.rows.rank

    @property
    def T(self) -> Posterior:
        """The posterior of the transposed matrix."""
        return replace(
            self,
            rows=self.cols,
            cols=self.rows,
            row_prior=self.col_prior,
            col_prior=self.row_prior,
            drift=None if self.drift is None else self.drift.T,
        )

    @property
    def at_end(self) -> Posterior:
        """The posterior as of the last time, in which time adds nothing more."""
        drift = self.drift
        if drift is None:
            return self
        rows, cols = drift.add_to_side(self.rows, "row"), drift.add_to_side(self.cols, "column")
        return replace(self, rows=rows, cols=cols, drift=None)

    def factors(self) -> LowRank:
        """The low-rank part on the data's own scale."""
        scale = np.full(self.rank, self.scale)
        return LowRank(self.rows.factor.astype(float), scale, self.cols.factor.astype(float)).svd()

    def biases(self) -> Biases:
        """The offsets on the data's own scale."""
        row, col = (self.scale * side.bias.astype(float) for side in (self.rows, self.cols))
        return Biases(self.mean, row, col)

    def predict_row(self, row: int, cols: Array) -> Array:
        """The means of z in a row, on the data's own scale, time apart; on the host."""
        r, c = self.rows, self.cols
        cols = on(cols, c.bias)
        inside = host(c.factor[cols].astype(float) @ r.factor[row].astype(float))
        return self.mean + self.scale * (inside + float(r.bias[row]) + host(c.bias[cols]))

    def variance(self, rows: Array, cols: Array, *, noise: bool = True) -> Array:
        """Var of a new observation at the cells, time apart: of its mean, and the noise."""
        r, c = self.rows, self.cols
        rows, cols = on(rows, r.bias), on(cols, r.bias)
        out = full(len(rows), self.tails / self.tau if noise else 0.0, r.bias)
        for part in parts(len(out), 1 << 16):
            i, j = rows[part], cols[part]
            u, wu, v, wv = r.factor[i], r.variance[i], c.factor[j], c.variance[j]
            out[part] += np.sum(u * u * wv + wu * (v * v + wv), axis=1)
            out[part] += r.bias_variance[i] + c.bias_variance[j]
        return self.scale**2 * out


class Known(NamedTuple):
    """What is known of rows and columns beforehand, as groups of attributes; of cells, when."""

    rows: tuple[RidgeGroup, ...] = ()
    cols: tuple[RidgeGroup, ...] = ()
    periods: CellPeriods | None = None

    def __bool__(self) -> bool:
        """Whether anything is known of rows or columns."""
        return bool(self.rows or self.cols)

    @property
    def tables(self) -> Known:
        """What is known without the pattern of known cells."""
        sides = self.rows, self.cols
        rows, cols = (tuple(group for group in side if group.source == TABLE) for side in sides)
        return Known(rows, cols, self.periods)


NOTHING = Known()


def update_priors(now: Posterior, known: Known = NOTHING) -> Posterior:
    """Both priors at their most likely."""
    return replace(
        now,
        row_prior=now.row_prior.update(now.rows, known.rows),
        col_prior=now.col_prior.update(now.cols, known.cols),
    )


class Basis(NamedTuple):
    """The basis of the singular vectors of U Vᵀ, and how far the data support each.

    `row_turn` and `col_turn` (s, s) take the components of each side to those of the basis. The
    support is 1 where the data say all of a direction, 0 where the prior does.
    """

    row_turn: Array
    col_turn: Array
    support: Array


def measure_support(now: Posterior) -> Basis:
    """How far the data support each singular direction of U Vᵀ, on both sides."""
    sides = (now.rows, now.row_prior.some), (now.cols, now.col_prior.some)
    wide = [contiguous(side.factor, float) for side, _ in sides]
    R, S = map(find_triangle, wide)
    P, s, Qt = np.linalg.svd(R @ S.T)
    turns = _find_turn(R, P * np.sqrt(s)), _find_turn(S, Qt.T * np.sqrt(s))
    support = np.where(s > MIN_SINGULAR_SHARE * s[0], 1.0, 0.0)
    for (side, some), X, T, turn in zip(sides, wide, (R, S), turns, strict=True):
        support = support * _support(side, some, X, T, turn)
    return Basis(*turns, support)


def _find_turn(R: Array, wanted: Array) -> Array:
    """T with X T = Q wanted for X = Q R, where some of its columns may depend on others."""
    return np.linalg.lstsq(R.T @ R, R.T @ wanted, rcond=1e-7)[0]


def drop_unsupported(now: Posterior, min_support: float = MIN_SUPPORT) -> Posterior:
    """Without the directions that the data do not support."""
    if now.rank == 0:
        return now
    basis = measure_support(now)
    return drop_directions(now, basis, keep=basis.support >= min_support)


def drop_directions(now: Posterior, basis: Basis, *, keep: NDArray[np.bool_]) -> Posterior:
    """With these directions of the basis alone; as it was, where that is all of them."""
    if keep.all():
        return now
    rows = _turn_side(now.rows, basis.row_turn[:, keep])
    cols = _turn_side(now.cols, basis.col_turn[:, keep])
    return update_priors(replace(now, rows=rows, cols=cols))


def _turn_side(side: Side, turn: Array) -> Side:
    """The side in another basis; of the variances the diagonal, as always."""
    factor = contiguous(times(contiguous(side.factor, float), turn), FLOAT)
    return side._replace(factor=factor, variance=times(side.variance, (turn**2).astype(FLOAT)))


def _support(side: Side, some: NDArray[np.bool_], X: Array, T: Array, turn: Array) -> Array:
    """Σ u² / Σ (u² + w) per turned component: 1 where the data say all, 0 where the prior does.

    X is the side's factor in double precision, T its triangle.
    """
    there = on(some, X).astype(float)
    gram = T.T @ T if bool(some.all()) else inner(scaled_rows(X, there), X)
    squares = np.sum(turn * (gram @ turn), axis=0)
    spread = host(steps_of(side.variance).add_rows(side.variance, there.astype(FLOAT)))
    return squares / (squares + spread @ turn**2 + 1e-300)
