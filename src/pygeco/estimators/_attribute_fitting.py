"""Which coder each column of attributes gets, and which columns are left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from pygeco.errors import AttributeWarning
from pygeco.errors.telling import warn_caller
from pygeco.estimators._attribute_coding import (
    Block,
    Coder,
    Group,
    LevelCoder,
    MatrixCoder,
    NumberCoder,
    parse_groups,
)
from pygeco.estimators._low_rank_filling import measure_columns
from pygeco.io.attribute_columns import Numbers, Texts, Words, as_numbers, as_texts, as_words
from pygeco.io.attribute_tables import MIN_DISTINCT_ROWS, AttributeTable
from pygeco.io.column_names import list_names
from pygeco.io.tables import find_column

MAX_LEVELS = 5_000  # more of them are identifiers: the rows of each are too few to learn from
MAX_DISTINCT_SHARE = 0.9  # distinct levels a known one, above which they are identifiers
MANY_LEVELS = 100  # from here on a warning tells of levels of few rows
MIN_ROWS_PER_LEVEL = 5  # fewer say next to nothing of a level
IDENTIFIER, CONSTANT, EMPTY = "identifier", "constant", "no known value"


class Wishes(NamedTuple):
    """The kinds that a user gave to columns, and the sign between the words of a list."""

    kinds: dict[str, str]
    separator: str

    @classmethod
    def of(cls, encoder: Any, names: list[str]) -> Wishes:
        """From the parameters categories, numbers and lists of an encoder."""
        kinds: dict[str, str] = {}
        called = {"categories": "category", "numbers": "number", "lists": "list"}
        for argument, kind in called.items():
            wanted = getattr(encoder, argument)
            for one in [wanted] if isinstance(wanted, str) else wanted:
                name = names[find_column(argument, one, names)]
                if kinds.setdefault(name, kind) != kind:
                    raise ValueError(
                        f"{argument}: column {name!r} is also to be a {kinds[name]}; name it once."
                    )
        separator = encoder.separator
        if not isinstance(separator, str) or not separator:
            raise ValueError(f"separator: expected a text such as '|', not {separator!r}.")
        return cls(kinds, separator)


def fit_column(table: AttributeTable, name: str, wishes: Wishes) -> Coder | str:
    """The coder of a column, or why it is left out."""
    wish = wishes.kinds.get(name)
    column = table.read(name, as_text=wish == "category")
    if wish == "number" or (wish is None and isinstance(column, Numbers)):
        numbers = as_numbers(column, name)
        if np.isnan(numbers.values).all():
            return EMPTY
        return NumberCoder.fit(name, numbers) or CONSTANT
    kind = wish or ("list" if _holds_lists(column, wishes.separator) else "category")
    words = read_words(table, name, kind, wishes.separator)
    levels = len(np.unique(words.codes))
    if not levels:
        return EMPTY
    if levels == 1 and not words.missing.any() and len(words.codes) == table.rows:
        return CONSTANT
    if wish is None and is_identifier(levels, len(words.codes)):
        return IDENTIFIER
    if wish is None and kind == "category":
        warn_rare_levels(name, levels, len(words.codes))
    return LevelCoder.fit(name, kind, words)


def warn_rare_levels(name: str, levels: int, known: int) -> None:
    """A warning where a column has many levels of few rows each, as codes of places have."""
    if levels > MANY_LEVELS and known < MIN_ROWS_PER_LEVEL * levels:
        warn_caller(
            f"X: column {name!r} has {levels:,} levels for {known:,} rows, from which little can "
            "be learned; shorten them (a code of a place to its first signs) or leave the column "
            "out, or name it in categories= to keep it as it is.",
            AttributeWarning,
        )


def read_words(table: AttributeTable, name: str, kind: str, separator: str) -> Words:
    """A column as levels, one a row for a category, any number for a list."""
    column = table.read(name, as_text=kind == "category")
    if kind == "category":
        column = as_texts(column, name)
    return as_words(column, name, separator if kind == "list" else None)


def is_identifier(levels: int, known: int) -> bool:
    """Whether there are too many levels, or about one for each row that is known."""
    return levels > MAX_LEVELS or (
        known >= MIN_DISTINCT_ROWS and levels > MAX_DISTINCT_SHARE * known
    )


def _holds_lists(column: Any, separator: str) -> bool:
    if isinstance(column, Texts):
        return any(separator in level for level in column.levels)
    return isinstance(column, Words)


def encode_column(coder: Coder, table: AttributeTable, separator: str) -> Block:
    """A column of another table, read as in the fit."""
    if isinstance(coder, NumberCoder):
        return coder.encode(as_numbers(table.read(coder.name), coder.name))
    assert isinstance(coder, LevelCoder)
    return coder.encode(read_words(table, coder.name, coder.kind, separator))


def fit_matrix(X: Any, names: Iterable[str], groups: Any) -> tuple[MatrixCoder, dict[str, str]]:
    """The coder of a matrix, and the columns that are left out of it."""
    n_columns = X.shape[1]
    if sp.issparse(X):
        pairs = [("attributes", n_columns)] if groups is None else parse_groups(groups, n_columns)
        found = tuple(Group(name, size, "matrix") for name, size in pairs)
        called = None if groups is None else tuple(_name_columns(pairs))
        return MatrixCoder(found, called, None, None, None), {}
    pairs = [(name, 1) for name in names] if groups is None else parse_groups(groups, n_columns)
    called = tuple(_name_columns(pairs))
    known = ~np.isnan(X)
    mean, scale, varies = measure_columns(X, known)
    owner = np.repeat(np.arange(len(pairs)), [size for _, size in pairs])
    sizes = np.bincount(owner[varies], minlength=len(pairs))
    found = tuple(
        Group(name, int(size), "number")
        for (name, _), size in zip(pairs, sizes, strict=True)
        if size
    )
    kept = np.flatnonzero(varies)
    some = known.any(axis=0)
    dropped = {called[k]: CONSTANT if some[k] else EMPTY for k in np.flatnonzero(~varies)}
    names_kept = tuple(called[k] for k in kept)
    return MatrixCoder(found, names_kept, kept, mean[kept], scale[kept]), dropped


def _name_columns(pairs: list[tuple[str, int]]) -> list[str]:
    return [name if size == 1 else f"{name}_{k}" for name, size in pairs for k in range(size)]


def warn_identifiers(dropped: dict[str, str]) -> None:
    """One warning for all columns that are left out as identifiers."""
    names = [name for name, reason in dropped.items() if reason == IDENTIFIER]
    if names:
        verb, what = ("is", "an identifier") if len(names) == 1 else ("are", "identifiers")
        warn_caller(
            f"X: {list_names(names)} {verb} left out as {what}, with about one level a row or more "
            f"than {MAX_LEVELS:,}; name a column in categories= to keep it.",
            AttributeWarning,
        )


def warn_unknown(blocks: list[Block]) -> None:
    """One warning for all levels that the fit did not have."""
    unknown = [block.unknown for block in blocks if block.unknown is not None]
    if unknown:
        column, rows, level = unknown[0]
        others = [f"{one.column!r}" for one in unknown[1:]]
        also = f", and in {', '.join(others)}" if others else ""
        warn_caller(
            f"X: {rows:,} row(s) have levels of column {column!r} that the fit did not have, such "
            f"as {level!r}{also}; they count as the average of the fit.",
            AttributeWarning,
        )


def refuse_nothing_left(dropped: dict[str, str], rows: int) -> None:
    """A sentence about a table without an attribute."""
    if not dropped:
        raise ValueError("X: has no column of attributes; give one besides the ids.")
    shown = ", ".join(f"{name!r} ({reason})" for name, reason in list(dropped.items())[:5])
    raise ValueError(
        f"X: no column is left as an attribute with n_samples={rows}: {shown}; "
        "give a column that varies."
    )


def refuse_table_settings(id_column: object, **named: Sequence[str]) -> None:
    """A sentence about settings that only a table can have."""
    for argument, names in named.items():
        if len(names):
            raise ValueError(f"{argument}: the columns of a matrix are numbers; give a table.")
    if id_column not in ("auto", None):
        raise ValueError("id_column: a matrix has none, its rows are in order; give a table.")


def check_columns_are_there(table: AttributeTable, groups: tuple[Group, ...]) -> None:
    """Raise where a table lacks a column that the fit had."""
    lost = [group.name for group in groups if group.name not in table.columns]
    if lost:
        raise ValueError(
            f"X: lacks {list_names(lost)}, which the fit had; its columns are "
            f"{list_names(table.names)}."
        )
