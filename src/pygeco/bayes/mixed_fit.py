"""The model of a table with columns of different kinds, with nothing to tune.

A tenth of the known cells is masked, and the rest fitted in each shape that numbers may have. The
masked cells say which shape is best, how much the discriminants of values are to be trusted, and
how wide intervals must be; then all cells are fitted. Which cells are masked depends on the cells
alone: the order of rows and columns, units and the names of categories change nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy  # scipy.special is imported when used
from numpy.typing import NDArray

from pygeco.algorithm.events import Listener
from pygeco.arrays.low_rank import Array
from pygeco.arrays.streams import Purpose, stream
from pygeco.bayes.column_codes import SHAPES, Code, ValueCode, code_numbers, code_values
from pygeco.bayes.mixed_table import COVERAGES, Belief, MixedTable, encode_table
from pygeco.bayes.table_gaussian import TableGaussian, fit_table

MASKED_SHARE = 0.1  # of the known cells
MIN_MASKED = 3_000  # masked cells that trials should have, of all their rounds together
MAX_ROUNDS = 5
MAX_TRIAL_ROWS = 4_000  # a shape's gain shows in fewer
MAX_FIT_ROWS = 30_000  # the error of a covariance of 100 columns from these is 0.3 % of a cell's
MIN_SHAPE_CELLS = 200  # masked numbers, for them to say anything of shapes
MIN_SHAPE_GAIN = 0.005  # of the error relative to that of the means, to leave the plain shape
TRUSTS = np.array([0.1, 0.2, 0.35, 0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0])
TRUST_PRIOR = 2.0  # of (log trust)², so that few cells move it little
WIDTH_PRIOR = 50.0  # masked cells' worth of the table's widths in those of a column


class Plan(NamedTuple):
    """A column's kind: numbers in a shape (None is to be chosen), or one of `values`, which rise.

    `key` tells columns apart whatever their order.
    """

    key: int
    shape: str | None = None
    values: Array = np.zeros(0)
    is_ordered: bool = False


class ColumnTrial(NamedTuple):
    """What the masked cells of one column say.

    error and null are sums: of squares of the error of a number or level and of that of the mean;
    of misses of a category and of the most frequent one. residuals are in deviations of the
    Gaussian's belief.
    """

    cells: int = 0
    error: float = 0.0
    null: float = 0.0
    residuals: Array = np.zeros(0)
    likelihoods: Array = np.zeros(len(TRUSTS))
    null_likelihood: float = 0.0
    absolute: float = 0.0
    null_absolute: float = 0.0

    def __add__(self, other: ColumnTrial) -> ColumnTrial:  # type: ignore[override]
        sums = {
            name: getattr(self, name) + getattr(other, name)
            for name in self._fields
            if name != "residuals"
        }
        return ColumnTrial(residuals=np.concatenate([self.residuals, other.residuals]), **sums)

    @property
    def loss(self) -> float:
        """The log-loss relative to that of the shares; or the error relative to that of the mean,
        by squares and absolutely, for squares alone say little of heavy tails.
        """
        if self.null_likelihood:
            return float(self.likelihoods.max() / self.null_likelihood)
        if not (0 < self.null < np.inf and self.null_absolute > 0):
            return 1.0
        return 0.5 * (self.error / self.null + (self.absolute / self.null_absolute) ** 2)


class MixedFit(NamedTuple):
    """The model, the shape of its numbers, and the trials of its columns."""

    table: MixedTable
    shape: str
    trials: tuple[ColumnTrial, ...]
    rows: int


def fit_mixed(
    X: Array, plans: Sequence[Plan], seed: int, listener: Listener | None = None
) -> MixedFit:
    """Fit a table (NaN for missing cells; values as numbers), whose columns are as planned."""
    order = order_rows(X, plans, seed)[:MAX_FIT_ROWS]
    shapes = SHAPES if any(_is_open(plan) for plan in plans) else SHAPES[:1]
    trials = {s: [ColumnTrial()] * len(plans) for s in shapes}
    part = X[order[:MAX_TRIAL_ROWS]]
    rounds = min(MAX_ROUNDS, -(-MIN_MASKED // max(1, int(MASKED_SHARE * np.sum(~np.isnan(part))))))
    starts: dict[str, TableGaussian | None] = dict.fromkeys(shapes)  # where sweeps begin
    for k in range(rounds):
        held = mask_cells(part, plans, seed, k)
        if not held.any():
            break
        for s in shapes:
            found, starts[s] = _try(part, held, plans, s, seed, starts[s])
            trials[s] = [a + b for a, b in zip(trials[s], found, strict=True)]
    shape = _choose(trials)
    codes = [
        _trust(code, t)
        for code, t in zip(_code(X[order], plans, shape), trials[shape], strict=True)
    ]
    gaussian = fit_coordinates(encode_table(X[order], codes), seed, listener, starts[shape])
    table = MixedTable(tuple(codes), gaussian, _measure_widths(trials[shape]))
    return MixedFit(table, shape, tuple(trials[shape]), len(order))


def fit_coordinates(
    Z: Array, seed: int, listener: Listener | None = None, start: TableGaussian | None = None
) -> TableGaussian:
    """The Gaussian of coordinates; those that do not vary keep to their mean."""
    with np.errstate(invalid="ignore"):
        known = ~np.isnan(Z)
        count = np.maximum(known.sum(axis=0), 1)
        mean = np.where(known, Z, 0).sum(axis=0) / count
        varies = np.where(known, (Z - mean) ** 2, 0).sum(axis=0) > 1e-12 * count
    near = None
    if start is not None and len(start.mean) == Z.shape[1]:
        near = TableGaussian.of_covariance(
            start.mean[varies], start.covariance()[np.ix_(varies, varies)]
        )
    found = fit_table(Z[:, varies], seed, listener, near)
    components = np.zeros((len(found.components), Z.shape[1]))
    components[:, varies] = found.components
    mean[varies] = found.mean
    return TableGaussian(mean, components, found.deviations, found.noise)


def _is_open(plan: Plan) -> bool:
    return not len(plan.values) and plan.shape is None


def _code(X: Array, plans: Sequence[Plan], shape: str) -> list[Code]:
    return [
        code_values(X[:, k], plan.values, is_ordered=plan.is_ordered)
        if len(plan.values)
        else code_numbers(X[:, k], plan.shape or shape)
        for k, plan in enumerate(plans)
    ]


def order_rows(X: Array, plans: Sequence[Plan], seed: int) -> NDArray[np.intp]:
    """An order that depends on the rows' cells and not on their places: that of their hashes."""
    total = np.zeros(len(X), np.uint64)
    for k, plan in enumerate(plans):
        known = ~np.isnan(X[:, k])
        rank = known.astype(np.uint64)
        if not len(plan.values) or plan.is_ordered:
            rank[known] += np.unique(X[known, k], return_inverse=True)[1].astype(np.uint64)
        odd = np.uint64(2 * plan.key + 1)
        total += _stir(rank * odd + np.uint64(seed % 2**63))
    return np.argsort(_stir(total), kind="stable")


