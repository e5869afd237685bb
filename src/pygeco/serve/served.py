"""A model as it is served: with its ids, titles and version, ready for questions by position."""

from __future__ import annotations

import hashlib
import math
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.container import PREFIX
from pygeco.arrays.low_rank import Array
from pygeco.io.model_parts import load_parts
from pygeco.io.tables import find_positions, parse_ids
from pygeco.models.completion import CompletionModel
from pygeco.serve.listing import ListParts, make_list_parts
from pygeco.serve.typed import MAX_SHOWN, RequestError, show_value

AVERAGED_ROWS = 10_000  # about so many make the average row
SAMPLED_VALUES = 100_000  # about so many say which values there are
MAX_LEVELS = 11  # values that are chosen from one by one
VERSION_DIGITS = 12  # hexadecimal digits of a model's version
FIRST_ROUNDED = 1 << 53  # from here on JavaScript, among others, rounds the numbers of JSON


class TitleFile(NamedTuple):
    """Where titles are read from, and which columns hold the items and the titles."""

    path: Path
    item: str | None = None
    title: str | None = None


@dataclass(frozen=True, eq=False)
class Served:
    """A fitted model, its ids and titles. Every answer is made from one of these alone.

    Attributes
    ----------
    version : str
        Of the file's contents: the same file has the same version everywhere.
    ids : tuple of two arrays
        Of the rows and of the columns, sorted.
    titles : list of str or None
        Of the columns.
    is_of_clicks : bool
        Whether its scores are no ratings.
    """

    model: CompletionModel
    version: str
    ids: tuple[NDArray[Any], NDArray[Any]]
    titles: list[str] | None
    is_of_clicks: bool
    saved: str

    @property
    def explains(self) -> bool:
        return self.is_of_clicks or self.model.posterior is not None

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the greatest rating, in few digits; labels are 0 and 1."""
        low, high = self.model.bounds
        return (0.0, 1.0) if self.is_of_labels else (_shorten(low), _shorten(high))

    @property
    def is_of_labels(self) -> bool:
        """Whether there are two values, and what is predicted has no bounds or is a chance."""
        return not np.all(np.isfinite(self.model.bounds))

    @property
    def places(self) -> int:
        """Decimal places of scores: four, and more where all ratings are within less than one."""
        low, high = self.bounds
        span = high - low
        return 4 + (max(0, -math.floor(math.log10(span))) if span > 0 else 0)

    @cached_property
    def levels(self) -> list[float]:
        """Ratings to choose from: those that there are, or five where these are many."""
        if self.is_of_labels:
            return [0.0, 1.0]
        values = self.rescale(self.model.seen.values[:: max(1, self.known // SAMPLED_VALUES)])
        found = np.unique(np.append(values, self.bounds).astype(np.float32)).tolist()
        if len(found) > MAX_LEVELS:
            whole = np.all(np.asarray(found) == np.round(found))  # counts have no halves
            found = np.linspace(*self.bounds, 5)
            found = (np.unique(np.round(found)) if whole else found).tolist()
        return [_shorten(value) for value in found]

    @property
    def known(self) -> int:
        """Cells of the fit."""
        return len(self.model.seen.indices)

    def rescale(self, targets: Array) -> Array:
        """Ratings as they were given: a fit keeps codes of labels and of levels."""
        from pygeco.diagnostics.judging import to_data_scale

        return to_data_scale(self.model.loss, targets)

    @cached_property
    def list_parts(self) -> ListParts:
        """What makes lists."""
        return make_list_parts(self.model)

    @cached_property
    def item_heads(self) -> dict[int, bytes]:
        """The JSON of items before their scores, of those that were listed; see `write_lists`."""
        return {}

    @cached_property
    def counts(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Known cells of each row, and of each column."""
        return self.model.counts()

    @cached_property
    def typical_row(self) -> int:
        """A row with as many known cells as the median of those that have any."""
        counts = self.counts[0]
        own = np.flatnonzero(counts)
        if not len(own):
            return 0
        return int(own[np.argsort(counts[own], kind="stable")[(len(own) - 1) // 2]])

    @cached_property
    def average_scores(self) -> NDArray[Any]:
        """What the average row of a model of clicks scores: those who clicked nothing get it."""
        A = self.model.factors
        some = A.U[:: max(1, len(A.U) // AVERAGED_ROWS)]
        found: NDArray[Any] = (some.mean(axis=0) * A.s) @ A.V.T
        return found

    def find(self, side: int, wanted: list[Any], name: str, *, strict: bool) -> NDArray[np.int64]:
        """Positions of ids, −1 for one that is unknown; an error where that is `strict`."""
        known = self.ids[side]
        at = find_positions(known, _suit(known, wanted))
        if strict and np.any(at < 0):
            wrong = show_value(wanted[int(np.argmax(at < 0))])
            first, last = (str(one)[:MAX_SHOWN] for one in (known[0], known[-1]))
            raise RequestError(
                404,
                "unknown_id",
                f"{name}: the model does not know {wrong}; it has {len(known):,} ids from "
                f"{first} to {last}.",
            )
        return at

    def name(self, side: int, at: NDArray[Any]) -> list[Any]:
        """Ids of positions, as JSON has them: whole numbers that readers would round as text."""
        found = self.ids[side][at]
        if found.dtype.kind == "M":
            return found.astype(str).tolist()
        if found.dtype.kind in "iu":
            far = (found >= FIRST_ROUNDED) | (found <= -FIRST_ROUNDED)
            if np.any(far):
                names = found.astype(object)
                names[far] = found[far].astype(str)
                return names.tolist()
        return found.tolist()

    def name_as_asked(self, side: int, wanted: list[Any], at: NDArray[Any]) -> list[Any]:
        """The model's own ids of those that it knows; others as they were given."""
        names = self.name(side, np.maximum(at, 0))
        return [
            name if t >= 0 else given
            for name, given, t in zip(names, wanted, at.tolist(), strict=True)
        ]

    def title(self, at: int) -> str | None:
        return None if self.titles is None else self.titles[at]

    def allow(self, only: list[Any] | None, without: list[Any] | None) -> NDArray[np.bool_] | None:
        """Which columns may be listed; None where all may. Unknown ids are no candidates."""
        if only is None and not without:
            return None
        allowed = np.full(self.model.shape[1], only is None)
        for ids, value in ((only, True), (without, False)):
            if ids:
                at = self.find(1, ids, "only", strict=False)
                allowed[at[at >= 0]] = value
        if not allowed.any():
            raise RequestError(
                422, "empty_filter", "only: no known item is left; give more, or exclude fewer."
            )
        return allowed


def open_served(path: Path, titles: TitleFile | None = None) -> Served:
    """The model in a file. Its arrays stay in the file, which must not change."""
    parts = load_parts(path, mmap=True)
    m, n = parts.model.shape
    rows = np.arange(m) if parts.row_ids is None else parts.row_ids
    columns = np.arange(n) if parts.column_ids is None else parts.column_ids
    names = None
    if titles is not None:
        from pygeco.io.titles import read_titles

        names = read_titles(titles.path, columns, item=titles.item, title=titles.title)
    return Served(
        model=parts.model,
        version=find_version(path, names),
        ids=(rows, columns),
        titles=names,
        is_of_clicks=parts.kind == "ImplicitCompletion",
        saved=parts.saved,
    )


def find_version(path: str | os.PathLike[str], titles: list[str] | None) -> str:
    """A digest of the header, which has the checksums of all arrays, and of the titles."""
    with open(path, "rb") as file:
        prefix = file.read(PREFIX.size)
        digest = hashlib.sha256(prefix + file.read(PREFIX.unpack(prefix)[3]))
    if titles is not None:
        digest.update("\n".join(titles).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:VERSION_DIGITS]


def _shorten(value: float) -> float:
    """Single precision in as few digits as tell it from its neighbors; the rest as it is."""
    single = np.float32(value)
    return float(str(single)) if single == value else float(value)


def _suit(known: NDArray[Any], wanted: list[Any]) -> NDArray[Any]:
    """Ids of JSON in the kind of the model's: text may stand for numbers, numbers for text."""
    kinds = set(map(type, wanted))
    if kinds == {str}:
        found = parse_ids(known, wanted)
        if found.dtype.kind != "U" or len(wanted) == 1:
            return found  # else one of many is no such id, which says nothing of the others
    if kinds == {int} and known.dtype.kind in "iu":
        is_far = max(map(abs, wanted)) >= FIRST_ROUNDED  # which NumPy may take for floats
        return np.array(wanted, dtype=object if is_far else None)
    if kinds <= {int, float} and known.dtype.kind != "O":
        try:
            return np.array(wanted)
        except OverflowError:
            return np.array(wanted, dtype=object)
    texts = [_write(one) for one in wanted]
    if known.dtype.kind == "O":
        return np.array([*texts, None], dtype=object)[:-1]
    each = [parse_ids(known, [text])[0] for text in texts]  # beside what is no id, all are text
    return np.array([*each, None], dtype=object)[:-1]


def _write(one: Any) -> str:
    """An id as text, a whole number without a point."""
    if isinstance(one, float) and one.is_integer():
        return str(int(one))
    return one if isinstance(one, str) else repr(one)
