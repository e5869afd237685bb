"""Splits of cells for scikit-learn's tools: folds, a share of each row, or its last ones."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import BaseCrossValidator, KFold

from pygeco.arrays.checks import check_rank, is_real, is_whole
from pygeco.arrays.row_places import check_times, count_to_end, hold_out_last
from pygeco.arrays.streams import Purpose, check_seed, stream
from pygeco.estimators.cell_list import CellList, cells
from pygeco.io.column_names import match_columns
from pygeco.io.tables import as_arrow, is_table, list_columns

Split = tuple[NDArray[np.int64], NDArray[np.int64]]


class CellKFold(KFold):  # type: ignore[misc]
    """Split cells into K folds at random; every cell is in exactly one test fold.

    Use it with `cells(X)`, whose parts keep the shape of the matrix. `split(X)` by itself returns
    positions in `cells(X)`.

    Parameters
    ----------
    n_splits : int, default=5
        The number of folds.
    random_state : int, RandomState or None, default=0
        The same seed gives the same folds.

    Examples
    --------
    >>> import numpy as np
    >>> from pygeco import CellKFold
    >>> folds = CellKFold(2).split(np.ones((2, 3)))
    >>> [(len(fitted), len(held_out)) for fitted, held_out in folds]
    [(3, 3), (3, 3)]
    """

    def __init__(self, n_splits: int = 5, *, random_state: Any = 0) -> None:
        super().__init__(n_splits, shuffle=True, random_state=random_state)

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Any:
        """Return the positions of the fitted and of the held-out cells, fold by fold.

        Parameters
        ----------
        X : CellList, or anything that cells takes
            The cells.
        y : array or None, default=None
            The values, if X has pairs.
        groups : None
            Not used.

        Returns
        -------
        iterator of pairs of int arrays
        """
        if isinstance(self.random_state, (int, np.integer)):
            check_seed(self.random_state)
        paired = not isinstance(X, CellList) and y is not None and np.shape(X)[1:] == (2,)
        listed = X if paired else _list_cells(X, None)
        return super().split(np.zeros(len(listed)))


class _CellSplits(BaseCrossValidator):  # type: ignore[misc]
    """Splits of cells whose number is a setting."""

    n_splits: int

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits.

        Parameters
        ----------
        X, y, groups : None
            Not used.

        Returns
        -------
        int
        """
        return self.n_splits


class RowHoldOut(_CellSplits):
    """Hold out a random share of the cells of each row, so that every row is fitted and judged.

    A row keeps at least one cell; if it has only one, none is held out.

    Parameters
    ----------
    n_splits : int, default=5
        The number of random draws.
    test_size : float, default=0.2
        The share of each row, at least one cell.
    random_state : int, default=0
        The same seed gives the same cells.

    Examples
    --------
    >>> import numpy as np
    >>> from pygeco import RowHoldOut
    >>> folds = RowHoldOut(2).split(np.ones((2, 5)))
    >>> [(len(fitted), len(held_out)) for fitted, held_out in folds]
    [(8, 2), (8, 2)]
    """

    def __init__(self, n_splits: int = 5, *, test_size: float = 0.2, random_state: int = 0) -> None:
        self.n_splits = n_splits
        self.test_size = test_size
        self.random_state = random_state

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Split]:
        """Return the positions of the fitted and of the held-out cells, draw by draw.

        Parameters
        ----------
        X : CellList, or anything that cells takes
            The cells.
        y : array or None, default=None
            The values, if X has pairs.
        groups : None
            Not used.

        Returns
        -------
        iterator of pairs of int arrays
        """
        check_seed(self.random_state)
        check_rank(self.n_splits, name="n_splits")
        if not is_real(self.test_size) or not 0 < self.test_size < 1:
            raise ValueError(f"test_size: must be between 0 and 1, not {self.test_size!r}.")
        rows = _list_cells(X, y).rows
        for fold in range(self.n_splits):
            draws = stream(Purpose.HOLDOUT, self.random_state, fold).random(len(rows))
            held = hold_out_last(rows, float(self.test_size), draws)
            if not held.any():
                raise ValueError("X: no row has more than one cell, so that none is held out.")
            yield np.flatnonzero(~held), np.flatnonzero(held)


class LeaveLastOut(_CellSplits):
    """Hold out the last cells of each row, by time or in the given order.

    The first split holds out the last cells of each row; the next one holds out those before them
    and drops the later ones, so no fit sees what comes afterward in a row.

    Parameters
    ----------
    count : int, default=1
        How many cells of each row a split holds out; none, if the row has too few.
    n_splits : int, default=1
        The number of splits, each further back.
    times : array or None, default=None
        The time of each cell, none missing; by default the list's own times, or else the order of
        the cells.

    Examples
    --------
    >>> import numpy as np
    >>> from pygeco import LeaveLastOut
    >>> next(LeaveLastOut().split(np.ones((2, 3))))
    (array([0, 1, 3, 4]), array([2, 5]))
    """

    def __init__(
        self, count: int = 1, *, n_splits: int = 1, times: ArrayLike | None = None
    ) -> None:
        self.count = count
        self.n_splits = n_splits
        self.times = times

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Split]:
        """Return the positions of the fitted and of the held-out cells, the last ones first.

        Parameters
        ----------
        X : CellList, or anything that cells takes
            The cells.
        y : array or None, default=None
            The values, if X has pairs.
        groups : None
            Not used.

        Returns
        -------
        iterator of pairs of int arrays
        """
        if not is_whole(self.count) or self.count < 1:
            raise ValueError(f"count: must be at least 1, a whole number, not {self.count!r}.")
        check_rank(self.n_splits, name="n_splits")
        listed = _list_cells(X, y)
        when = listed.times if self.times is None else self.times
        when = None if when is None else check_times(when, len(listed))
        after = count_to_end(listed.rows, when)
        sizes = np.unique(listed.rows, return_inverse=True, return_counts=True)
        own = sizes[2][sizes[1]]
        for fold in range(self.n_splits):
            known = after >= fold * self.count
            long = own > (fold + 1) * self.count
            held = known & (after < (fold + 1) * self.count) & long
            if not held.any():
                raise ValueError(
                    f"count: split {fold + 1} holds out nothing, as no row has more than "
                    f"{(fold + 1) * self.count:,} cells; ask for fewer, or for fewer splits."
                )
            yield np.flatnonzero(known & ~held), np.flatnonzero(held)


def _list_cells(X: Any, y: Any) -> CellList:
    if isinstance(X, CellList):
        return X
    counts = np.ones(as_arrow(X).num_rows) if y is None and _has_no_values(X) else y
    listed = cells(X, counts)
    if y is None and listed.row_ids is None and _is_asked_by_sklearn():
        raise ValueError(
            "X: scikit-learn would take the positions of cells for those of rows; pass cells(X) in "
            "place of a matrix."
        )
    return listed


def _has_no_values(X: Any) -> bool:
    """Whether X is a table of clicks: names say its users and items, and none its ratings."""
    names = list_columns(X) if is_table(X) else []
    is_named = match_columns(names, ("user", "item")) is not None
    return is_named and match_columns(names, ("user", "item", "rating")) is None


def _is_asked_by_sklearn() -> bool:
    """Whether positions go to scikit-learn, which says nowhere what it takes them for."""
    frame = sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__") == __name__:
        frame = frame.f_back
    return str(frame.f_globals.get("__name__")).partition(".")[0] == "sklearn"