def _stir(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A finalizer of 64-bit hashes (Steele et al. 2014)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def mask_cells(X: Array, plans: Sequence[Plan], seed: int, k: int) -> NDArray[np.bool_]:
    """Cells to hold out, of rows in the order of `order_rows`; columns keep most of their own."""
    held = ~np.isnan(X)
    for j, plan in enumerate(plans):
        held[:, j] &= (
            stream(Purpose.IMPUTER_CHOICE, seed, plan.key, k).random(len(X)) < MASKED_SHARE
        )
        kept = X[~np.isnan(X[:, j]) & ~held[:, j], j]
        if len(kept) < 3 or kept.min() == kept.max():
            held[:, j] = False
    return held


def _try(
    X: Array,
    held: NDArray[np.bool_],
    plans: Sequence[Plan],
    shape: str,
    seed: int,
    start: TableGaussian | None,
) -> tuple[list[ColumnTrial], TableGaussian]:
    """Fit without the held cells, and compare."""
    seen = np.where(held, np.nan, X)
    codes = _code(seen, plans, shape)
    gaussian = fit_coordinates(encode_table(seen, codes), seed, start=start)
    table = MixedTable(tuple(codes), gaussian, np.ones((len(plans), len(COVERAGES))))
    rows = np.flatnonzero(held.any(axis=1))
    found = []
    for k, belief in enumerate(table.believe(seen[rows])):
        asked = held[rows[belief.rows], k]
        own = belief.take(asked)
        truth = X[rows[own.rows], k]
        found.append(_compare(table, k, own, truth, seen[:, k]) if len(truth) else ColumnTrial())
    return found, gaussian


def _compare(table: MixedTable, k: int, belief: Belief, truth: Array, seen: Array) -> ColumnTrial:
    code, known = table.codes[k], seen[~np.isnan(seen)]
    if isinstance(code, ValueCode):
        return _compare_values(table, k, belief, truth)
    error = table.estimate(k, belief, "mean") - truth
    z = code.encode(truth)[:, 0]
    residuals = (z - belief.mean[:, 0]) / np.sqrt(belief.covariance[:, 0, 0])
    own, null = _add_squares(error), _add_squares(known.mean() - truth)
    absolute = float(np.sum(np.abs(table.estimate(k, belief, "median") - truth)))
    null_absolute = float(np.sum(np.abs(np.median(known) - truth)))
    return ColumnTrial(
        len(truth), own, null, residuals, absolute=absolute, null_absolute=null_absolute
    )


def _add_squares(error: Array) -> float:
    with np.errstate(over="ignore"):
        return float(np.sum(error**2))


def _compare_values(table: MixedTable, k: int, belief: Belief, truth: Array) -> ColumnTrial:
    code = table.codes[k]
    if not isinstance(code, ValueCode) or code.width == 0:
        return ColumnTrial()
    at = code.find(truth)
    belief, truth, at = belief.take(at >= 0), truth[at >= 0], at[at >= 0]
    if not len(at):
        return ColumnTrial()
    with np.errstate(divide="ignore"):
        logs = np.log(code.shares)
    said = code.discriminate(belief.mean, belief.covariance, table.prior(k))
    scores = logs + TRUSTS[:, None, None] * said
    scores -= scores.max(axis=2, keepdims=True)
    scores -= np.log(np.exp(scores).sum(axis=2, keepdims=True))
    likelihoods = scores[:, np.arange(len(at)), at].sum(axis=1)
    best = scores[np.argmax(likelihoods)]
    if code.is_ordered:
        error = _add_squares(np.exp(best) @ code.values - truth)
        null = _add_squares(code.shares @ code.values - truth)
    else:
        error = float(np.sum(at != best.argmax(axis=1)))
        null = float(np.sum(at != code.shares.argmax()))
    return ColumnTrial(len(at), error, null, np.zeros(0), likelihoods, float(logs[at].sum()))


def _choose(trials: dict[str, list[ColumnTrial]]) -> str:
    """The shape with the least loss, each column alike; plain unless another is clearly better."""
    losses = {
        s: float(np.mean([t.loss for t in found if t.cells] or [1.0]))
        for s, found in trials.items()
    }
    best = min(losses, key=losses.__getitem__)
    if sum(len(t.residuals) for t in trials["plain"]) < MIN_SHAPE_CELLS:
        return "plain"
    return best if losses[best] < losses["plain"] - MIN_SHAPE_GAIN else "plain"


def _trust(code: Code, trial: ColumnTrial) -> Code:
    if not isinstance(code, ValueCode):
        return code
    best = np.argmax(trial.likelihoods - TRUST_PRIOR * np.log(TRUSTS) ** 2)
    return code._replace(trust=float(TRUSTS[best]))


def _measure_widths(trials: Sequence[ColumnTrial]) -> Array:
    """Quantiles of the residuals over a normal's, those of few cells drawn to the table's."""
    normal = scipy.special.ndtri(0.5 + COVERAGES / 2)
    pool = np.concatenate([t.residuals for t in trials])
    if len(pool) < WIDTH_PRIOR:
        return np.ones((len(trials), len(COVERAGES)))
    table = _take_widths(pool, normal)
    found = [
        (t.cells * _take_widths(t.residuals, normal) + WIDTH_PRIOR * table)
        / (t.cells + WIDTH_PRIOR)
        if len(t.residuals)
        else table
        for t in trials
    ]
    return np.array(found)


def _take_widths(residuals: Array, normal: Array) -> Array:
    shares = np.minimum(COVERAGES * (1 + 1 / len(residuals)), 1)
    return np.quantile(np.abs(residuals), shares) / normal
