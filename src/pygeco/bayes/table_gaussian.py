"""One Gaussian for the rows of a table with gaps: its covariance shrunk by the evidence.

Rows z_i ~ N(m, Σ), Σ ~ inverse Wishart(κ I, κ + d + 1), whose mean is I: columns are standardized,
and κ rows' worth of independent columns are believed beforehand. A sweep gives each row's missing
cells their conditional mean and covariance (exactly, each row by itself), then m and Σ their
posterior means, then κ the value of the greatest evidence, in closed form through the eigenvalues
of the scatter. Pure noise gets a large κ and the column means, collinear columns a small one. Where
several coordinates stand for one column, their own covariance is I whatever the rows are: it says
nothing, and the evidence of the whole is taken over that of each such part.

Where columns are many, the covariance has low rank plus noise: that of the rows' prior in the
evidence of matrix completion. Both are one form, Σ = V diag(s²) Vᵀ + noise I.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.algorithm.events import Listener, Sweep
from pygeco.arrays.kinds import host
from pygeco.arrays.low_rank import Array
from pygeco.bayes.evidence import fit_evidence
from pygeco.bayes.posterior import Posterior
from pygeco.bayes.row_gaps import GapMemo, Gaps, list_gaps
from pygeco.bayes.strengths import ScatterDoubt, choose_strength, list_blocks
from pygeco.objectives.entries.objective import Entries

MAX_SWEEPS = 100
REST = 0.03  # a sweep's change of the filled cells, as a share of their own expected error
CLOSE_REST = 0.01  # the same where rows are few: sweeps are cheap, and gain up to 3 % of the error
FEW_ROWS = 5  # a column
# A column, up to which it counts how unsure the scatter is: with 30 of them the error is the same
# with half of the cells missing, with 8 it falls by 14 %.
MAX_DOUBT_ROWS = 25
MAX_CHOICE_WORK = 3e7  # multiplications a sweep, up to which the form may be tried
MAX_WORK = 1e11  # multiplications a sweep, about ten seconds, beyond which low rank is cheaper


class TableGaussian(NamedTuple):
    """N(mean, Vᵀ diag(deviations²) V + noise I), V (r, d) with orthonormal rows."""

    mean: Array
    components: Array
    deviations: Array
    noise: float

    @classmethod
    def independent(cls, d: int) -> TableGaussian:
        """Columns of mean 0 and deviation 1 that know nothing of each other."""
        return cls(np.zeros(d), np.zeros((0, d)), np.zeros(0), 1.0)

    @classmethod
    def of_covariance(cls, mean: Array, covariance: Array) -> TableGaussian:
        """Of any covariance: its smallest eigenvalue is the noise."""
        values, vectors = np.linalg.eigh(covariance)
        more = values - values[0] > 0
        deviations = np.sqrt(values[more] - values[0])
        return cls(mean, vectors.T[more][::-1], deviations[::-1], float(values[0]))

    @classmethod
    def of_posterior(cls, model: Posterior) -> TableGaussian:
        """A new row of a fit by the evidence; what is not known of the columns counts as noise."""
        cols, prior = model.cols, model.row_prior
        factor, bias = host(cols.factor).astype(float), host(cols.bias).astype(float)
        partner = np.column_stack([factor, np.ones(len(factor))])
        covariance = np.linalg.inv(prior.precision)
        root = model.scale * partner @ np.linalg.cholesky(covariance)
        U, s, _ = np.linalg.svd(root, full_matrices=False)
        squares = (np.diag(covariance) + prior.center**2)[:-1]
        doubt = float(np.mean(host(cols.variance).astype(float) @ squares)) if model.rank else 0.0
        mean = model.mean + model.scale * (bias + partner @ prior.center)
        live = s > 1e-12 * s.max(initial=0.0)
        return cls(mean, U.T[live], s[live], model.scale**2 * (1 / model.tau + doubt))

    def fill(self, Z: Array) -> Array:
        """Z with its NaN at their means given the row's known cells; O(n d² + Σ u³)."""
        known = ~np.isnan(Z)
        X = np.where(known, Z, 0.0)
        return _fill(X, known, list_gaps(known), self.mean, self.precision())[0]

    def precision(self) -> Array:
        """The inverse of the covariance (d, d)."""
        V, squares = self.components, self.deviations**2
        part = (V.T * (squares / (squares + self.noise))) @ V
        return np.asarray((np.eye(len(self.mean)) - part) / self.noise)

    def covariance(self) -> Array:
        """Σ itself (d, d)."""
        V = self.components
        return np.asarray((V.T * self.deviations**2) @ V + self.noise * np.eye(len(self.mean)))

    def diagonal_precision(self) -> Array:
        """The diagonal of that inverse, in O(r d)."""
        squares = self.deviations**2
        part = np.sum(self.components**2 * (squares / (squares + self.noise))[:, None], axis=0)
        return np.maximum((1 - part) / self.noise, np.finfo(float).tiny)


