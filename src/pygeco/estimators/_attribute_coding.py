"""How columns of attributes become columns of a matrix: numbers, levels, or as they are.

A coder is fitted on a column and frozen. It knows its groups and the names of its columns, codes
other rows, and becomes plain values for a file and back.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pygeco.arrays.low_rank import Array
from pygeco.estimators._low_rank_filling import measure_columns
from pygeco.io.attribute_columns import Numbers, Words

MISSING = "missing"  # the name of the level of missing values
BLOCK = 1 << 16  # cells that are standardized at once, in a core's own memory
MAX_AVERAGED = 256  # levels, the most frequent, in the average row: others would only fill memory


class Group(NamedTuple):
    """Columns of the matrix that come from one column of the table.

    `kind` is "number", "category", "list" or "matrix".
    """

    name: str
    size: int
    kind: str


class Unknown(NamedTuple):
    """Rows whose level the fit did not have, and one such level."""

    column: str
    rows: int
    level: str


class Block(NamedTuple):
    """Columns of the matrix, and what was unknown in them."""

    matrix: Any
    unknown: Unknown | None = None


class Coder(Protocol):
    """What all coders have."""

    @property
    def groups(self) -> tuple[Group, ...]: ...

    def names(self) -> list[str]: ...

    def state(self) -> dict[str, Any]: ...


@dataclass(frozen=True, eq=False)
class NumberCoder:
    """(x − mean) / scale, and 0 where x is missing."""

    name: str
    mean: float
    scale: float

    @classmethod
    def fit(cls, name: str, column: Numbers) -> NumberCoder | None:
        """None where the known numbers do not vary."""
        values = check_finite(name, column.values)[:, None]
        mean, scale, varies = measure_columns(values, ~np.isnan(values))
        return cls(name, float(mean[0]), float(scale[0])) if varies[0] else None

    @property
    def groups(self) -> tuple[Group, ...]:
        return (Group(self.name, 1, "number"),)

    def names(self) -> list[str]:
        return [self.name]

    def encode(self, column: Numbers) -> Block:
        values = check_finite(self.name, column.values)[:, None]
        return Block(standardize(values, np.array([self.mean]), np.array([self.scale])))

    def state(self) -> dict[str, Any]:
        return {"coder": "number", "name": self.name, "mean": self.mean, "scale": self.scale}


@dataclass(frozen=True, eq=False)
class LevelCoder:
    """1/√k at each of a row's k levels; a category has one level.

    Missing values have a level of their own if the fit met some. Otherwise they, and rows of which
    no level is known, get the average row of the fit; a row that has no level gets zeros. Of very
    many levels the average has the most frequent ones.
    """

    name: str
    kind: str
    levels: NDArray[Any]
    has_missing: bool
    average: NDArray[np.float32]

    @classmethod
    def fit(cls, name: str, kind: str, column: Words) -> LevelCoder:
        occurring = np.unique(column.codes)
        levels = np.array([*(column.levels[k] for k in occurring), None], object)[:-1]
        has_missing = bool(column.missing.any())
        nothing = np.zeros(len(levels) + has_missing, np.float32)
        plain = cls(name, kind, levels, has_missing, nothing)
        average = np.asarray(plain.encode(column).matrix.mean(axis=0, dtype=np.float64))
        average[np.argsort(-average, kind="stable")[MAX_AVERAGED:]] = 0
        return cls(name, kind, levels, has_missing, average.astype(np.float32))

    @property
    def groups(self) -> tuple[Group, ...]:
        return (Group(self.name, len(self.average), self.kind),)

    def names(self) -> list[str]:
        levels = [*self.levels, *([MISSING] if self.has_missing else [])]
        return [f"{self.name}={level}" for level in levels]

    def encode(self, column: Words) -> Block:
        n, F = len(column.missing), len(self.average)
        place = {level: k for k, level in enumerate(self.levels)}
        local = np.array([place.get(level, -1) for level in column.levels], np.int64)
        cols, sizes = local[column.codes], np.diff(column.starts)
        rows = np.repeat(np.arange(n), sizes)
        some = cols >= 0
        known = np.bincount(rows[some], minlength=n)
        values = 1 / np.sqrt(known[rows[some]])
        own = np.flatnonzero(column.missing) if self.has_missing else np.zeros(0, np.int64)
        lost = (sizes > 0) & (known == 0)
        far = np.flatnonzero(lost if self.has_missing else lost | column.missing)
        filled = np.flatnonzero(self.average)
        parts = [
            (values, rows[some], cols[some]),
            (np.ones(len(own)), own, np.full(len(own), F - 1)),
            (
                np.tile(self.average[filled], len(far)),
                np.repeat(far, len(filled)),
                np.tile(filled, len(far)),
            ),
        ]
        data, i, j = (np.concatenate(part) for part in zip(*parts, strict=True))
        matrix = sp.coo_array((data.astype(np.float32), (i, j)), (n, F)).tocsr()
        if some.all():
            return Block(matrix)
        first = column.levels[column.codes[np.argmin(some)]]
        return Block(matrix, Unknown(self.name, len(np.unique(rows[~some])), first))

    def state(self) -> dict[str, Any]:
        return {
            "coder": "levels",
            "name": self.name,
            "kind": self.kind,
            "levels": self.levels,
            "has_missing": self.has_missing,
            "average": self.average,
        }


@dataclass(frozen=True, eq=False)
class MatrixCoder:
    """The columns of a matrix in groups: dense ones standardized, sparse ones as they are.

    `mean` and `scale` are None for a sparse matrix; `kept` are the columns that vary.
    """

    groups: tuple[Group, ...]
    columns: tuple[str, ...] | None
    kept: NDArray[np.int64] | None
    mean: Array | None
    scale: Array | None

    def names(self) -> list[str]:
        if self.columns is not None:
            return list(self.columns)
        return [f"x{k}" for k in range(sum(group.size for group in self.groups))]

    def encode(self, X: Any) -> Block:
        if self.kept is None or self.mean is None or self.scale is None:
            X = sp.csr_array(X)
            check_range(X.data, X.tocoo().coords[0])
            return Block(X.astype(np.float32))
        X = X if len(self.kept) == X.shape[1] else X[:, self.kept]
        return Block(standardize(X.toarray() if sp.issparse(X) else X, self.mean, self.scale))

    def state(self) -> dict[str, Any]:
        return {
            "coder": "matrix",
            "groups": [list(group) for group in self.groups],
            "columns": None if self.columns is None else list(self.columns),
            "kept": self.kept,
            "mean": self.mean,
            "scale": self.scale,
        }


def check_finite(name: str, values: Array) -> Array:
    """Numbers without ±∞, or one sentence."""
    wrong = np.isinf(values)
    if wrong.any():
        row = int(np.argmax(wrong)) + 1
        raise ValueError(
            f"column {name!r}: row {row} holds infinity; correct it, or make it missing."
        )
    return values


def standardize(X: Array, mean: Array, scale: Array) -> Any:
    """(X − mean) / scale in float32, without its zeros; 0 where X is NaN."""
    n, F = X.shape
    Z = np.empty((n, F), np.float32)
    for at in range(0, n, max(1, BLOCK // max(1, F))):
        rows = slice(at, at + max(1, BLOCK // max(1, F)))
        part = (X[rows] / 2 - mean / 2) / (scale / 2)  # halves, for the largest have no difference
        part[np.isnan(part)] = 0
        check_range(part, np.arange(at, at + len(part)))
        Z[rows] = part
    indices, pointers = np.tile(np.arange(F, dtype=np.int32), n), np.arange(n + 1) * F
    matrix = sp.csr_array((Z.ravel(), indices, pointers), shape=(n, F))
    matrix.eliminate_zeros()
    return matrix


def check_range(Z: Array, rows: NDArray[Any]) -> None:
    """A sentence about a number that float32 cannot hold; the first axis goes along `rows`."""
    limit = np.finfo(np.float32).max
    if Z.size and not (-limit <= Z.min() and Z.max() <= limit):
        row = rows[np.argmax((np.abs(Z) > limit).reshape(len(rows), -1).any(axis=1))] + 1
        raise ValueError(f"X: row {row} holds a number beyond the range of float32; correct it.")


def parse_groups(groups: Any, columns: int) -> list[tuple[str, int]]:
    """Names and sizes of groups of a matrix's columns, from a dict, pairs, or a name a column."""
    pairs = list(groups.items()) if hasattr(groups, "items") else list(groups)
    pairs = [(one, 1) if isinstance(one, str) else one for one in pairs]
    for pair in pairs:
        if not isinstance(pair, Sequence) or len(pair) != 2 or not isinstance(pair[0], str):
            raise ValueError(
                f"groups: expected names with sizes, or a name for each column, not {pair!r}."
            )
        if isinstance(pair[1], bool) or not isinstance(pair[1], (int, np.integer)) or pair[1] < 1:
            raise ValueError(f"groups: the size of {pair[0]!r} must be an integer ≥ 1.")
    total = sum(size for _, size in pairs)
    if total != columns:
        raise ValueError(f"groups: have {total} columns, but the matrix has {columns}.")
    return [(str(name), int(size)) for name, size in pairs]


def number_repeats(names: Iterable[str]) -> list[str]:
    """The names, with a number behind those that others have already."""
    found: dict[str, None] = {}
    for name in names:
        unused, k = name, 1
        while unused in found:
            k += 1
            unused = f"{name} ({k})"
        found[unused] = None
    return list(found)
