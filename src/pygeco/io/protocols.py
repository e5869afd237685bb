"""What is used of the tables of other packages, which have no types of their own here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from numpy.typing import NDArray


class ArrowScalar(Protocol):
    """A value of a column."""

    def as_py(self) -> object: ...


class ArrowColumn(Protocol):
    """A column of a pyarrow table."""

    @property
    def type(self) -> Any: ...  # an Arrow type, which pyarrow's functions alone take

    def __len__(self) -> int: ...

    def __getitem__(self, at: int) -> ArrowScalar: ...

    def to_numpy(self, zero_copy_only: bool = False) -> NDArray[Any]: ...


class ArrowTable(Protocol):
    """A pyarrow table."""

    @property
    def column_names(self) -> list[str]: ...

    @property
    def num_rows(self) -> int: ...

    def column(self, at: int | str) -> ArrowColumn: ...

    def select(self, names: Sequence[str]) -> ArrowTable: ...

    def take(self, places: NDArray[Any]) -> ArrowTable: ...

    def append_column(self, name: str, chunks: Sequence[NDArray[Any]]) -> ArrowTable: ...


class Places(Protocol):
    """Rows and columns of a frame by position or by name."""

    def __getitem__(self, at: tuple[slice, list[int] | list[str]]) -> DataFrame: ...


class DataFrame(Protocol):
    """A table of pandas."""

    @property
    def columns(self) -> Any: ...  # an index, which lists and masks alike index

    @property
    def iloc(self) -> Places: ...

    @property
    def loc(self) -> Places: ...

    def assign(self, **columns: NDArray[Any]) -> DataFrame: ...


class LazyFrame(DataFrame, Protocol):
    """A table of Dask, with an empty one of pandas that has its columns."""

    @property
    def _meta(self) -> DataFrame: ...
