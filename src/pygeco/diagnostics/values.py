"""What the fitted values look like, and what in the data may mislead."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.kinds import host
from pygeco.arrays.low_rank import Array
from pygeco.diagnostics.cells import Cells, count_by_column
from pygeco.diagnostics.completion import Completion
from pygeco.diagnostics.judging import to_data_scale
from pygeco.io.value_scale import find_mark

MAX_LEVELS = 25  # different values that are counted one by one; more are put into bins
BIN_COUNT = 30
FEW_CELLS = 3  # cells with which a row or column is hardly known
COMMON_SHARE = 0.8  # of the cells with one value, from which on there is little to predict
ALIKE_CELLS, ALIKE_SHARE = 5, 0.05  # cells of a row that are all equal, and such rows, worth a word


class Spread(NamedTuple):
    """Counts of the values: of each level where there are few, else of bins.

    Attributes
    ----------
    levels : array
        The levels, or the middles of the bins.
    counts : int array
        How many values are there.
    edges : array or None
        Of the bins.
    mean, deviation, median : float
        Of the values.
    """

    levels: Array
    counts: NDArray[np.int64]
    edges: Array | None
    mean: float
    deviation: float
    median: float


def count_values(model: Completion) -> Spread:
    """Count the values that were fitted, on the scale of the data.

    Parameters
    ----------
    model : MatrixCompletion
        A fitted model.

    Returns
    -------
    Spread
    """
    values = to_data_scale(model.loss_, host(model.seen_.values))
    about = float(values.mean()), float(values.std()), float(np.median(values))
    levels, found = np.unique(values, return_counts=True)
    if len(levels) <= MAX_LEVELS:
        return Spread(levels, found, None, *about)
    found, edges = np.histogram(values, BIN_COUNT)
    return Spread((edges[1:] + edges[:-1]) / 2, found, edges, *about)


def find_data_warnings(
    model: Completion, cells: Cells | None, kinds: tuple[str, str, str]
) -> list[str]:
    """Say what in the fitted data may mislead.

    Parameters
    ----------
    model : MatrixCompletion
        A fitted model.
    cells : Cells or None
        Those held out, which may be few.
    kinds : tuple of three str
        Words for a row, a column and a cell.

    Returns
    -------
    list of str
        A sentence each; none where nothing misleads.
    """
    row, column, cell = kinds
    found = _value_warnings(model, cell)
    per_row = np.diff(host(model.seen_.pointers))
    for each, name in ((per_row, row), (count_by_column(model), column)):
        few = int(np.sum((each > 0) & (each < FEW_CELLS)))
        if few:
            found.append(
                f"{few:,} of {len(each):,} {name}s have fewer than {FEW_CELLS} {cell}s: "
                "predictions for them are close to the average."
            )
    alike = _rows_alike(model, per_row)
    some = int(np.sum(per_row >= ALIKE_CELLS))
    if some and alike / some >= ALIKE_SHARE:
        found.append(
            f"{alike:,} of the {some:,} {row}s with at least {ALIKE_CELLS} {cell}s gave every one "
            "the same value: they tell nothing about taste."
        )
    if len(model.seen_.values) < sum(model.factors_.shape):
        found.append(f"There are fewer {cell}s than {row}s and {column}s together.")
    if cells is not None and len(cells.targets) < 500:
        count = len(cells.targets)
        told = f"1 {cell} is" if count == 1 else f"{count:,} {cell}s are"
        found.append(f"Only {told} held out: every error below is uncertain.")
    return found


def _value_warnings(model: Completion, cell: str) -> list[str]:
    values = to_data_scale(model.loss_, host(model.seen_.values))
    levels, found = np.unique(values, return_counts=True)
    if len(levels) == 1:
        return [f"All {cell}s are {levels[0]:g}: there is nothing to predict but that."]
    warned = []
    most = int(np.argmax(found))
    if found[most] > COMMON_SHARE * found.sum():
        share = math.floor(1000 * found[most] / found.sum()) / 10  # 100 % would be all of them
        warned.append(f"{share:g}% of the {cell}s are {levels[most]:g}.")
    mark = find_mark(values)
    if mark is not None:
        warned.append(
            f"{mark.share:.1%} of the {cell}s are {mark.value:g}, far from all others "
            f"({mark.low:g} to {mark.high:g}): a mark for a missing one, perhaps?"
        )
    return warned


def _rows_alike(model: Completion, per_row: NDArray[np.int64]) -> int:
    """Rows with enough cells, all of one value."""
    enough = np.flatnonzero(per_row >= ALIKE_CELLS)
    if not len(enough):
        return 0
    values, starts = host(model.seen_.values), host(model.seen_.pointers)
    some = np.flatnonzero(per_row > 0)
    low, high = (f.reduceat(values, starts[some]) for f in (np.minimum, np.maximum))
    return int(np.sum((low == high)[np.isin(some, enough)]))
