"""A table of any types through the model of its columns: rows in blocks, cells back in their types.

Memory beside the table and its result is that of the missing cells and of a block of rows.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.algorithm.events import Listener
from pygeco.arrays.blas_threads import one_blas_thread
from pygeco.arrays.kinds import parts
from pygeco.arrays.low_rank import Array
from pygeco.arrays.streams import Purpose, stream
from pygeco.bayes.column_codes import Code, NumberCode, ValueCode
from pygeco.bayes.column_trials import ColumnTrial
from pygeco.bayes.masked_trials import Plan
from pygeco.bayes.mixed_fit import MAX_FIT_ROWS, MixedFit, fit_mixed
from pygeco.bayes.mixed_table import Belief, MixedTable
from pygeco.io.column_kinds import Columns, check_names, find_field
from pygeco.io.filled_columns import fill_columns, make_filling
from pygeco.io.tables import is_table
from pygeco.io.typed_columns import (
    Field,
    keep_forms,
    place_cells,
    read_cells,
    read_column,
    read_table,
    take_columns,
)

BLOCK_ROWS = 1 << 14  # that are filled at once
SAMPLE_FACTOR = 4  # rows read for a fit, of which it takes those that its order of rows puts first
FIXED_SHAPES = {"number": "plain", "positive": "power", "heavy": "ranks"}  # of kinds given by hand

Answer = Callable[[MixedTable, int, Belief], Array]


class Filler(NamedTuple):
    """The fields of a table's columns, and the model of those that take part."""

    fields: tuple[Field, ...]
    table: MixedTable

    @property
    def places(self) -> list[int]:
        return [k for k, field in enumerate(self.fields) if field.kind != "skip"]


def plan_column(field: Field) -> Plan:
    """What the fit is told of a column."""
    shape = FIXED_SHAPES.get(field.kind) if field.is_given else None
    return Plan(zlib.crc32(field.name.encode()), shape, field.values, field.is_ordered)


def fit_fields(
    X: Any, given: Columns, seed: int, listener: Listener
) -> tuple[tuple[Field, ...], MixedFit]:
    """Kinds of the columns and the model of those that take part."""
    table = read_table(X)
    names, columns = take_columns(table)
    check_names(given, names)
    rows = len(columns[0])
    most = SAMPLE_FACTOR * MAX_FIT_ROWS
    rng = stream(Purpose.SAMPLE, seed, rows)
    at = slice(None) if rows <= most else rng.choice(rows, most, False)
    fields, cells = [], []
    for name, column, form in zip(names, columns, keep_forms(table), strict=True):
        raw = read_column(column, name)
        field = find_field(name, raw, given.kinds.get(name))
        fields.append(field if field.kind == "skip" else field._replace(form=form))
        if raw is not None and field.kind != "skip":
            cells.append(place_cells(raw, field)[at])
    if not cells:
        shown = "; ".join(f"{field.name!r}: {field.note}" for field in fields[:4])
        raise ValueError(f"X: no column can be filled ({shown}).")
    plans = [plan_column(field) for field in fields if field.kind != "skip"]
    rows_read = np.column_stack(cells)
    cells.clear()  # the fit needs one copy of them
    return tuple(fields), fit_mixed(rows_read, plans, seed, listener)


def fill_table(X: Any, filler: Filler, answer: Answer, n_jobs: int | None = None) -> Any:
    """X with each missing cell of a column answered; a table in its own types, an array as one."""
    if not is_table(X):
        return _fill_array(X, filler, answer)
    _, columns = take_columns(X)
    found = _answer_blocks(columns, filler, answer, n_jobs)
    filled = {}
    for k in list(found):
        rows, cells = found.pop(k)  # what a column's answers take is free for the next one
        field = filler.fields[k]
        cells = limit_cells(cells, field, filler.table.codes[filler.places.index(k)])
        filled[field.name] = make_filling(rows, cells, field, columns[k])
    return fill_columns(X, filled)


def limit_cells(x: Array, field: Field, code: Code) -> Array:
    """Positive numbers and counts stay at or above the least that is known."""
    if field.kind in ("positive", "count") and isinstance(code, NumberCode):
        return np.maximum(x, code.low)
    return x


