"""What the components of a fitted matrix say, in names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from pygeco.diagnostics.cells import bring_to_host, count_by_column, find_cells
from pygeco.diagnostics.completion import Completion


class Component(NamedTuple):
    """One singular triple: its typical effect on a cell, and its extreme columns.

    Attributes
    ----------
    number : int
        Its place among the singular values, from 1.
    effect : float
        The root mean square of what it adds at the fitted cells.
    value : float
        The singular value.
    top, bottom : lists of (int, float)
        Columns and their weights, the farthest first.
    """

    number: int
    effect: float
    value: float
    top: list[tuple[int, float]]
    bottom: list[tuple[int, float]]


class Names:
    """Names of rows or columns: the title, or else the id, or else the number.

    Parameters
    ----------
    kind : str
        "row" or "column", or what the data call them.
    ids : array or None, default=None
        The ids of the model.
    titles : dict by id, sequence by position, or None, default=None
        What they are called.

    Examples
    --------
    >>> from pygeco.diagnostics import Names
    >>> Names("film", [7, 9], {9: "Alien"})[1]
    'Alien'
    """

    def __init__(
        self, kind: str, ids: Any = None, titles: Mapping[Any, str] | Sequence[str] | None = None
    ) -> None:
        self.kind, self.ids = kind, ids
        by_id = isinstance(titles, Mapping)
        self.by_id: Mapping[Any, str] = titles if isinstance(titles, Mapping) else {}
        # Files name ids as text, models may keep them as numbers.
        self.by_text = {str(key): title for key, title in self.by_id.items()}
        self.by_number = None if by_id else titles

    def __getitem__(self, index: int) -> str:
        if self.by_number is not None:
            return str(self.by_number[index])
        if self.ids is None:
            return self.by_text.get(str(index), f"{self.kind} {index}")
        found = self.ids[index]
        return str(self.by_text.get(str(found), found))


def find_components(
    model: Completion, count: int = 6, extremes: int = 6, support: int = 1
) -> list[Component]:
    """Find the singular triples of the fitted matrix that add most at the fitted cells, in order.

    A large singular value may lie where no cell is known. Signs are turned so that the column
    farthest from zero is at the top.

    Parameters
    ----------
    model : MatrixCompletion
        A fitted model.
    count : int, default=6
        How many triples.
    extremes : int, default=6
        How many columns at each end.
    support : int, default=1
        Columns with fewer fitted cells are left out of the extremes.

    Returns
    -------
    list of Component
    """
    A, cells = bring_to_host(model.factors_).svd(), find_cells(model)
    enough = count_by_column(model) >= support
    allowed = np.flatnonzero(enough)
    found = []
    squares = (np.ascontiguousarray(side.T) ** 2 for side in (A.U, A.V))
    effects = [
        float(s) * float(np.sqrt(np.mean(u.take(cells.rows) * v.take(cells.cols))))
        for s, u, v in zip(A.s, *squares, strict=True)
    ]
    for k in sorted(range(A.rank), key=lambda k: -effects[k])[:count]:
        u, v = A.U[:, k].astype(float), A.V[:, k].astype(float)
        # On the scale of the data: what the column gets from a row of typical weight.
        weight = v * float(A.s[k]) * np.sqrt(np.mean(u**2))
        if len(allowed) and -weight[allowed].min() > weight[allowed].max():
            weight = -weight
        order = allowed[np.argsort(weight[allowed], kind="stable")]
        each = min(extremes, (len(order) + 1) // 2)
        top = [(int(j), float(weight[j])) for j in order[::-1][:each]]
        bottom = [(int(j), float(weight[j])) for j in order[: min(each, len(order) - each)]]
        found.append(Component(k + 1, effects[k], float(A.s[k]), top, bottom))
    return found
