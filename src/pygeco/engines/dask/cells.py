"""Cells in slabs, as objectives see them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from pygeco.engines.values import Cells


@dataclass(frozen=True)
class Groups:
    """Rows, or columns, first … last − 1, in the place of pointers, which only the slabs have."""

    first: int
    last: int
    by_col: bool

    def __len__(self) -> int:
        return self.last - self.first + 1

    def __getitem__(self, key: slice) -> Groups:
        start, stop, _ = key.indices(len(self))
        return replace(self, first=self.first + start, last=self.first + stop - 1)


class Spread(Cells):
    """Cells whose arrays are on the workers, slab by slab; `pointers` are `Groups`."""

    def counts(self) -> Any:
        engine: Any = self.engine
        return engine.counts(self)

    def owners(self) -> Any:
        engine: Any = self.engine
        return engine.owners()

    def owners_of(self, cells: Any) -> Any:
        return self.owners()[cells]