def choose_ways(filler: Filler, fill: str) -> list[str]:
    """How each column that takes part is filled: counts by their mean, unless it is said."""
    kinds = [filler.fields[k].kind for k in filler.places]
    return ["mean" if fill == "auto" and kind == "count" else fill for kind in kinds]


def answer_cells(X: Any, filler: Filler, answer: Answer) -> Array:
    """Answers as numbers (rows, columns); zero at known cells and columns that take no part."""
    if not is_table(X):
        x = np.asarray(X, float)
        out = np.where(np.isnan(x), np.nan, 0.0)
        return _fill_array(out, filler, answer, source=x)
    _, columns = take_columns(X)
    out = np.zeros((len(columns[0]), len(columns)))
    for k, (rows, cells) in _answer_blocks(columns, filler, answer).items():
        out[rows, k] = cells
    return out


def read_block(columns: Sequence[Any], filler: Filler, rows: slice) -> Array:
    """Some rows of the columns that take part, as numbers."""
    cells = [
        read_cells(columns[k].slice(rows.start, rows.stop - rows.start), filler.fields[k])
        for k in filler.places
    ]
    return np.column_stack(cells)


def split_rows(count: int) -> Iterator[slice]:
    """Blocks of rows, and one without any where there are none."""
    yield from parts(count, BLOCK_ROWS) if count else [slice(0, 0)]


def _answer_blocks(
    columns: Sequence[Any], filler: Filler, answer: Answer, n_jobs: int | None = None
) -> dict[int, tuple[NDArray[np.intp], Array]]:
    """The places and answers of each column's missing cells; blocks of rows go to threads."""

    def run(rows: slice) -> list[tuple[NDArray[np.intp], Array]]:
        beliefs = filler.table.believe(read_block(columns, filler, rows))
        return [
            (belief.rows + rows.start, answer(filler.table, k, belief))
            for k, belief in enumerate(beliefs)
        ]

    found: dict[int, list[tuple[NDArray[np.intp], Array]]] = {k: [] for k in filler.places}
    blocks = list(split_rows(len(columns[0])))
    threads = n_jobs if n_jobs is not None and n_jobs > 0 else os.cpu_count() or 1
    with one_blas_thread(), ThreadPoolExecutor(threads) as pool:
        for block in pool.map(run, blocks) if len(blocks) > 1 else map(run, blocks):
            for k, part in zip(filler.places, block, strict=True):
                found[k].append(part)
    joined = {}
    for k in filler.places:
        own = found.pop(k)
        rows, cells = (np.concatenate([part[side] for part in own]) for side in (0, 1))
        if len(rows):
            joined[k] = rows, cells
    return joined


def _fill_array(X: Any, filler: Filler, answer: Answer, source: Array | None = None) -> Array:
    """The same for an array of numbers, whose columns are those of the fit."""
    if any(field.levels for field in filler.fields):
        texts = next(field.name for field in filler.fields if field.levels)
        raise ValueError(f"X: column {texts!r} held texts in the fit; give a table again.")
    out = np.array(X)
    cells = np.asarray(X if source is None else source, float)[:, filler.places]
    for rows in split_rows(len(cells)):
        for k, belief in enumerate(filler.table.believe(cells[rows])):
            found = answer(filler.table, k, belief)
            out[belief.rows + rows.start, filler.places[k]] = found
    return out


def measure_deviations(filler: Filler, trials: Sequence[ColumnTrial]) -> Array:
    """The error of a filled cell of each column, in its unit: at masked cells, or as believed.

    Of values without order it is the share that is wrong; zero for columns that take no part.
    """
    out = np.zeros(len(filler.fields))
    precision, starts = filler.table.gaussian.precision(), filler.table.starts
    for k, (at, trial) in enumerate(zip(filler.places, trials, strict=True)):
        code = filler.table.codes[k]
        own = slice(starts[k], starts[k + 1])
        if trial.cells:
            share = trial.error / trial.cells
            is_free = isinstance(code, ValueCode) and not code.is_ordered
            out[at] = share if is_free else np.sqrt(share)
        elif code.width:
            belief = Belief(
                np.zeros(1, int),
                filler.table.gaussian.mean[None, own],
                np.linalg.inv(precision[own, own])[None],
            )
            out[at] = filler.table.deviate(k, belief)[0]
    return out
