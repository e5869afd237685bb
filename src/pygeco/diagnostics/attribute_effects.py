"""What attributes say of predictions, as a table for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pygeco.io.tables import pyarrow

MAX_SHOWN_GROUPS, MAX_SHOWN_LEVELS = 12, 6  # in the table's text
HEADS = ("side", "group", "level", "weight", "deviation", "strength", "degrees", "share")
TEXTS = 3  # of these heads; the others are numbers
NUMBERS = ("",) * (len(HEADS) - TEXTS)


class LevelEffect(NamedTuple):
    """By how much a level of an attribute, or one deviation of a number, moves predictions.

    Attributes
    ----------
    side : "row" or "column"
        Whether it is an attribute of rows or of columns.
    group, level : str
        The column of the attributes, and the level or word in it; "" where there is one alone.
    weight, deviation : float
        The mean move over the rows (or columns) of the other side, and its standard deviation; NaN
        for the pattern.
    strength : float
        The root mean square of the move over the other side; for the pattern and for a dropped
        group, that of the whole group.
    degrees, share : float
        Degrees of freedom of the group, and its share, as in `GroupEffect`.
    """

    side: str
    group: str
    level: str
    weight: float
    deviation: float
    strength: float
    degrees: float
    share: float


class GroupEffect(NamedTuple):
    """By how much a group of attributes moves predictions.

    Attributes
    ----------
    side : "row" or "column"
        Whether they are attributes of rows or of columns.
    group : str
        The column of the attributes, or "pattern".
    source : "table" or "pattern"
        Whether it comes from a table, or is the pattern of known cells.
    strength : float
        The root mean square of the move, over rows and columns.
    degrees : float
        Degrees of freedom: how many numbers of each component the data support.
    share : float
        The share of the group's moves in the squares by which the rows (or columns) of its side
        differ in their predictions. What two groups have in common counts in both shares.
    levels : tuple of LevelEffect
        The strongest first.
    """

    side: str
    group: str
    source: str
    strength: float
    degrees: float
    share: float
    levels: tuple[LevelEffect, ...]


@dataclass(frozen=True)
class AttributeEffects(Sequence[LevelEffect]):
    """The effects of attributes: one line per level, the strongest groups and levels first.

    Effects are on the scale of the data (for other losses than the squared one, of the linear
    predictor). A level of a category or a word of a list is compared with the average row or
    column: how much predictions move if one has this level, or this word alone. A
    number is measured per standard deviation, a column of a sparse matrix per unit.

    Attributes
    ----------
    groups : tuple of GroupEffect
        The groups of both sides; those that the evidence dropped have strength 0.
    """

    groups: tuple[GroupEffect, ...] = ()

    @property
    def lines(self) -> tuple[LevelEffect, ...]:
        """All levels, in order."""
        return tuple(level for group in self.groups for level in group.levels)

    def __len__(self) -> int:
        return len(self.lines)

    def __getitem__(self, at: Any) -> Any:
        return self.lines[at]

    def __iter__(self) -> Iterator[LevelEffect]:
        return iter(self.lines)

    def to_arrow(self) -> Any:
        """A pyarrow table with a line for each level."""
        pa = pyarrow()
        kinds = [pa.string()] * TEXTS + [pa.float64()] * (len(HEADS) - TEXTS)
        columns = list(zip(*self.lines, strict=True)) or [()] * len(HEADS)
        return pa.table(
            {
                head: pa.array(column, kind)
                for head, column, kind in zip(HEADS, columns, kinds, strict=True)
            }
        )

    def to_pandas(self) -> Any:
        """The same as a pandas table."""
        return self.to_arrow().to_pandas()

    def __repr__(self) -> str:
        if not self.groups:
            return "AttributeEffects: nothing was told of rows or columns."
        table: list[Sequence[str]] = [HEADS]
        for group in self.groups[:MAX_SHOWN_GROUPS]:
            table += [_show(level) for level in group.levels[:MAX_SHOWN_LEVELS]]
            more = len(group.levels) - MAX_SHOWN_LEVELS
            table += [(group.side, group.group, f"… {more:,} more", *NUMBERS)] if more > 0 else []
        more = len(self.groups) - MAX_SHOWN_GROUPS
        table += [(f"… {more:,} more", "", "", *NUMBERS)] if more > 0 else []
        return "\n".join(_align(table))


def _align(table: Sequence[Sequence[str]]) -> list[str]:
    """Lines of text, with columns of numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if t < TEXTS else cell.rjust(width)
            for t, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in table
    ]


def _show(line: LevelEffect) -> tuple[str, ...]:
    numbers = [
        "–" if np.isnan(x) else f"{x:{form}}"
        for x, form in zip(line[TEXTS:-1], ("+.3f", ".3f", ".3f", ".1f"), strict=True)
    ]
    return (line.side, line.group, line.level, *numbers, f"{line.share:.1%}")
