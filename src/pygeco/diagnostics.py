"""What a fitted matrix completion does at cells: numbers behind the pictures and the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pygeco.factors import Array, LowRank
from pygeco.losses import Logistic, Loss, Ordinal, SmoothedHinge
from pygeco.objectives import Entries
from pygeco.tables import is_table

MOST = 1_000_000  # cells looked at: beyond these, a random million says the same
WORK = 10**9  # cells × components that a curve may cost: more ranks than that are thinned
LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)
# Half-widths, in deviations, of the central Gaussian intervals of these levels.
WIDTHS = (0.67449, 1.28155, 1.64485, 1.95996, 2.57583)


class Cells(NamedTuple):
    """Cells of the fitted matrix with their targets, as the loss wants them."""

    rows: NDArray[Any]
    cols: NDArray[Any]
    targets: Array
    total: int  # before a sample was taken
    held_out: bool


class Judged(NamedTuple):
    """Predictions beside what was observed, both on the scale of the data.

    `losses` is the loss at each cell; `deviation` the predicted standard deviation, where the
    model has one.
    """

    cells: Cells
    observed: Array
    predicted: Array
    losses: Array
    deviation: Array | None

    @property
    def residuals(self) -> Array:
        return self.observed - self.predicted

    @property
    def rmse(self) -> float:
        return float(np.sqrt(np.mean(self.residuals**2)))

    @property
    def mae(self) -> float:
        return float(np.mean(np.abs(self.residuals)))

    @property
    def half_width(self) -> float:
        """Half of the 95 % interval of the RMSE: cells taken as independent, delta method."""
        squares = self.residuals**2
        if len(squares) < 2 or self.rmse == 0:
            return 0.0
        return float(1.96 * squares.std(ddof=1) / np.sqrt(len(squares)) / (2 * self.rmse))


class Curve(NamedTuple):
    """Error against rank. `refitted`: each rank is a solution, not the last one cut off."""

    ranks: NDArray[np.int64]
    fitted: Array
    held_out: Array | None
    gaps: Array | None
    objectives: Array | None
    seconds: Array | None
    refitted: bool
    measure: str


class Bins(NamedTuple):
    """Cells by predicted value, in bins of equal count: means, counts and 95 % half-widths."""

    predicted: Array
    observed: Array
    half_width: Array
    counts: NDArray[np.int64]


class Component(NamedTuple):
    """One singular triple: its typical effect on a cell, and its extreme columns."""

    number: int
    effect: float
    value: float
    top: list[tuple[int, float]]
    bottom: list[tuple[int, float]]


class Names:
    """What to call a row or a column: its title, else its id, else its number."""

    def __init__(
        self, kind: str, ids: Any = None, titles: Mapping[Any, str] | Sequence[str] | None = None
    ) -> None:
        self.kind, self.ids = kind, ids
        by_id = isinstance(titles, Mapping)
        self.by_id: Mapping[Any, str] = titles if isinstance(titles, Mapping) else {}
        # Files name ids as text, models may keep them as numbers.
        self.by_text = {str(key): title for key, title in self.by_id.items()}
        self.by_number = None if by_id else titles

    def __getitem__(self, index: int) -> str:
        if self.by_number is not None:
            return str(self.by_number[index])
        if self.ids is None:
            return self.by_text.get(str(index), f"{self.kind} {index}")
        found = self.ids[index]
        return str(self.by_text.get(str(found), found))


def cells_of(model: Any, data: Any = None, most: int = MOST) -> Cells:
    """The cells of `data` (as `fit` takes it), or those that the model was fitted to.

    Of a table, the cells whose ids the model knows.
    """
    if data is None:
        pointers, cols, targets = model.seen_[:3]
        rows = np.repeat(np.arange(len(pointers) - 1), np.diff(pointers))
        return _sampled(Cells(rows, cols, targets, len(targets), False), most)
    if isinstance(data, Cells):
        return data
    if is_table(data) and model.row_ids_ is not None:
        rows, cols, targets = model.known_cells(data)
        if not len(targets):
            raise ValueError("held_out: none of its cells has a row and a column that were fitted.")
        return _sampled(Cells(rows, cols, targets, len(targets), True), most)
    if isinstance(data, tuple):
        rows, cols, values = (np.asarray(part) for part in data[:3])
    else:
        read = Entries.from_sparse if sp.issparse(data) else Entries.from_dense
        entries = read(data)
        rows = np.repeat(np.arange(entries.shape[0]), entries.by_row.counts())
        cols, values = entries.by_row.indices, entries.by_row.values
    if not len(values):
        raise ValueError("held_out: holds no cells; give at least one.")
    for name, index, size in zip(
        ("row", "column"), (rows, cols), model.factors_.shape, strict=True
    ):
        if index.min() < 0 or index.max() >= size:
            wrong = index[(index < 0) | (index >= size)][0]
            raise ValueError(
                f"held_out: {name} {wrong} is outside 0 … {size - 1}, the fitted matrix."
            )
    targets = model.loss_.targets(values)
    return _sampled(Cells(rows, cols, targets, len(targets), True), most)


def unseen(model: Any, data: Any) -> Cells:
    """The cells of `data` that the model was not fitted to; none may be left. O(cells log |E|)."""
    cells = cells_of(model, data, most=2**62)
    n = model.factors_.shape[1]
    pointers, cols = model.seen_[:2]
    seen = np.repeat(np.arange(len(pointers) - 1), np.diff(pointers)) * n + cols  # sorted
    asked = cells.rows.astype(np.int64) * n + cells.cols
    at = np.minimum(np.searchsorted(seen, asked), len(seen) - 1)
    new = seen[at] != asked
    part = (cells.rows[new], cells.cols[new], cells.targets[new])
    return _sampled(Cells(*part, int(new.sum()), True), MOST)


def judge(model: Any, data: Any = None, most: int = MOST) -> Judged:
    """Predictions at the cells of `data`, or at the fitted ones. O(cells × rank)."""
    cells = cells_of(model, data, most)
    z = _linear(model, cells, model.factors_)
    spread = model.average_ or model.posterior_
    deviation = None if spread is None else np.sqrt(spread.variance(cells.rows, cells.cols))
    return Judged(
        cells,
        observed(model.loss_, cells.targets),
        model._response(z).astype(float),
        np.asarray(model.loss_.value(z, cells.targets), dtype=float),
        deviation,
    )


def observed(loss: Loss, targets: Array) -> Array:
    """Targets on the scale of the loss's response: 0/1 for probabilities, levels for levels."""
    if isinstance(loss, Ordinal) and loss.levels is not None:
        return np.asarray(loss.levels, dtype=float)[targets.astype(np.int64)]
    if isinstance(loss, Logistic):
        return (targets > 0).astype(float)
    return targets.astype(float)


