"""New rows, or columns, against a fitted model: each is fitted to its own cells alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from pygeco.algorithm.penalties import Penalty, Schatten
from pygeco.arrays.kinds import host, inner, on, ones, times, zeros
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.bayes.attributes import AttributeValues
from pygeco.bayes.posterior import Posterior
from pygeco.bayes.sweep import new_rows
from pygeco.losses import Loss
from pygeco.models.seen import Positions
from pygeco.objectives import Entries
from pygeco.objectives.entries.biases import Biases
from pygeco.objectives.entries.fold_in import fold_in

TINY = 1e-12


class Folded(NamedTuple):
    """Rows in the basis of the singular vectors of the other side, and their offsets."""

    coordinates: Array
    offsets: Array


class Sizes(NamedTuple):
    """Cells of each row, and the mean of counts^gamma at the fit, by which weights are scaled."""

    counts: Positions
    level: float

    def weights(self, gamma: float) -> Array:
        return np.maximum(self.counts, 1.0) ** gamma / self.level


@dataclass(frozen=True, eq=False)
class Linear:
    """A fitted model without the evidence: z = A + μ + b_i + c_j, under the penalty of its fit.

    With A' = D_r^½ A D_c^½ = U' s' V'ᵀ, a row q V'ᵀ of A' costs Σ_k h'(s'_k) / (2 s'_k) q_k²: for
    the ridge the penalty itself, for other norms the quadratic that touches it at the solution.
    """

    A: LowRank
    biases: Biases
    rows: Sizes
    cols: Sizes
    offsets: tuple[bool, bool]
    penalty: Penalty | None
    total: float
    loss: Loss

    @property
    def T(self) -> Linear:
        """The same model of the transposed matrix."""
        return replace(
            self,
            A=self.A.T,
            biases=self.biases.T,
            rows=self.cols,
            cols=self.rows,
            offsets=self.offsets[::-1],
        )

    @property
    def gamma(self) -> float:
        return 0.0 if self.penalty is None else self.penalty.gamma

    def fold(self, entries: Entries) -> Folded:
        """Argmin of each row's losses plus its share of the penalty; O(|E| s² + k s³)."""
        A, kind = self.A, self.A.V
        F, ridge = self._basis()
        own = Sizes(host(entries.by_row.counts()), self.rows.level).weights(self.gamma)
        lift = own[:, None] * ridge
        wide = F
        if self.offsets[0]:
            loose = np.full((len(own), 1), 0.0 if self.loss.regression else 0.5)
            wide, lift = np.column_stack([F, ones((len(F), 1), kind)]), np.hstack([lift, loose])
        found = fold_in(
            entries, wide, offset=self.biases.mean + self.biases.col, ridge=on(lift, kind)
        )
        offsets = found[:, -1] if self.offsets[0] else zeros(len(found), kind)
        # F = V where nothing is weighted; else a row of A is q Fᵀ, and Fᵀ lies in the span of V.
        return Folded(found[:, : A.rank] @ (F.T @ A.V.astype(float)), offsets)

    def _basis(self) -> tuple[Array, Array]:
        """F = D_c^-½ V', and the weight on each squared coordinate of a row of weight one."""
        A, m = self.A.astype(float), self.A.shape[0]
        if self.penalty is None:
            s = np.maximum(A.s, 1e-6 * A.s.max(initial=1e-300))
            return A.V, np.zeros(A.rank) if self.loss.regression else 0.5 * m / s**2
        if self.gamma == 0.0:
            return A.V, self._pull(A.s)
        d, c = (np.sqrt(side.weights(self.gamma)) for side in (self.rows, self.cols))
        turned = LowRank(A.U * on(d, A.U)[:, None], A.s, A.V * on(c, A.V)[:, None]).svd()
        return turned.V / on(c, A.V)[:, None], self._pull(turned.s)

    def _pull(self, s: Array) -> Array:
        """Total weight times h'(s) / (2 s)."""
        h = self.penalty
        if h is None:
            return np.zeros_like(s)
        if h.quadratic is not None:
            return np.full(len(s), h.quadratic * self.total)
        slope = h.slope(s) + h.threshold
        if isinstance(h, Schatten) and h.p == 1:
            slope = np.full(len(s), 2 * h.value(s) / max(float(s.sum()), 1e-300))
        return self.total * slope / (2 * np.maximum(s, TINY * s.max(initial=1e-300)))


def fold(
    model: Linear | Posterior,
    A: LowRank,
    biases: Biases,
    entries: Entries,
    values: AttributeValues | None = None,
) -> Folded:
    """The rows of `entries` given the columns of the model, in the basis A.V, beside `biases`."""
    if isinstance(model, Linear):
        return model.fold(entries)
    rows = new_rows(model, entries, values)
    turned = times(model.cols.factor.T.astype(float), A.V.astype(float))
    apart = match_offsets(model, A, biases)
    return Folded(
        model.scale * (rows.factor @ turned) + apart.coordinates,
        model.scale * rows.bias + apart.offsets,
    )


def match_offsets(model: Posterior, A: LowRank, biases: Biases) -> Folded:
    """What every row needs beside other offsets of the columns than those that it was fitted to.

    Those of a mean of draws differ by what rows can take on, α + V β, which no cell can tell from
    offsets of rows and from the mean of their vectors: the least squares of α and β.
    """
    own = model.biases()
    rest = own.mean + own.col - (biases.mean + biases.col)
    V = A.V.astype(float)
    ones_in, rest_in = V.sum(axis=0), inner(V, rest[:, None])[:, 0]
    left = len(V) - float(host(ones_in @ ones_in))
    alpha = 0.0
    if model.row_prior.offset and left > TINY * len(V):
        alpha = (float(np.sum(rest, dtype=float)) - float(host(ones_in) @ rest_in)) / left
    return Folded(on(rest_in - alpha * host(ones_in), V), on(np.array(alpha), V))


def measure_variances(
    p: Posterior, entries: Entries, values: AttributeValues | None = None, *, noise: bool
) -> Array:
    """The variances of linear predictions in the rows of `entries`, (rows, n), in standard units.

    With `noise`, those of new observations.
    """
    new, cols = new_rows(p, entries, values), p.cols
    u, wu, v, wv = (x.astype(float) for x in (new.factor, new.variance, cols.factor, cols.variance))
    out = (u * u) @ wv.T + wu @ (v * v + wv).T + (p.tails / p.tau if noise else 0.0)
    out += new.bias_variance[:, None].astype(float) + cols.bias_variance
    return out
