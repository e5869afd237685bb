"""The posterior mean: an average of draws as one low-rank matrix, and the draws that it keeps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy  # its parts are imported when used

from pygeco.algorithm.directions import leading_block
from pygeco.arrays.kinds import host, on, parts, scaled_rows, stack, times, zeros
from pygeco.arrays.low_rank import Array, LowRank, multiply_pairs
from pygeco.arrays.short_repr import show_fields
from pygeco.bayes.drift import Drift
from pygeco.bayes.likelihoods.base import Likelihood
from pygeco.bayes.posterior import Posterior
from pygeco.bayes.priors import FLOAT
from pygeco.objectives.entries.half_sweep import Side
from pygeco.objectives.entries.objective import Entries

# Columns of the running average before it is compressed: so many, or more up to these bytes of it.
MIN_WIDTH, WIDE_BYTES = 1024, 1 << 28
COMPRESSED_RANK = 256  # the rank to which it is compressed on the way
MAX_COMPRESSION_ERROR = 2e-3  # by the last compression: root mean square over cells, in deviations
CHECKED_CELLS = 20_000  # cells at which the change by compression is measured
MIN_TAKEN_COLUMNS = 256  # of products that are taken into the average at once
# Draws that the variance by the evidence stands for: by how much its pattern errs, 9 to 30 on cells
# of all kinds.
EVIDENCE_DRAWS = 12
COMPARED_CELLS = 2000  # at which the variances of draws and of the evidence are compared
BALANCED_CELLS = 50_000  # by which the mean is placed: 1 % for labels of which 2 % are ones


class Draw(NamedTuple):
    """One draw of both sides, in standard units."""

    rows: Side
    cols: Side


@dataclass(frozen=True, eq=False)
class Average:
    """The posterior mean: offsets and a low-rank part on the data's scale, and draws of it."""

    factors: LowRank
    mean: float
    row: Array
    col: Array
    error: float
    draws: tuple[Draw, ...]
    noise: float
    scale: float
    sweeps: int = 0  # that were averaged; files of older versions do not say
    drift: Drift | None = None  # what time adds, the mean of the draws
    likelihood: Likelihood | None = None  # with the mean of what was drawn beside z
    excess: float = 0.0  # variance of draws over that by the evidence; files of older versions: 0

    def __repr__(self) -> str:
        return show_fields(self)

    @property
    def degrees(self) -> int:
        """Of freedom, to which the variance of a prediction is known."""
        return len(self.draws) - 1 + (EVIDENCE_DRAWS if self.excess else 0)

    def variance(
        self, rows: Array, cols: Array, evidence: Posterior | None = None, *, noise: bool = True
    ) -> Array:
        """Var of a new observation at the cells, time apart: of its mean, and the mean noise.

        The few draws that are kept say how large the variance of the mean is, but of each cell only
        within a third. That by the evidence is too small, by a factor that hardly differs between
        cells: times this factor, it stands for some draws more. The mean of n draws is itself off,
        by less than a part 1 / n, by which the scatter of n in a row is too large: each lies on the
        other side of what the last one lay about.
        """
        spread = self._scatter(rows, cols)
        if self.excess and evidence is not None:
            known = evidence.variance(rows, cols, noise=False) * (self.excess / self.scale**2)
            own = len(self.draws) - 1
            spread = (own * spread + EVIDENCE_DRAWS * known) / (own + EVIDENCE_DRAWS)
        return self.scale**2 * (spread + self.noise * noise)

    def compare(self, evidence: Posterior, rng: np.random.Generator) -> Average:
        """With the mean ratio of the variance of draws to that by the evidence, in logarithms."""
        degrees = len(self.draws) - 1
        if degrees < 1:
            return self
        lines = (np.flatnonzero(host(p.some)) for p in (evidence.row_prior, evidence.col_prior))
        rows, cols = (rng.choice(some, COMPARED_CELLS) for some in lines)
        drawn = host(self._scatter(rows, cols))
        known = host(evidence.variance(rows, cols, noise=False)) / self.scale**2
        is_known = (drawn > 0) & (known > 0)
        if not is_known.any():
            return self
        ratio = float(np.mean(np.log(drawn[is_known] / known[is_known])))
        bias = float(scipy.special.digamma(degrees / 2)) - np.log(degrees / 2)
        return replace(self, excess=float(np.exp(ratio - bias)))

    def balance(self, data: Entries, evidence: Posterior, rng: np.random.Generator) -> Average:
        """With its mean where the answers at the fitted cells have the mean of the data.

        An offset that is free sees to that in a fit. Here it is off: z is not Gaussian where little
        is known of it, and a mean e^z or σ(z) lies in the tail. A mean of zero is switched off.
        """
        if self.likelihood is None or evidence.mean == 0 or len(self.draws) < 2:
            return self
        cells, count = data.by_row, min(data.size, BALANCED_CELLS)
        some = on(np.sort(rng.choice(data.size, count, replace=False)), data.kind)
        at = cells.owners_of(some), cells.indices[some]
        weights = cells.weights if len(cells.weights) else None
        constant = self.likelihood.find_constant(cells.values, weights)
        z = self.factors.entries(*at) + (self.mean + self.row[at[0]] + self.col[at[1]])
        variance = self.variance(*at, evidence, noise=False)
        weights = None if weights is None else weights[some]
        return replace(
            self, mean=self.mean + self.likelihood.find_move(constant, z, variance, weights)
        )

    def _scatter(self, rows: Array, cols: Array) -> Array:
        """The variance of the draws at the cells, in standard units."""
        like = self.row
        rows, cols = on(rows, like), on(cols, like)
        total, squares = zeros(len(rows), like), zeros(len(rows), like)
        for part in parts(len(rows), 1 << 16):
            i, j = rows[part], cols[part]
            for r, c in self.draws:
                z = np.einsum("tk,tk->t", r.factor[i], c.factor[j]) + r.bias[i] + c.bias[j]
                total[part] += z
                squares[part] += z.astype(float) ** 2
        count = len(self.draws)
        spread = (squares - total**2 / count) / max(count - 1, 1)
        return np.maximum(spread, 0.0)