def comparable(loss: Loss) -> bool:
    """Whether predictions and targets share a scale; a hinge's margin and its label do not."""
    return not isinstance(loss, SmoothedHinge)


def curve(model: Any, held_out: Any = None, most: int = MOST) -> Curve:
    """Error on the fitted and on the held-out cells for each rank of the path.

    A fit with a single step (the evidence) gives the error of its leading components instead,
    offsets alone first.
    """
    sets = [cells_of(model, None, most)]
    if held_out is not None:
        sets.append(cells_of(model, held_out, most))
    path = model.path_
    refitted = len(path) > 1
    if refitted:
        steps = _thinned(list(path), sum(len(cells.rows) for cells in sets))
        errors = [[_error(model, cells, step.A) for step in steps] for cells in sets]
        ranks = [step.rank for step in steps]
    else:
        errors = [_growing(model, cells) for cells in sets]
        ranks, steps = list(range(model.factors_.rank + 1)), []
    return Curve(
        np.array(ranks),
        np.array(errors[0]),
        np.array(errors[1]) if held_out is not None else None,
        np.array([step.gap for step in steps]) if steps else None,
        np.array([step.objective for step in steps]) if steps else None,
        np.array([step.seconds for step in steps]) if steps else None,
        refitted,
        "root mean squared error" if model.loss_.regression else "mean loss",
    )


def calibration(judged: Judged, bins: int = 12) -> Bins:
    """Mean observation against mean prediction, in bins of (nearly) equal count."""
    order = np.argsort(judged.predicted, kind="stable")
    parts = [part for part in np.array_split(order, bins) if len(part)]
    predicted = np.array([judged.predicted[part].mean() for part in parts])
    seen = np.array([judged.observed[part].mean() for part in parts])
    counts = np.array([len(part) for part in parts])
    spread = np.array([judged.observed[part].std() for part in parts])
    return Bins(predicted, seen, 1.96 * spread / np.sqrt(counts), counts)


