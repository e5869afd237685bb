"""Forms of data that are neither a matrix nor a table, and what makes one of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import Any

from numpy.typing import NDArray

from pygeco.errors.visible_text import quote_id
from pygeco.io.column_names import list_names, match_columns
from pygeco.io.plain_texts import refuse_series
from pygeco.io.tables import is_number, list_columns

SIDES = ("user", "item")


def refuse_form(X: Any) -> None:
    """An error for dicts, lists of them, and what can be read once or in no order."""
    if isinstance(X, Mapping) and not hasattr(X, "tocoo"):  # a sparse matrix may be a dict
        raise ValueError("X: a dict is no table; pandas.DataFrame(X) makes one of its columns.")
    if isinstance(X, list) and X and isinstance(X[0], Mapping):
        raise ValueError("X: a list of dicts is no table; pandas.DataFrame(X) makes one of them.")
    if X is None or isinstance(X, (Set, Iterator)):
        raise ValueError(
            f"X: expected a matrix or a table of cells, not {_call(X)}; give a DataFrame "
            "of three columns, or a tuple (rows, cols, values)."
        )


def refuse_index(X: Any) -> None:
    """An error where the index of a pandas object has the ids, which no column has then."""
    refuse_series(X)
    levels = [str(name) for name in getattr(getattr(X, "index", None), "names", None) or ()]
    names = list_columns(X) if levels else []
    say_both = match_columns([*levels, *names], SIDES) is not None
    if (say_both and match_columns(names, SIDES) is None) or (len(levels) > 1 and len(names) <= 2):
        raise ValueError(
            f"X: the ids are in its index, {list_names(levels)}, where they do not count; pass "
            "X.reset_index(), or columns='matrix' if every column is one of the matrix."
        )


def refuse_words(table: NDArray[Any]) -> None:
    """An error where an array has texts that are no numbers, as ids are."""
    words = table.flat if table.dtype.kind in "OU" else ()
    word = next((x for x in words if isinstance(x, str) and not is_number(x)), None)
    if word is not None:
        raise ValueError(
            f"X: an array with text, such as {quote_id(word)}; pass columns=(0, 1, 2), or which of "
            "its columns are users, items and values, or a table with names."
        )


def _call(X: object) -> str:
    return "None" if X is None else f"a {type(X).__name__}"
