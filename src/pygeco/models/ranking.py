"""The best columns of rows, in positions."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.kinds import on
from pygeco.arrays.low_rank import Array
from pygeco.engines import choose_local_engine
from pygeco.models.seen import Positions, Seen

ROWS = 512  # rows scored at once: with 10⁴ columns, 40 MB


class Best(NamedTuple):
    """Columns as positions, best first, and their scores; −1 and −inf where there are too few."""

    columns: Positions
    scores: Array


class ListFilters(NamedTuple):
    """Which columns may be listed for any row, which cells may not, and the only ones that may."""

    allowed: NDArray[np.bool_] | None = None
    hidden: Seen | None = None
    only: Seen | None = None
    hide_seen: bool = True
    hide_held_out: bool = True

    @property
    def is_by_row(self) -> bool:
        return self.hidden is not None or self.only is not None


UNKNOWN = ListFilters()  # all that a row does not know
UNFITTED = ListFilters(hide_held_out=False)


class Reasons(NamedTuple):
    """How much each column that the row has rated adds to a prediction, strongest first.

    The prediction is the sum of `base`, everything in `attributes`, `time`, and the contributions
    of all known columns of the row, as far as the fit has converged.

    Attributes
    ----------
    columns : array
        The columns with the largest contributions; ids if a table was fitted.
    contributions : array
        What each of them adds.
    base : float
        What the column's offset and the prior give, and what a mean of draws adds to it.
    attributes : dict
        What the row's attributes add, by the name of their group.
    time : float
        What the period adds.
    """

    columns: Positions
    contributions: Array
    base: float
    attributes: dict[str, float] = {}  # noqa: RUF012
    time: float = 0.0


def rank_lines(index: Positions, k: int, scores: Callable[[Positions], Array], like: Array) -> Best:
    """The k best columns for each of `index` and their scores, a block of rows at a time."""
    flat, engine = on(index.reshape(-1), like), choose_local_engine(like)
    blocks = [flat[at : at + ROWS] for at in range(0, len(flat), ROWS)] or [flat]
    found, best = zip(*(engine.top_k(scores(block), k) for block in blocks), strict=True)
    shape = (*index.shape, k)
    return Best(np.concatenate(found).reshape(shape), np.concatenate(best).reshape(shape))


def list_length(k: int, n: int) -> int:
    """The k that was asked for, at most n."""
    if not isinstance(k, (int, np.integer)) or isinstance(k, bool) or k < 1:
        raise ValueError(f"k: expected an integer of at least 1, not {k!r}.")
    return min(int(k), n)
