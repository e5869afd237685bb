"""What `recommend` and `similar` answer: lists, and the same as a table."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pygeco.arrays.kinds import host
from pygeco.arrays.low_rank import Array
from pygeco.io.tables import pyarrow
from pygeco.models.ranking import Best


class Ranking(Best):
    """Columns (or their ids), best first, and their scores: `columns, scores = ranking`.

    If there are not enough columns, the remaining scores are −inf, and the ids are placeholders:
    −1, None among ids that are text, the largest number of unsigned types, False among booleans.
    `to_pandas` and `to_arrow` return one line for each place that is filled.

    Attributes
    ----------
    columns, scores : array (k,) for one row, else (rows, k)
        Best first.
    rows : array
        The rows that you asked about.
    names : tuple of three
        The names of the columns of a table: rows, columns and scores.
    """

    rows: NDArray[Any]
    names: tuple[str, str, str]

    def __new__(
        cls,
        columns: NDArray[Any],
        scores: Array,
        rows: ArrayLike = (),
        names: tuple[str, str, str] = ("row", "column", "score"),
    ) -> Self:
        ranking = super().__new__(cls, columns, scores)
        ranking.rows, ranking.names = np.asarray(host(rows)), names
        return ranking

    def to_arrow(self) -> Any:
        """A pyarrow table: row, place (from 1), column and score, without the empty places."""
        pa = pyarrow()
        return pa.table({name: pa.array(values) for name, values in self._list_places().items()})

    def to_pandas(self) -> Any:
        """The same as a pandas table."""
        return self.to_arrow().to_pandas()

    def _list_places(self) -> dict[str, NDArray[Any]]:
        columns, scores = host(self.columns), host(self.scores)
        k = scores.shape[-1]
        some = np.isfinite(scores).reshape(-1)
        row, column, score = self.names
        return {
            row: np.repeat(self.rows.reshape(-1), k)[some],
            "place": np.tile(np.arange(1, k + 1), scores.size // max(k, 1))[some],
            column: columns.reshape(-1)[some],
            score: scores.reshape(-1)[some],
        }
