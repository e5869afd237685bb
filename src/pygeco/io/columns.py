"""The columns of a table of ratings, wherever it was read: which they are, and what is in them."""

from __future__ import annotations

import errno
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pygeco.errors import ColumnError, ReadError
from pygeco.io.column_names import find_role, list_names
from pygeco.io.tables import Column, as_floats, describe_non_number, find_column, is_text, pyarrow
from pygeco.io.text_ids import drop_missing_words


@contextmanager
def explain_parse_errors(name: str) -> Iterator[None]:
    """What a parser of another package says of a file, as one sentence.

    Over a damaged file they raise anything, from BadZipFile to TokenError; so anything is caught
    but what the system says, and an extra that is missing.
    """
    try:
        yield
    except (ReadError, ImportError):
        raise
    except Exception as error:
        # EINVAL: it asks for a place before the start of the file.
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise
        told = str(error).strip().splitlines() or ["it is damaged"]
        raise ReadError(f"{name} cannot be read: {told[0].strip().rstrip('.')}.") from error


def choose_columns(
    names: list[str],
    given: dict[str, Column | None],
    *,
    named: bool = True,
    remembered: Mapping[str, str] | None = None,
    others: Collection[int] = (),
) -> list[int]:
    """A column for each role: as given, else as remembered from another file where this one has
    such a column, else by its name, else by position, which passes over `others`.
    """
    if len(names) < len(given):
        raise ColumnError(
            f"has {len(names)} column(s), too few for {' and '.join(given)}; check the separator."
        )
    at = {role: _find_given(role, it, names, named) for role, it in given.items() if it is not None}
    for role, name in (remembered or {}).items():
        known = name in names if named else name.isdecimal() and 1 <= int(name) <= len(names)
        if role in given and role not in at and known:
            at[role] = names.index(name) if named else int(name) - 1
    fixed = set(at)
    if named:
        found = {role: find_role(names, role) for role in given if role not in at}
        at |= {r: k for r, k in found.items() if k is not None and k not in at.values()}
    missing = [role for role in given if role not in at]
    free = [k for k in range(len(names)) if k not in at.values()]
    if named:
        free = [k for k in free if find_role([names[k]], "time") is None] or free
    free = [k for k in free if k not in others] or free
    if missing and named and not _is_clear(len(missing), len(free), set(at) - fixed):
        raise ColumnError(_ask_for(missing, names))
    at |= dict(zip(missing, free, strict=False))
    places = [at[role] for role in given]
    if len(set(places)) < len(places):
        raise ColumnError(f"{' and '.join(given)} must be different columns.")
    return places


def _is_clear(missing: int, free: int, by_name: set[str]) -> bool:
    """Whether position tells: one column is left for one role, or no name was known at all."""
    return missing == free == 1 or (not by_name and missing <= free <= missing + 1)


def _ask_for(missing: list[str], names: list[str]) -> str:
    """A sentence that names every role without a column, and how to give them."""
    them = "it" if len(missing) == 1 else "them"
    hint = "; clicks have none: fit them with ImplicitCompletion or geco fit --implicit"
    return (
        f"no column looks like the {' or the '.join(missing)}; name {them} with "
        f"{' and '.join(f'{role}=' for role in missing)} (on the command line "
        f"{' '.join(f'--{role}' for role in missing)}), of {list_names(names)}"
        f"{hint if missing == ['rating'] else ''}."
    )


def _find_given(role: str, given: Column, names: list[str], named: bool) -> int:
    if isinstance(given, str) and given not in names and given.isdecimal():
        if 1 <= int(given) <= len(names):
            return int(given) - 1
        raise ColumnError(f"{role}: there is no column {given}; there are {len(names)}.")
    if isinstance(given, str) and not named and given not in names:
        raise ColumnError(
            f"{role}: there is no column {given!r}, for the file has no header; give a number from "
            f"1 to {len(names)}."
        )
    return find_column(role, given, names)


def find_time_column(
    names: list[str],
    others: list[int],
    given: Column | None,
    named: bool,
    known: str | None,
    moments: Collection[int] = (),
) -> int | None:
    """The column of times: as given, else as another file had it, else by its name or, without
    names, the first one of `moments`; or None.
    """
    if given is not None:
        return _find_given("times", given, names, named)
    if known is not None and named and known in names:
        return names.index(known)
    if known is not None and not named and known.isdecimal() and int(known) <= len(names):
        return int(known) - 1
    if not named:
        return next((k for k in moments if k not in others), None)
    free = [k for k in range(len(names)) if k not in others]
    at = find_role([names[k] for k in free], "moment")
    return None if at is None else free[at]


def drop_incomplete_rows(table: Any, but: str = "") -> tuple[Any, int]:
    """The rows in which nothing is missing, one column apart, and how many are not among them."""
    pc, lost = pyarrow().compute, None
    for name, column in zip(table.column_names, table.columns, strict=True):
        if name == but:
            continue
        missing = pc.is_null(column, nan_is_null=True)
        if is_text(column):
            # A comparison with "" would make pyarrow import pandas, which takes longer.
            has_text = pc.binary_length(column).cast(pyarrow().bool_())
            missing = pc.or_kleene(missing, pc.invert(has_text))
        lost = missing if lost is None else pc.or_kleene(lost, missing)
    if not pc.any(lost).as_py():
        return table, 0
    whole = table.filter(pc.invert(lost))
    return whole, table.num_rows - whole.num_rows


def convert_ratings(file: str, table: Any, name: str) -> Any:
    """The ratings as float32 where that changes none of them, else float64."""
    pa = pyarrow()
    column = drop_missing_words(table.column("rating"))
    try:
        values = as_floats(column)
    except pa.ArrowException as error:
        raise ReadError(f"{file}: {describe_non_number(column, name)}") from error
    kept = shorten_floats(values.to_numpy())  # NaN where there is none
    return table.set_column(table.column_names.index("rating"), "rating", pa.array(kept))


def shorten_floats(numbers: NDArray[np.float64]) -> NDArray[np.floating[Any]]:
    """The numbers as float32, or as they are where that would change one; in blocks, for speed."""
    short = np.empty(len(numbers), np.float32)
    for at in range(0, len(numbers), 1 << 15):
        part = numbers[at : at + (1 << 15)]
        with np.errstate(over="ignore"):
            short[at : at + len(part)] = part
        changed = short[at : at + len(part)] != part
        if changed.any() and not np.isnan(part[changed]).all():
            return numbers
    return short
