"""How often something was clicked as the weight of a click, and back.

A weight is a function of the whole count: counts are added before they are weighed.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from pygeco.arrays.low_rank import Array
from pygeco.objectives import Entries


def weigh_counts(entries: Entries, rule: str | None) -> Entries:
    """Counts as weights of clicks: as they are, by their logarithms ("log"), or 1 each ("ones")."""
    if rule not in ("log", "ones") or not entries.size:
        return entries
    return _map_values(entries, np.ones_like if rule == "ones" else lambda x: np.log2(1 + x))


def find_counts(weights: Array, rule: str | None) -> Array:
    """The counts that have these weights; where all weigh 1, some that do."""
    return np.exp2(weights) - 1 if rule == "log" else weights


def _map_values(entries: Entries, function: Any) -> Entries:
    other = copy.copy(entries)
    other.__dict__.pop("value_at_zero", None)
    for name in ("by_row", "by_col"):
        cells = getattr(other, name)
        setattr(other, name, cells._replace(values=function(cells.values)))
    return other
