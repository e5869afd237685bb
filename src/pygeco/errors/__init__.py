"""Errors and warnings. Wrong arguments are plain ValueError and TypeError.

Every error is a ValueError except `ClusterError`; its message says what was wrong and what to do.
A fit that did not converge warns by scikit-learn's ConvergenceWarning.
"""

from __future__ import annotations

from typing import Any

from pygeco.errors.visible_text import escape_controls

__all__ = [
    "AttributeWarning",
    "ClicksWarning",
    "ClusterError",
    "ColumnError",
    "ColumnWarning",
    "MissingValueError",
    "ModelFileError",
    "OutlierWarning",
    "ReadError",
    "RepeatedCellError",
    "StrayValueWarning",
    "UnknownIdWarning",
    "WorkerLostWarning",
]


class ReadError(ValueError):
    """A data file cannot be read; the message says what to do about it.

    The file is damaged, claims a wrong size, or has an unknown format.
    """

    def __init__(self, text: str) -> None:
        super().__init__(escape_controls(text))  # parts of it may come from the file


class ColumnError(ValueError):
    """A column of a table does not exist, or none looks like the one that is needed."""


class MissingValueError(ValueError):
    """A number among the values looks like a code for "no value".

    Attributes
    ----------
    value : float
        The number.
    share : float
        The share of the values that are this number.
    low, high : float
        The range of the other values.
    """

    def __init__(self, value: float, share: float, low: float, high: float) -> None:
        self.value, self.share, self.low, self.high = value, share, low, high
        super().__init__(
            f"X: {share:.1%} of the values are {value:g}, apart from the others "
            f"({low:g} to {high:g}), as if that meant 'no value'; pass missing_values="
            f"{value:g} to leave them out, or missing_values=None to keep them."
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.value, self.share, self.low, self.high)


class RepeatedCellError(ValueError):
    """A cell is given more than once.

    Attributes
    ----------
    cell : tuple of two
        The first repeated cell: its row and column, or their ids.
    repeats : int
        The number of repeats in all.
    """

    def __init__(self, cell: tuple[Any, Any], repeats: int, name: str = "values: cell") -> None:
        shown = escape_controls(f"{cell[0]}, {cell[1]}")
        super().__init__(
            f"{name} ({shown}) is given more than once ({repeats} repeats in all); "
            'remove repeats or pass duplicates="mean", "sum" or "last".'
        )
        self.cell, self.repeats, self._name = cell, repeats, name

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.cell, self.repeats, self._name)


class ModelFileError(ValueError):
    """A file is not a complete, undamaged pygeco file that this version can read."""


class ClusterError(RuntimeError):
    """The cluster cannot go on: its scheduler is gone, or its workers keep dying."""


class AttributeWarning(UserWarning):
    """A column of attributes is left out, or has levels that were not in the fit."""


class ColumnWarning(UserWarning):
    """Columns of a table were taken by position or type, or a column of times was ignored."""


class ClicksWarning(UserWarning):
    """All values are the same (clicks), or counts of clicks are replaced by their logarithms."""


class StrayValueWarning(UserWarning):
    """A few values lie far from the scale of all others, as typing errors do."""


class OutlierWarning(UserWarning):
    """So many cells are outliers that a robust fit may have failed."""


class UnknownIdWarning(UserWarning):
    """Ids that were not fitted are treated as the average row or column."""


class WorkerLostWarning(RuntimeWarning):
    """A worker of the cluster died; the fit goes on."""
