"""Offsets μ + b_i + c_j of observed cells."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pygeco.engines import cpu
from pygeco.engines.cells import Cells
from pygeco.factors import Array
from pygeco.objectives.entries import Entries

PARTS = ("global", "row", "column")


@dataclass(frozen=True, eq=False)
class Biases:
    """μ, b (m,) and c (n,); zero where switched off or without any observation."""

    mean: float
    row: Array
    col: Array

    @classmethod
    def none(cls, shape: tuple[int, int]) -> Biases:
        return cls(0.0, np.zeros(shape[0]), np.zeros(shape[1]))

    def at(self, rows: NDArray[Any], cols: NDArray[Any]) -> Array:
        return self.mean + self.row[rows] + self.col[cols]


def parts(biases: bool | str | tuple[str, ...]) -> tuple[str, ...]:
    """The switched-on parts: True is all, False none, else a name or several."""
    chosen = (
        PARTS
        if biases is True
        else ()
        if biases is False
        else (biases,)
        if isinstance(biases, str)
        else tuple(biases)
    )
    unknown = [part for part in chosen if part not in PARTS]
    if unknown:
        raise ValueError(
            f"biases: unknown part {unknown[0]!r}; use True, False or some of {PARTS}."
        )
    return chosen


def fit_biases(entries: Entries, chosen: tuple[str, ...], rounds: int = 100) -> Biases:
    """Argmin Σ w (y − μ − b_i − c_j)², the parts in turn until they rest. O(|E|) a round."""
    biases = Biases.none(entries.shape)
    by_row, by_col = entries.by_row, entries.by_col
    y = by_row.values.astype(float)
    if "global" in chosen:
        w = by_row.weights
        biases = replace(biases, mean=float(np.average(y, weights=w if len(w) else None)))
    for _ in range(rounds):
        before = biases
        if "column" in chosen:
            biases = replace(biases, col=_means(by_col, biases.mean, biases.row))
        if "row" in chosen:
            biases = replace(biases, row=_means(by_row, biases.mean, biases.col))
        moved = np.abs(biases.row - before.row).max() + np.abs(biases.col - before.col).max()
        if len(chosen) < 2 or moved <= 1e-9 * max(1e-300, float(np.abs(y).max())):
            break
    return biases


def _means(cells: Cells, mean: float, other: Array) -> Array:
    """The weighted mean of y − μ − other over each group; zero for an empty group."""
    groups = len(cells.pointers) - 1
    ones = np.ones(len(other))
    total, count, shift = np.empty(groups), np.empty(groups), np.empty(groups)
    w = cells.weights if len(cells.weights) else np.ones_like(cells.values)
    for data, x, out in ((cells.values * w, ones, total), (w, ones, count), (w, other, shift)):
        cpu.matvec(cells.pointers, cells.indices, data, cells.blocks, 1.0, x, out)
    some = count > 0
    out = np.zeros(groups)
    out[some] = (total[some] - shift[some]) / count[some] - mean
    return out