class RunningMean:
    """A running mean of products of factors, compressed when it grows wide.

    Rows and columns count by the square root of their cells, as they will be asked for. What
    compression changes is measured, not bounded: the mean is also kept exactly at some of the
    observed cells.
    """

    def __init__(self, data: Entries, count: int, rng: np.random.Generator) -> None:
        m, n = data.shape
        like = data.kind
        self.row, self.col = zeros(m, like), zeros(n, like)
        self.heavy = [np.sqrt(np.maximum(c.counts(), 1)) for c in (data.by_row, data.by_col)]
        self.total, self.added = 2 * count, 0
        self.weight = 1 / self.total
        self.width = max(MIN_WIDTH, WIDE_BYTES // (np.dtype(FLOAT).itemsize * (m + n)))
        self.left: list[Array] = []
        self.right: list[Array] = []
        self.waiting: list[tuple[Side, Side]] = []
        self.lead = 0  # columns of the first product, from which a compression starts
        self.rng = rng
        cells = on(rng.integers(data.size, size=CHECKED_CELLS), like)
        self.at = (
            data.by_row.owners_of(cells),
            data.by_row.indices[cells],
        )
        self.exact = zeros(CHECKED_CELLS, like)

    def add(self, rows: Side, cols: Side) -> None:
        self.added += 1
        if self.added == 1:
            self.lead = rows.rank
        self.waiting.append((rows, cols))
        waiting = sum(side.rank for side, _ in self.waiting)
        if sum(left.shape[1] for left in self.left) + waiting > self.width:
            A = self._compress()
            self.left, self.right = [A.left.astype(FLOAT)], [A.V.astype(FLOAT)]
            self.lead = A.rank
        elif waiting >= MIN_TAKEN_COLUMNS:
            self._take_in()

    def _take_in(self) -> None:
        """What waits: many products at once take as long as one."""
        sides = tuple(zip(*self.waiting, strict=True))
        self.waiting = []
        weights = np.full((len(sides[0]), 1), self.weight)
        biases = (stack([one.bias for one in side]) for side in sides)
        row, col = (times(bias, weights)[:, 0] for bias in biases)
        self.row, self.col = self.row + row, self.col + col
        rows, cols = (stack([one.factor for one in side]) for side in sides)
        left, right = self.heavy
        self.left.append(scaled_rows(rows, (self.weight * left).astype(FLOAT)))
        self.right.append(scaled_rows(cols, right.astype(FLOAT)))
        self.exact += self.weight * multiply_pairs(rows, cols, *self.at)

    def result(self, most: int | None) -> tuple[LowRank, float]:
        """The mean at a low rank, and what compression changed, root mean square over cells."""
        A = self._compress()
        share = self.total / self.added  # 1, unless it was stopped early
        self.row, self.col, self.exact = (share * x for x in (self.row, self.col, self.exact))
        A = replace(A, s=share * A.s)
        total = np.sqrt(np.append(np.cumsum(A.s[::-1] ** 2)[::-1], 0.0))
        left, right = self.heavy
        size = float(np.linalg.norm(left) * np.linalg.norm(right))
        enough = int(np.argmax(total <= MAX_COMPRESSION_ERROR * size))
        A = A.truncate(enough if most is None else min(enough, most))
        A = LowRank(A.U / left[:, None], A.s, A.V / right[:, None]).svd()
        return A, float(np.sqrt(np.mean((A.entries(*self.at) - self.exact) ** 2)))

    def _compress(self) -> LowRank:
        """The weighted mean at a lower rank."""
        if self.waiting:
            self._take_in()
        left, right = stack(self.left), stack(self.right)
        A = LowRank(left, np.ones(left.shape[1], FLOAT), right)
        if A.rank <= COMPRESSED_RANK:
            return A.astype(float).svd()
        start = self.right[0][:, : self.lead]
        return LowRank(*leading_block(A, min(COMPRESSED_RANK, *A.shape), self.rng, 1, start=start))
