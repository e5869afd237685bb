"""New people by a few ratings or clicks: their lists at once, without another fit."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.low_rank import Array
from pygeco.bayes.reasons import contributions
from pygeco.clicks.model import ClickModel
from pygeco.losses import Loss
from pygeco.models.list_scores import KnownColumns
from pygeco.models.ranking import Best
from pygeco.objectives import Entries
from pygeco.serve.listing import CELLS_AT_ONCE, pick_best
from pygeco.serve.requests import FoldIn, Known, Listed
from pygeco.serve.served import Served
from pygeco.serve.typed import RequestError


def fold_people(
    served: Served, people: list[list[Known]], asked: FoldIn, allowed: NDArray[np.bool_] | None
) -> list[list[Listed]]:
    """A list for each of these people, with deviations and reasons where they are asked for."""
    step = max(1, CELLS_AT_ONCE // served.model.shape[1])
    found: list[list[Listed]] = []
    for at in range(0, len(people), step):
        found += _fold_some(served, people[at : at + step], asked, allowed)
    return found


def _fold_some(
    served: Served, people: list[list[Known]], asked: FoldIn, allowed: NDArray[np.bool_] | None
) -> list[list[Listed]]:
    model = served.model
    cells, values = read_known(served, people)
    lines = np.repeat(np.arange(len(people)), np.diff(cells.pointers))
    entries = place_known(served, cells, values)
    folded = model.fold_rows(entries)
    V, own = model.factors.V, folded.coordinates
    if served.is_of_clicks:  # scores: a double of all columns would take longer than the rest
        own = own.astype(V.dtype, copy=False)
    z = own @ V.T + folded.offsets[:, None]
    nobody = np.diff(cells.pointers) == 0
    if served.is_of_clicks:
        z[nobody] = served.average_scores  # nothing is known: all scores would be zero
    variance = None if model.likelihood is None else model.vary_rows(entries, noise=False)
    linear = z + (model.biases.mean + model.biases.col)
    predicted = model.respond(linear, variance).astype(np.float32)
    scores = served.list_parts.choice
    if scores is None or asked.by == "value" or (asked.by == "auto" and np.isinf(scores.power)):
        table = (z + model.biases.col).astype(np.float32)
    else:
        table = scores.draw(cells)
        if asked.by != "choice" and scores.power:
            table = scores.weigh(table, predicted, scores.power)
        table[nobody] = z[nobody] + model.biases.col  # who chose nothing is drawn to nothing
    table[lines, cells.columns] = -np.inf
    k = min(asked.k, model.shape[1] if allowed is None else int(allowed.sum()))
    best = pick_best(table, predicted, k, allowed)
    spread = None
    if asked.deviation and model.posterior is not None and not served.is_of_clicks:
        spread = model.deviate_rows(entries)
    at = lines, cells.columns
    doubt = None if variance is None else variance[at]
    squares = weigh_known(served, entries.by_row.values, linear[at], doubt)
    return [
        _name_list(served, best, t, spread, cells, squares, asked.reasons)
        for t in range(len(people))
    ]


def place_known(served: Served, cells: KnownColumns, values: NDArray[np.float32]) -> Entries:
    """What people know as cells of new rows; an error where it is no label or level."""
    model, counts = served.model, np.diff(cells.pointers)
    lines, shape = np.repeat(np.arange(len(counts)), counts), (len(counts), model.shape[1])
    loss: str | Loss = "squared" if served.is_of_clicks else model.loss
    at, engine = (lines, cells.columns, values, shape), model.engine
    try:
        return Entries(*at, loss=loss, allow_empty=True, engine=engine)
    except ValueError as error:
        said = str(error).removeprefix("values")
        raise RequestError(422, "bad_value", f"value{said}") from None


class KnownSquares(NamedTuple):
    """Known cells as weighted squares: what they are taken to say, and how much each counts."""

    targets: NDArray[Any]
    weights: NDArray[Any]


def weigh_known(
    served: Served, targets: Array, linear: Array, variance: Array | None
) -> KnownSquares:
    """Cells of new people beside what is predicted there, as `explain` has those of fitted rows."""
    p = served.model.posterior
    weights: Array = np.ones(len(targets))
    if p is None:
        return KnownSquares(targets.astype(float), weights)
    if p.likelihood is not None and variance is not None:
        squares = p.likelihood.make_squares(targets, linear, variance)
        return KnownSquares(np.asarray(squares.targets), np.asarray(squares.weights / p.tau))
    if p.weighing is not None:
        weights = p.weighing.weights((linear - targets).astype(float))
    return KnownSquares(targets.astype(float), weights)


def read_known(
    served: Served, people: list[list[Known]]
) -> tuple[KnownColumns, NDArray[np.float32]]:
    """What people know as cells; of an item that comes twice, the last."""
    counts, columns, values = [0], [], []
    low, high = (np.float32(bound) for bound in served.model.bounds)
    least, greatest = served.bounds
    for known in people:
        at = served.find(1, [one.item for one in known], "item", strict=True) if known else ()
        last = dict(zip([int(j) for j in at], known, strict=True))
        for j in sorted(last):
            value = last[j].value
            if served.is_of_clicks and value not in (None, 1.0):
                raise RequestError(422, "bad_value", "value: a click has none; leave it out.")
            if not served.is_of_clicks and (value is None or not low <= _as_kept(value) <= high):
                raise RequestError(
                    422,
                    "bad_value",
                    f"value: expected a rating from {least:.9g} to {greatest:.9g}.",
                )
            columns.append(j)
            values.append(1.0 if value is None else value)
        counts.append(len(columns))
    cells = KnownColumns(np.array(counts, np.int64), np.array(columns, np.int32))
    return cells, np.array(values, np.float32)


def _as_kept(value: float) -> np.float32:
    """A value in single precision, as fitted ones are; infinite where it is far beyond them."""
    with np.errstate(over="ignore"):
        return np.float32(value)


def _name_list(
    served: Served,
    best: Best,
    line: int,
    spread: Array | None,
    cells: KnownColumns,
    squares: KnownSquares,
    reasons: int,
) -> list[Listed]:
    own = slice(int(cells.pointers[line]), int(cells.pointers[line + 1]))
    columns = best.columns[line][best.columns[line] >= 0]
    listed: list[Listed] = []
    names = served.name(1, columns)
    for j, name, score in zip(columns.tolist(), names, best.scores[line].tolist(), strict=False):
        one: Listed = {"item": name, "title": served.title(j), "score": round(score, served.places)}
        if spread is not None:
            one["deviation"] = round(float(spread[line, j]), served.places)
        if reasons and served.explains:
            known = KnownSquares(squares.targets[own], squares.weights[own])
            one["reasons"] = explain_known(served, cells.columns[own], known, j, reasons)
        listed.append(one)
    return listed


def explain_known(
    served: Served, columns: NDArray[np.int32], known: KnownSquares, target: int, k: int
) -> list[Any]:
    """What each of a new person's items adds to the score of another, strongest first."""
    model = served.model
    cols: Any = columns.astype(np.int64)
    if isinstance(model, ClickModel):
        why = model.explain_clicks(cols, known.targets, target, k)
        found, adds = why.columns, why.contributions
    else:
        assert model.posterior is not None
        p = model.posterior.at_end
        parts = contributions(p, cols, known.targets, known.weights, target).cells
        order = np.argsort(-np.abs(parts), kind="stable")[:k]
        found, adds = cols[order], parts[order]
    names = served.name(1, found)
    return [
        {"item": name, "title": served.title(j), "adds": round(add, served.places)}
        for name, j, add in zip(names, found.tolist(), np.asarray(adds).tolist(), strict=True)
    ]
