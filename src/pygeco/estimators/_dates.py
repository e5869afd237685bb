"""Times of cells: where `fit` and `predict` find them, and whether a fit takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.algorithm.penalties import Penalty
from pygeco.arrays.checks import is_whole
from pygeco.bayes.periods import CellPeriods, cut_times
from pygeco.errors import ColumnWarning
from pygeco.errors.telling import warn_caller
from pygeco.io.column_names import find_role
from pygeco.io.tables import find_column
from pygeco.io.times import read_times
from pygeco.losses import Loss, Squared
from pygeco.models.slab_arrays import is_in_slabs
from pygeco.objectives import Entries

if TYPE_CHECKING:
    from pygeco.estimators._completion_state import _CompletionState

Dates = NDArray[np.float64]


class CellTimes(NamedTuple):
    """Times, and the name of their column; None where there are none."""

    times: NDArray[Any] | None = None
    column: str | None = None


def choose_times(
    estimator: _CompletionState, times: Any, penalty: str | Penalty | None, loss: Loss
) -> Any:
    """What is to be looked for, as `take_cells` takes it; False where time is left out."""
    time = estimator.time
    is_count = is_whole(time) and not isinstance(time, (bool, np.bool_)) and int(time) >= 2
    if not (isinstance(time, (bool, np.bool_)) or time == "auto" or is_count):
        raise ValueError(
            f"time: expected 'auto', True, False or a number of periods, at least 2, not {time!r}."
        )
    is_off = isinstance(time, (bool, np.bool_)) and not time
    if is_off and times is not None:
        raise ValueError("times: are left out by time=False; use time='auto'.")
    serves = penalty == "evidence" and isinstance(loss, Squared)
    if not serves and (times is not None or time not in ("auto", False)):
        raise ValueError(
            "time: says something to a fit by the evidence with the squared loss alone; use these, "
            "or time=False."
        )
    return times if serves and not is_off else False


def settle_times(
    estimator: _CompletionState, entries: Entries, times: Any, found: CellTimes
) -> CellTimes:
    """What a fit takes of the times that were found, or a sentence where they had to be there."""
    asked = times is not None and times is not False
    if is_in_slabs(entries.kind):
        if asked or estimator.time not in ("auto", False):
            raise ValueError(
                "time: is not for fits on a cluster; use time=False, or fit on one machine."
            )
        return CellTimes()
    if found.times is None and estimator.time not in ("auto", False):
        raise ValueError(
            "time: there are no times; give times=, or a table with a column such as 'timestamp'."
        )
    return found


def cut_dates(
    estimator: _CompletionState, entries: Entries, times: Dates | None
) -> CellPeriods | None:
    """The periods of a fit's cells; None without times."""
    if times is None:
        return None
    time = estimator.time
    count = None if isinstance(time, (str, bool, np.bool_)) else int(time)
    return cut_times(entries, times, count)


def take_times(times: Any, count: int) -> Dates | None:
    """Times that come beside cells, one for each; None where there are none."""
    if times is None or times is False:
        return None
    if isinstance(times, str):
        raise ValueError(f"times: only a table has a column {times!r}; give an array of times.")
    found = read_times(times)
    if found.shape != (count,):
        raise ValueError(f"times: expected {count:,} of them, one a cell, not {found.shape}.")
    lost = int(np.count_nonzero(~np.isfinite(found)))
    if lost:
        raise ValueError(
            f"times: {lost:,} of {count:,} are missing; leave those cells out, or all times."
        )
    return found


def find_times(table: Any, others: list[int], times: Any) -> CellTimes:
    """The times of a table's rows: as given, in a named column, or in one that is called so.

    A column that nobody named is left out, and a warning says why, where it holds no times, or not
    all of them.
    """
    if times is False:
        return CellTimes()
    names = list(table.column_names)
    if isinstance(times, str):
        at = find_column("times", times, names)
        return CellTimes(
            take_times(read_times(table.column(at), names[at]), table.num_rows), names[at]
        )
    if times is not None:
        return CellTimes(take_times(times, table.num_rows))
    free = {name: k for k, name in enumerate(names) if k not in others}
    place = find_role([*free], "moment")
    if place is None:
        return CellTimes()
    name = [*free][place]
    try:
        found = read_times(table.column(free[name]), name)
    except ValueError as error:
        return _leave_out(name, str(error).removeprefix(f"{name}: "))
    lost = int(np.count_nonzero(~np.isfinite(found)))
    if lost:
        return _leave_out(name, f"{lost:,} of {len(found):,} are missing.")
    return CellTimes(found, name) if len(found) else CellTimes()


def _leave_out(name: str, why: str) -> CellTimes:
    """No times, and a warning."""
    told = f"X: the times in {name!r} are left out: {why}"
    warn_caller(told, ColumnWarning)
    return CellTimes()


def read_asked_times(times: Any, shape: tuple[int, ...]) -> Any:
    """The times that cells of this shape are asked at; None where it is the last."""
    if times is None:
        return None
    found = read_times(times)
    if found.ndim and found.shape != shape:
        raise ValueError(f"times: expected one, or one a cell {shape}, not {found.shape}.")
    return found


def read_asked_time(time: Any) -> float | None:
    """The one time that a question is about; None where it is the last."""
    if time is None:
        return None
    found = read_times(time, "time")
    if found.ndim:
        raise ValueError(f"time: expected one, not {found.size:,} of them.")
    return float(found)


def find_asked_times(estimator: _CompletionState, table: Any) -> Any:
    """The times that a table of ids asks about: in the column of the fit, or one called so."""
    if estimator.model_.drift is None:
        return None
    names = list(table.column_names)
    name = estimator.time_column_
    if name is not None and name in names:
        return read_times(table.column(names.index(name)), name)
    place = find_role(names, "moment")
    if place is None or names[place] in (estimator.table_columns_ or ()):
        return None
    return read_times(table.column(place), names[place])