def coverage(judged: Judged) -> list[tuple[float, float]]:
    """(level, share of cells inside the predicted interval of that level)."""
    if judged.deviation is None:
        return []
    z = np.abs(judged.residuals) / judged.deviation
    return [
        (level, float(np.mean(z <= width))) for level, width in zip(LEVELS, WIDTHS, strict=True)
    ]


def worst(judged: Judged, count: int = 12) -> NDArray[np.int64]:
    """The cells with the largest loss, worst first."""
    count = min(count, len(judged.losses))
    found = np.argpartition(-judged.losses, count - 1)[:count] if count else np.zeros(0, int)
    return found[np.argsort(-judged.losses[found], kind="stable")]


def components(model: Any, count: int = 6, extremes: int = 6, support: int = 1) -> list[Component]:
    """The strongest singular triples of the fitted matrix.

    `effect` is the root mean square of what the component adds at the fitted cells. Signs are
    turned so that the column farthest from zero is at the top. Columns with fewer than `support`
    fitted cells are left out of the extremes.
    """
    A, cells = model.factors_.svd(), cells_of(model)
    enough = np.bincount(model.seen_.indices, minlength=A.shape[1]) >= support
    allowed = np.flatnonzero(enough)
    found = []
    for k in range(min(count, A.rank)):
        u, v = A.U[:, k].astype(float), A.V[:, k].astype(float)
        effect = float(A.s[k]) * float(np.sqrt(np.mean((u[cells.rows] * v[cells.cols]) ** 2)))
        # On the scale of the data: what the column gets from a row of typical weight.
        weight = v * float(A.s[k]) * np.sqrt(np.mean(u**2))
        if len(allowed) and -weight[allowed].min() > weight[allowed].max():
            weight = -weight
        order = allowed[np.argsort(weight[allowed], kind="stable")]
        each = min(extremes, (len(order) + 1) // 2)
        top = [(int(j), float(weight[j])) for j in order[::-1][:each]]
        bottom = [(int(j), float(weight[j])) for j in order[: min(each, len(order) - each)]]
        found.append(Component(k + 1, effect, float(A.s[k]), top, bottom))
    return found


def _sampled(cells: Cells, most: int) -> Cells:
    if len(cells.targets) <= most:
        return cells
    chosen = np.sort(np.random.default_rng(0).choice(len(cells.targets), most, replace=False))
    return cells._replace(
        rows=cells.rows[chosen], cols=cells.cols[chosen], targets=cells.targets[chosen]
    )


def _thinned(steps: list[Any], cells: int) -> list[Any]:
    """Few enough steps for the work allowed; the first and the last are kept."""
    count = len(steps)
    allowed = max(2, int(WORK / max(1, cells * np.mean([step.rank for step in steps]))))
    if count <= allowed:
        return steps
    return [steps[t] for t in np.unique(np.linspace(0, count - 1, allowed).round().astype(int))]


def _linear(model: Any, cells: Cells, A: LowRank) -> Array:
    return model.biases_.at(cells.rows, cells.cols) + A.entries(cells.rows, cells.cols)


def _error(model: Any, cells: Cells, A: LowRank) -> float:
    return _mean_error(model, cells, _linear(model, cells, A))


def _growing(model: Any, cells: Cells) -> list[float]:
    """The errors of the leading 0, 1, 2, … components of the fitted matrix."""
    A = model.factors_.svd()
    z = model.biases_.at(cells.rows, cells.cols).astype(float)
    errors = [_mean_error(model, cells, z)]
    for u, s, v in zip(A.U.T, A.s, A.V.T, strict=True):
        z += (s * u)[cells.rows] * v[cells.cols]
        errors.append(_mean_error(model, cells, z))
    return errors


def _mean_error(model: Any, cells: Cells, z: Array) -> float:
    if not model.loss_.regression:
        return float(np.mean(model.loss_.value(z, cells.targets), dtype=float))
    residuals = model._response(z).astype(float) - cells.targets
    return float(np.sqrt(np.mean(residuals**2)))
