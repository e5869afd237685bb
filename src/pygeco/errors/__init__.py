"""Errors and warnings of pygeco's own. Wrong arguments are plain ValueError and TypeError.

Every error here is a ValueError, but for `ClusterError`; each names what was wrong and what to do.
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
    "ReadError",
    "RepeatedCellError",
    "UnknownIdWarning",
    "WorkerLostWarning",
]


class ReadError(ValueError):
    """A file of data that cannot be understood; the text says what to do about it.

    It is damaged, lies about its size, or is of no known format.
    """

    def __init__(self, text: str) -> None:
        super().__init__(escape_controls(text))  # parts of it may come from the file


class ColumnError(ValueError):
    """A column of a table that was asked for is not there, or none looks right."""


class MissingValueError(ValueError):
    """A number among the values looks like a mark for "no value".

    Attributes
    ----------
    value : float
        The number.
    share : float
        Of the values that are this number.
    low, high : float
        The range of the others.
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
        The first such: its row and column, or their ids.
    repeats : int
        How many there are in all.
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
    """A file that is not a whole, sound pygeco file that this version can read."""


class ClusterError(RuntimeError):
    """The cluster cannot go on with the work."""


class AttributeWarning(UserWarning):
    """A column of attributes is left out, or has levels that the fit did not meet."""


class ColumnWarning(UserWarning):
    """Columns of a table were taken by their position or their types, or one of times left out."""


class ClicksWarning(UserWarning):
    """Every value is the same: clicks, of which completion cannot learn."""


class UnknownIdWarning(UserWarning):
    """Ids that were not fitted are answered by the average row or column."""


class WorkerLostWarning(RuntimeWarning):
    """A worker of the cluster died; the fit goes on."""
