"""Kinds of columns: what a table's types and values say, what a user says, and both told aloud."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import numpy as np

from pygeco.arrays.low_rank import Array
from pygeco.io.table_columns import counts_rows, has_whole_numbers
from pygeco.io.typed_columns import Field, RawColumn, check_finite, read_column, take_columns

KINDS = ("number", "heavy", "positive", "count", "yes/no", "levels", "category", "skip")
MAX_LEVELS = 12  # distinct whole numbers that are levels; more of them count something
MAX_COUNTED = 60  # distinct counts that have a place each; more of them are numbers
MIN_CELLS_PER_VALUE = 5  # known cells a value, for a column of whole numbers to be one of values
MAX_CATEGORIES = 30  # categories that are filled in, the most frequent
MAX_DISTINCT_SHARE = 0.5  # of the known texts, for a column to hold categories and not names
STEPS = (86_400.0, 1.0)  # seconds: of dates without a time, and of times without fractions
MAX_SPAN = 86_399_999_913_600  # seconds, the most that Python writes as a duration
MIN_SKEW = 1.0  # of positive numbers, for their powers to be worth a look
MIN_KURTOSIS = 8.0  # beyond a normal's, for tails to be heavy


@dataclass(frozen=True)
class Columns:
    """The kinds of a table's columns: set by you, or inferred from types and values.

    A kind is "number", "heavy" (a number with heavy tails), "positive", "count", "yes/no",
    "levels" (in order), "category" or "skip" (left out and unchanged). A list in place of a kind
    names the levels of a text column, from the lowest to the highest.

    Parameters
    ----------
    kinds : dict, default={}
        Kinds by column name; the kinds of other columns are inferred.
    notes : dict, default={}
        Why each column has its kind, if it was inferred.

    Examples
    --------
    >>> import pandas as pd
    >>> from pygeco import Columns
    >>> table = pd.DataFrame({"height": [1.71, 1.83, None], "smokes": [True, None, False]})
    >>> print(Columns({"height": "positive"}).find(table))
    height  positive  as given
    smokes  yes/no    truths
    """

    kinds: dict[str, Any] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)

    def find(self, X: Any) -> Columns:
        """Infer the kinds of a table's columns.

        Parameters
        ----------
        X : table
            From pandas, polars, Arrow, or anything else with Arrow's interface.

        Returns
        -------
        Columns
            A kind for every column, with the reason.
        """
        return describe_fields(find_fields(X, self))

    def __str__(self) -> str:
        wide = max(map(len, self.kinds), default=0)
        return "\n".join(
            f"{name:{wide}}  {kind if isinstance(kind, str) else 'levels':8}  "
            f"{self.notes.get(name, 'as given')}"
            for name, kind in self.kinds.items()
        )


def describe_fields(fields: Sequence[Field]) -> Columns:
    """What was found, in words."""
    kinds = {one.name: one.kind for one in fields}
    return Columns(kinds, {one.name: one.note for one in fields})


def find_fields(X: Any, given: Columns) -> tuple[Field, ...]:
    """A field for each column of a table, in their order."""
    names, columns = take_columns(X)
    check_names(given, names)
    return tuple(
        find_field(name, read_column(column, name), given.kinds.get(name))
        for name, column in zip(names, columns, strict=True)
    )


def check_names(given: Columns, names: Sequence[str]) -> None:
    """Refuse kinds of columns that a table does not have."""
    unknown = [name for name in given.kinds if name not in names]
    if unknown:
        there = ", ".join(map(repr, names[:8]))
        raise ValueError(f"columns: there is no column {unknown[0]!r}; the table has {there}.")


def find_field(name: str, raw: RawColumn | None, wish: Any = None) -> Field:
    """The kind of one column, as wished or as its cells say."""
    if isinstance(wish, str) and wish not in KINDS:
        raise ValueError(
            f"columns: {wish!r} for {name!r} is none of {', '.join(KINDS)}, nor a list of levels."
        )
    if raw is None:
        return _make(name, "skip", "lists, or values of a type without order", wish)
    if wish == "skip":
        return _make(name, "skip", "", wish)
    if raw.origin and wish in ("positive", "heavy", "count"):  # whose shape is that from zero on
        raw = raw._replace(values=raw.values + raw.origin, origin=0)
    known = raw.values[~np.isnan(raw.values)]
    if not len(known):
        return _make(name, "skip", "no known cell", wish)
    check_finite(known, name)
    if raw.levels:
        return _find_texts(name, raw, known, wish)
    return _find_values(name, raw, known, wish)._replace(origin=raw.origin)


def _find_values(name: str, raw: RawColumn, known: Array, wish: Any) -> Field:
    """The kind of a column of numbers or times."""
    if raw.is_category and wish is None:
        values, kind = np.unique(known), "levels" if raw.is_ordered else "category"
        note = f"{len(values)} categories"
        return _make(name, kind, note, wish, values=values, is_ordered=raw.is_ordered)
    if not raw.is_moment:
        found = _find_numbers(name, raw.values, known, wish)
        return _tell_origin(found, known, raw.origin) if raw.origin and wish is None else found
    step = next((s for s in STEPS if not np.any(known % s)), 0.0)
    if wish is not None:
        return _find_numbers(name, raw.values, known, wish)._replace(step=step)
    seconds = [int(end) + raw.origin for end in (known.min(), known.max())]
    return _make(name, "number", _describe_moments(seconds, raw, step), wish)._replace(step=step)


def _describe_moments(seconds: Sequence[int], raw: RawColumn, step: float) -> str:
    if raw.is_span:
        first, last = (timedelta(seconds=max(-MAX_SPAN, min(end, MAX_SPAN))) for end in seconds)
        return f"times from {first} to {last}"
    unit, what = ("D", "dates") if step == STEPS[0] else ("s", "times")
    ends = (np.datetime64(end, "s").astype(f"datetime64[{unit}]") for end in seconds)
    return f"{what} from {next(ends)} to {next(ends)}"


def _tell_origin(field: Field, known: Array, origin: int) -> Field:
    """Large whole numbers near each other: their size says nothing of their shape."""
    low, high = (origin + int(end) for end in (known.min(), known.max()))
    if field.kind == "number" and low == high:
        return field._replace(note=f"always {low}")
    if field.kind in ("number", "heavy", "positive", "count"):
        return field._replace(kind="number", note=f"whole numbers from {low} to {high}")
    return field


def _make(
    name: str,
    kind: str,
    note: str,
    wish: Any,
    *,
    levels: Sequence[str] = (),
    values: Array | None = None,
    is_ordered: bool = False,
) -> Field:
    values = np.zeros(0) if values is None else values
    note = note if wish is None else "as given"
    return Field(name, kind, note, tuple(levels), values, is_ordered, wish is not None)


def _find_texts(name: str, raw: RawColumn, known: Array, wish: Any) -> Field:
    if wish in ("number", "heavy", "positive", "count"):
        raise ValueError(f"columns: {name!r} holds texts, which cannot be of kind {wish!r}.")
    used, counts = np.unique(known.astype(np.int64), return_counts=True)
    if wish is not None and not isinstance(wish, str):
        return _order_levels(name, raw, used, wish)
    is_ordered = wish == "levels" or (wish is None and raw.is_ordered)
    is_free = wish is None and not raw.is_category
    if is_free and len(used) > max(2, MAX_DISTINCT_SHARE * len(known)):
        return _make(name, "skip", f"{len(used):,} texts in {len(known):,} cells: names", wish)
    most = np.sort(used[np.argsort(-counts, kind="stable")[:MAX_CATEGORIES]])
    note = f"{len(used)} {'levels in order' if is_ordered else 'categories'}"
    if len(used) > len(most):
        note += f", of which the {len(most)} most frequent are filled in"
    kind = "levels" if is_ordered else "yes/no" if len(used) == 2 else "category"
    kind = wish or kind
    if set(raw.levels) == {"False", "True"}:
        note = "truths"
        kind = "yes/no" if wish is None else wish
    return _make(
        name, kind, note, wish, levels=raw.levels, values=most.astype(float), is_ordered=is_ordered
    )


def _order_levels(name: str, raw: RawColumn, used: Any, wish: Sequence[Any]) -> Field:
    """Levels in the order given by hand; what is not among them is known and says nothing."""
    wanted = [str(level) for level in wish]
    if not wanted or len(set(wanted)) < len(wanted):
        raise ValueError(f"columns: the levels of {name!r} must be different texts.")
    if not any(raw.levels[k] in wanted for k in used):
        raise ValueError(f"columns: no cell of {name!r} holds one of the levels {wanted}.")
    rest = [level for level in raw.levels if level not in wanted]
    values = np.arange(len(wanted), dtype=float)
    return _make(name, "levels", "", wish, levels=[*wanted, *rest], values=values, is_ordered=True)


def _find_numbers(name: str, x: Array, known: Array, wish: Any) -> Field:
    distinct = np.unique(known)
    if wish is not None and not isinstance(wish, str):
        raise ValueError(f"columns: {name!r} holds numbers, whose order is known; say 'levels'.")
    if wish in ("number", "heavy", "positive"):
        if wish == "positive" and known.min() <= 0:
            raise ValueError(f"columns: {name!r} is to be positive, but holds {known.min():g}.")
        return _make(name, wish, "", wish)
    if wish == "category":
        return _make(name, wish, "", wish, values=distinct)
    if wish is not None:
        ordered = wish != "count" or len(distinct) <= MAX_COUNTED
        return _make(name, wish, "", wish, values=distinct if ordered else None, is_ordered=ordered)
    whole, k = has_whole_numbers(known), len(distinct)
    if counts_rows(x) and len(known) == len(x):
        return _make(name, "skip", "counts the rows", wish)
    is_dense = whole and len(known) >= MIN_CELLS_PER_VALUE * k
    if is_dense and k == 2 and distinct.tolist() == [0, 1]:
        return _make(name, "yes/no", "0 or 1", wish, values=distinct, is_ordered=True)
    if is_dense and 1 < k <= MAX_LEVELS:
        return _make(name, "levels", f"{k} whole numbers", wish, values=distinct, is_ordered=True)
    if whole and known.min() >= 0 and k > 1:
        note = f"whole numbers from {known.min():g} to {known.max():g}"
        by_value = is_dense and k <= MAX_COUNTED
        values = distinct if by_value else None
        return _make(name, "count", note, wish, values=values, is_ordered=by_value)
    return _make(name, *_describe_numbers(known), wish)


def _describe_numbers(known: Array) -> tuple[str, str]:
    """Whether numbers are positive and skew, or have heavy tails, or neither."""
    ends = f"from {known.min():.4g} to {known.max():.4g}"
    top = np.abs(known).max() or 1.0
    z = known / top - (known / top).mean()
    spread = float(np.sqrt(np.mean(z**2)))
    if spread <= 1e-12:
        return "number", f"always {known[0]:.6g}"
    skew, tails = float(np.mean((z / spread) ** 3)), float(np.mean((z / spread) ** 4)) - 3
    if known.min() > 0 and skew > MIN_SKEW:
        return "positive", f"{ends}, skewness {skew:.1f}"
    if tails > MIN_KURTOSIS:
        return "heavy", f"{ends}, kurtosis {tails:.0f} beyond a normal's"
    return "number", ends
