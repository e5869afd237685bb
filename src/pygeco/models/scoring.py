"""Whatever gives each column a score for a row, and the best columns by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.kinds import foreign, host, kind, moved, on, ones, parts
from pygeco.arrays.low_rank import Array
from pygeco.engines import choose_local_engine
from pygeco.engines.values import Products
from pygeco.models.ranking import ROWS, Best, rank_lines
from pygeco.models.seen import Positions, Seen, hide_cells, merge_cells

CELLS_AT_ONCE = 1 << 16  # scored one by one: at rank 256, 270 MB


@runtime_checkable
class Scorer(Protocol):
    """What can be judged by the lists it makes: a score for every column of a row.

    Attributes
    ----------
    shape : tuple of two ints
        Rows and columns.
    """

    @property
    def shape(self) -> tuple[int, int]: ...

    def score_rows(self, rows: Positions) -> Array:
        """Scores of all columns for each row, (rows, n), which the caller may write into."""


@dataclass(frozen=True, eq=False)
class FactorScorer:
    """The score of column j for row i is ⟨left_i, right_j⟩ + offsets_j.

    Attributes
    ----------
    left : array (m, r)
        A line for each row.
    right : array (n, r)
        A line for each column.
    offsets : array (n,) or None
        Of the columns.
    """

    left: Array
    right: Array
    offsets: Array | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.left), len(self.right)

    @property
    def kind(self) -> Array:
        return self.left

    def score_rows(self, rows: Positions) -> Array:
        table = self.left[rows] @ self.right.T
        return table if self.offsets is None else table + self.offsets


def list_best(
    scorer: Scorer,
    rows: Positions,
    k: int,
    *,
    hidden: Sequence[Seen] = (),
    allowed: NDArray[np.bool_] | None = None,
    only: Seen | None = None,
) -> Best:
    """The k best columns of each row and their scores, without the cells in `hidden`.

    Where `only` is given, no others than its cells are listed.
    Of equals the first column comes first; −1 and −inf where there are too few. A block of rows at
    a time; factors on this machine are screened in single precision, and the lists are exact
    still.
    """
    if only is None and isinstance(scorer, FactorScorer) and not foreign(scorer.left):
        found = _list_products(scorer, rows.reshape(-1), k, hidden, allowed)
        if found is not None:
            shape = (*rows.shape, k)
            return Best(found.columns.reshape(shape), found.scores.reshape(shape))

    def scores(flat: Positions) -> Array:
        table = as_scores(scorer.score_rows(flat))
        if allowed is not None:
            table[:, on(~allowed, table)] = -np.inf
        for cells in hidden:
            hide_cells(table, flat, cells)
        if only is not None:
            is_other = ones(table.shape, table, bool)
            hide_cells(is_other, flat, only, value=False)
            table[is_other] = -np.inf
        return table

    like = kind(scorer)
    hidden = [moved(cells, like) for cells in hidden]
    only = None if only is None else moved(only, like)
    return rank_lines(rows, k, scores, like)


def as_scores(table: Array) -> Array:
    """Scores in single or double precision, which know −∞ and do not overflow in a sum."""
    if table.dtype in (np.float32, np.float64):
        return table
    return table.astype(np.float32 if table.dtype == np.float16 else np.float64)


def _list_products(
    scorer: FactorScorer,
    rows: Positions,
    k: int,
    hidden: Sequence[Seen],
    allowed: NDArray[np.bool_] | None,
) -> Best | None:
    """Lists by the engine's own way, where it has one."""
    n = scorer.shape[1]
    cells, places = merge_cells(hidden, rows.astype(np.int64))
    names = np.arange(n) if allowed is None else np.flatnonzero(allowed)
    offsets = np.zeros(n) if scorer.offsets is None else scorer.offsets.astype(float)
    left, right = (np.ascontiguousarray(x) for x in (scorer.left[rows], scorer.right))
    lines = places.astype(np.int64)
    asked = Products(left, right, offsets, lines, names, cells.pointers, cells.indices, k)
    found = choose_local_engine(scorer.left).best_products(asked)
    return None if found is None else Best(*found)


def score_cells(scorer: Scorer, rows: Positions, cols: Positions) -> Array:
    """The scores at single cells, in double precision."""
    out = np.empty(len(rows))
    if isinstance(scorer, FactorScorer):
        for part in parts(len(rows), CELLS_AT_ONCE):
            i, j = on(rows[part], scorer.left), on(cols[part], scorer.left)
            found = np.einsum(
                "tr,tr->t", scorer.left[i].astype(float), scorer.right[j].astype(float)
            )
            out[part] = host(found if scorer.offsets is None else found + scorer.offsets[j])
        return out
    order = np.argsort(rows, kind="stable")
    own: NDArray[np.int64]
    own, starts = np.unique(rows[order], return_index=True)
    ends = np.append(starts[1:], len(rows))
    for part in parts(len(own), ROWS):
        table = host(scorer.score_rows(own[part]))
        cells = order[starts[part][0] : ends[part][-1]]
        out[cells] = table[np.searchsorted(own[part], rows[cells]), cols[cells]]
    return out