def list_forms(known: NDArray[np.bool_]) -> tuple[str, ...]:
    """The forms that a table's covariance may have, the one for this shape first.

    A whole covariance is the regression of each column on all others, and the better one where
    rows are more than columns. Where they are fewer, masked cells can tell.
    """
    n, d = known.shape
    work = n * d**2 + np.sum((d - known.sum(axis=1)).astype(float) ** 3)
    if 2 <= n < d and work + d**3 <= MAX_CHOICE_WORK:
        return "low rank", "whole"
    return ("whole",) if d <= n and work <= MAX_WORK else ("low rank",)


def fit_table(
    Z: Array,
    seed: int,
    listener: Listener | None = None,
    start: TableGaussian | None = None,
    form: str | None = None,
    memo: GapMemo | None = None,
    owners: NDArray[np.intp] | None = None,
) -> TableGaussian:
    """The Gaussian of the rows of Z (NaN for missing cells), whose columns are standardized.

    `listener` is told of each sweep, and stops the fit by a true answer. Sweeps of a covariance
    begin at `start`, where it is given: one that is near saves most of them. `form` is one of
    `list_forms`, the first where none is given. `memo` keeps the gaps for other fits of the rows.
    `owners` (d,) are the columns that coordinates stand for, each one its own where none are given.
    """
    known = ~np.isnan(Z)
    Z, known = Z[known.any(axis=1)], known[known.any(axis=1)]
    n, d = Z.shape
    if min(n, d) < 2:
        return TableGaussian.independent(d)
    if (form or list_forms(known)[0]) == "whole":
        return TableGaussian.of_covariance(*fit_covariance(Z, listener, start, memo, owners))
    data = Entries.from_dense(Z)
    found = fit_evidence(data, rank=min(n, d), seed=seed, listener=listener)
    return TableGaussian.of_posterior(found.posterior)


def fit_covariance(
    Z: Array,
    listener: Listener | None = None,
    start: TableGaussian | None = None,
    memo: GapMemo | None = None,
    owners: NDArray[np.intp] | None = None,
) -> tuple[Array, Array]:
    """Mean and covariance; O(n d² + Σ u³) a sweep, u the missing cells of a row."""
    known, began = ~np.isnan(Z), time.perf_counter()
    X, (n, d) = np.where(known, Z, 0.0), Z.shape
    gaps = list_gaps(known) if memo is None else memo.recall(known)
    mean, covariance = X.mean(axis=0), np.asarray(np.eye(d), float)
    if start is not None:
        mean, covariance = start.mean, start.covariance()
    blocks = list_blocks(owners)
    least = REST if n >= FEW_ROWS * d else CLOSE_REST
    for sweep in range(MAX_SWEEPS):
        precision = np.linalg.inv(covariance)
        before, (X, spread) = X, _fill(X, known, gaps, mean, precision)
        mean = X.mean(axis=0)
        rest = X - mean
        scatter = rest.T @ rest + spread
        doubt = ScatterDoubt(rest, gaps, precision) if n < MAX_DOUBT_ROWS * d else None
        strength = choose_strength(scatter, n - 1, blocks, doubt)
        covariance = (scatter + strength * np.eye(d)) / (n - 1 + strength)
        error = float(np.trace(spread))
        if listener is not None:
            noise = float(np.sqrt(error / max(1, np.sum(~known))))
            seconds = time.perf_counter() - began
            if listener.on_sweep(Sweep(sweep + 1, d - 1, noise, seconds)):
                break
        if sweep and np.sum((X - before) ** 2) <= least**2 * error:
            break
    return mean, covariance


def _fill(
    X: Array,
    known: NDArray[np.bool_],
    gaps: list[Gaps],
    mean: Array,
    precision: Array,
) -> tuple[Array, Array]:
    """X with its missing cells at their conditional means, and the sum of their covariances.

    With P the precision, M a row's missing cells and K its known ones, these are
    mean_M − P_MM⁻¹ P_MK (x − mean)_K and P_MM⁻¹.
    """
    d, P = len(mean), precision
    pull, filled, spread = np.where(known, X - mean, 0.0) @ P, X.copy(), np.zeros(d * d)
    line = filled.ravel()
    for gap in gaps:
        own = gap.invert(P)
        line[gap.cells] = mean[gap.cols] - gap.move(own, pull)
        own *= np.bincount(gap.which)[:, None, None]
        spread += np.bincount(gap.place_pairs(d).ravel(), own.ravel(), d * d)
    return filled, spread.reshape(d, d)
