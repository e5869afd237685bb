"""A picture of an imputation: how well each column of a table is known from the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pygeco.diagnostics.imputation import FilledColumn
from pygeco.plot import style

MAX_COLUMNS = 40  # that are drawn, those with the most missing cells


def imputation(columns: Sequence[FilledColumn], *, ax: Any = None) -> Any:
    """Draw the error of each column at masked cells, next to that of means.

    Parameters
    ----------
    columns : sequence of FilledColumn
        As `diagnostics.summarize_columns` returns them.
    ax : matplotlib Axes or None, default=None
        None creates new ones.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from pygeco import plot
    >>> from pygeco.diagnostics import FilledColumn
    >>> ax = plot.imputation([FilledColumn("age", "count", "", 12, 80, 6.0, 12.0, False)])
    """
    known = [column for column in columns if column.relative is not None]
    measured = len(known)
    known = sorted(known, key=lambda column: -column.missing)[:MAX_COLUMNS]
    known = sorted(known, key=lambda column: -(column.relative or 0.0))
    ax = style.axes(ax, (6.4, max(2.2, 0.8 + 0.27 * len(known))))
    places = range(len(known))
    tones = {False: (style.TRAIN, "of numbers"), True: (style.TEST, "of categories")}
    both = len({column.is_category for column in known}) == 2
    for is_category, (tone, label) in tones.items():
        own = [t for t in places if known[t].is_category == is_category]
        ax.barh(own, [known[t].relative for t in own], color=tone, height=0.62, label=label)
    ax.axvline(1, color=style.MUTED, lw=1, ls="--")
    ax.set_yticks(places, [_name(column) for column in known])
    style.finish(ax, "error at masked cells / of the mean", "", legend=both)
    ax.grid(axis="x", color=style.GRID, lw=0.7)
    ax.grid(axis="y", visible=False)
    if measured > len(known):
        style.note(ax, f"the {len(known)} of {measured:,} columns with the most missing cells")
    ax.set_xlim(0, max([1.1, *(1.05 * (column.relative or 0.0) for column in known)]))
    return ax


def _name(column: FilledColumn) -> str:
    return f"{style.shorten(column.name, 20)} ({column.kind}, {column.missing:,} missing)"
