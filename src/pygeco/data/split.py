"""Cells that are held out: at random, or the latest, of all or of each row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pygeco.arrays.row_places import check_times, hold_out_last
from pygeco.arrays.streams import Purpose, RandomState, seed_from, stream


def split_cells(
    count: int, test_size: float = 0.1, random_state: RandomState = 0
) -> NDArray[np.bool_]:
    """Choose a random share of cells to hold out.

    Parameters
    ----------
    count : int
        The number of cells.
    test_size : float, default=0.1
        The share.
    random_state : int, Generator or None, default=0
        The same seed gives the same cells.

    Returns
    -------
    bool array (count,)
        True for the held-out cells, in the order in which they were given.

    Examples
    --------
    >>> from pygeco.data import split_cells
    >>> split_cells(1000, 0.2).mean().round(1).item()
    0.2
    """
    _check_share(test_size)
    seed = seed_from(random_state)
    return stream(Purpose.HOLDOUT, seed).random(count) < test_size


def split_rows(
    rows: ArrayLike, test_size: float = 0.2, random_state: RandomState = 0
) -> NDArray[np.bool_]:
    """Choose a random share of the cells of each row to hold out, at least one.

    A row keeps at least one cell; if it has only one, none is held out.

    Parameters
    ----------
    rows : array of ints
        The row of each cell.
    test_size : float, default=0.2
        The share.
    random_state : int, Generator or None, default=0
        The same seed gives the same cells.

    Returns
    -------
    bool array
        True for the held-out cells.

    Examples
    --------
    >>> import numpy as np
    >>> from pygeco.data import split_rows
    >>> rows = np.repeat([0, 1, 2], [10, 5, 1])
    >>> np.bincount(rows, split_rows(rows))
    array([2., 1., 0.])
    """
    _check_share(test_size)
    seed = seed_from(random_state)
    own = np.asarray(rows)
    return hold_out_last(own, float(test_size), stream(Purpose.HOLDOUT, seed).random(len(own)))


def split_by_time(
    times: ArrayLike,
    test_size: float = 0.1,
    *,
    cut: object = None,
    rows: ArrayLike | None = None,
) -> NDArray[np.bool_]:
    """Hold out the latest cells: those from a given time on, or a share of all or of each row.

    Parameters
    ----------
    times : array
        The time of each cell: numbers or dates, none missing. Among equal times, those given last
        count as the latest.
    test_size : float, default=0.1
        The share to hold out, if there is no `cut`.
    cut : time or None, default=None
        Cells at this time and later are held out.
    rows : array of ints or None, default=None
        The row of each cell: the share is then taken of each row, at least one cell; a row keeps at
        least one.

    Returns
    -------
    bool array
        True for the held-out cells.

    Examples
    --------
    >>> from pygeco.data import split_by_time
    >>> split_by_time([3, 1, 2, 9], 0.5)
    array([ True, False, False,  True])
    >>> split_by_time([3, 1, 2, 9], 0.5, rows=[0, 0, 1, 1])
    array([ True, False, False,  True])
    >>> split_by_time([3, 1, 2, 9], cut=2)
    array([ True, False,  True,  True])
    """
    when = check_times(times, None if rows is None else len(np.asarray(rows)), "rows")
    if cut is not None:
        if rows is not None:
            raise ValueError("cut: one time cuts all rows; leave out rows, or the cut.")
        return when >= _read_cut(cut, when)
    _check_share(test_size)
    if rows is not None:
        return hold_out_last(np.asarray(rows), float(test_size), when)
    held = np.zeros(len(when), bool)
    held[np.argsort(when, kind="stable")[len(when) - round(test_size * len(when)) :]] = True
    return held


def _read_cut(cut: object, when: NDArray[Any]) -> NDArray[Any]:
    """The cut in the type of dates, and otherwise as it is; it can be held against the times."""
    try:
        found = np.asarray(cut, dtype=when.dtype if when.dtype.kind == "M" else None)
        is_time = bool(found == found) and (when[:1] >= found).shape == when[:1].shape
    except (TypeError, ValueError):
        is_time = False
    if not is_time:
        raise ValueError(
            f"cut: {cut!r} is no time like those given, of {when.dtype}; give a number where these "
            "are numbers, and a date where they are dates."
        )
    return found


def _check_share(test_size: float) -> None:
    if not 0 < test_size < 1:
        raise ValueError(f"test_size: must be between 0 and 1, not {test_size!r}.")
