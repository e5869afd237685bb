"""How well each column of a table is filled: its kind, its gaps, and its error at masked cells."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

UNITS = ((86_400, " days"), (3_600, " hours"), (60, " minutes"), (1, " seconds"))


class FilledColumn(NamedTuple):
    """One column of a table that was filled, and how sure its cells are.

    Attributes
    ----------
    name, kind, note : str
        What the column is, and why.
    missing, masked : int
        Its missing cells, and the known ones that were masked for the errors.
    error : float
        That of a filled cell in the column's unit, or the share of categories that are wrong.
    null : float
        The same of the mean, or of the most frequent category.
    is_category : bool
        Whether it is the share that is wrong.
    is_moment : bool, default=False
        Whether it is in seconds, as that of dates and times is.

    Examples
    --------
    >>> from pygeco.diagnostics import FilledColumn
    >>> FilledColumn("age", "count", "whole numbers", 12, 80, 6.0, 12.0, False).relative
    0.5
    """

    name: str
    kind: str
    note: str
    missing: int
    masked: int
    error: float
    null: float
    is_category: bool
    is_moment: bool = False

    @property
    def relative(self) -> float | None:
        """The error over that of the mean; None where no cell was masked."""
        return self.error / self.null if self.masked and self.null > 0 else None

    def show(self, error: float, digits: int = 3) -> str:
        """Write an error with its unit: "± 5.2", "12% wrong", "± 3.1 days".

        Parameters
        ----------
        error : float
            As `error` and `null` are.
        digits : int, default=3
            How many count.

        Returns
        -------
        str
            For people.
        """
        if self.is_category:
            return f"{error:.{max(0, digits - 3)}%} wrong"
        size, unit = next((u for u in UNITS if error >= u[0]), UNITS[-1])
        if not self.is_moment:
            size, unit = 1, ""
        return f"± {error / size:.{digits}g}{unit}"


def summarize_columns(model: Any, missing: Any) -> list[FilledColumn]:
    """Summarize what an imputer found in each column of a table, and how sure it is.

    Parameters
    ----------
    model : LowRankImputer
        Fitted to a table.
    missing : array of int (n_features,)
        How many cells of each column are missing.

    Returns
    -------
    list of FilledColumn
        In the order of the table.

    Examples
    --------
    >>> import pandas as pd
    >>> from pygeco import LowRankImputer, diagnostics
    >>> table = pd.DataFrame({"a": [1.5, 2.5, None, 4.0], "b": ["x", "y", "x", None]})
    >>> model = LowRankImputer(random_state=0).fit(table)
    >>> [c.kind for c in diagnostics.summarize_columns(model, table.isna().sum())]
    ['number', 'yes/no']
    """
    if getattr(model, "table_", None) is None:
        raise ValueError("model: expected a LowRankImputer that was fitted to a table.")
    trials = iter(zip(model.table_.codes, model.trials_, strict=True))
    out = []
    for field, count in zip(model.fields_, missing, strict=True):
        cells, error, null, is_category = 0, 0.0, 0.0, False
        if field.kind != "skip":
            code, (cells, error, null) = next(trials)
            is_category = hasattr(code, "points") and not code.is_ordered
            per = max(cells, 1)
            error, null = error / per, null / per
            if not is_category:
                error, null = float(np.sqrt(error)), float(np.sqrt(null))
        about = field.name, field.kind, field.note, int(count), int(cells)
        is_moment = field.step > 0 or field.note.startswith(("dates", "times"))
        found = float(error), float(null), bool(is_category), is_moment
        out.append(FilledColumn(*about, *found))
    return out
