"""The columns of a table of ratings, wherever it was read: which they are, and what is in them."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pygeco.tables import Column, ColumnError, column_at, match_columns, not_a_number, pyarrow


class ReadError(ValueError):
    """A file that cannot be understood; the text says what to do about it."""


@contextmanager
def parsing(name: str) -> Iterator[None]:
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


def chosen_columns(
    names: list[str], given: dict[str, Column | None], *, named: bool = True
) -> list[int]:
    """A column for each role: as given, else by its name, else by position."""
    if len(names) < len(given):
        raise ColumnError(
            f"has {len(names)} column(s), too few for {' and '.join(given)}; check the separator."
        )
    fixed = {role: _given(role, it, names, named) for role, it in given.items() if it is not None}
    open_roles = [role for role in given if role not in fixed]
    found = {role: match_columns(names, [role]) for role in open_roles} if named else {}
    by_name = {role: at[0] for role, at in found.items() if at and at[0] not in fixed.values()}
    missing = [role for role in open_roles if role not in by_name]
    at = fixed | by_name
    if missing and named and (by_name or not len(given) <= len(names) <= len(given) + 1):
        shown = ", ".join(repr(name) for name in names[:12]) + (", …" if len(names) > 12 else "")
        raise ColumnError(
            f"no column looks like the {missing[0]}; name it with {missing[0]}= (on the command "
            f"line --{missing[0]}), one of {shown}."
        )
    free = [k for k in range(len(names)) if k not in at.values()]
    at |= dict(zip(missing, free, strict=False))
    places = [at[role] for role in given]
    if len(set(places)) < len(places):
        raise ColumnError(f"{' and '.join(given)} must be different columns.")
    return places


def _given(role: str, given: Column, names: list[str], named: bool) -> int:
    if isinstance(given, str) and given not in names and given.isdecimal():
        if 1 <= int(given) <= len(names):
            return int(given) - 1
        raise ColumnError(f"{role}: there is no column {given}; there are {len(names)}.")
    if isinstance(given, str) and not named and given not in names:
        raise ColumnError(
            f"{role}: there is no column {given!r}, for the file has no header; give a number from "
            f"1 to {len(names)}."
        )
    return column_at(role, given, names)


def whole_rows(table: Any) -> tuple[Any, int]:
    """The rows in which nothing is missing, and how many are not among them."""
    pc = pyarrow().compute
    lost = None
    for column in table.columns:
        missing = pc.is_null(column, nan_is_null=True)
        if _is_text(column):
            missing = pc.or_kleene(missing, pc.equal(column, ""))
        lost = missing if lost is None else pc.or_kleene(lost, missing)
    if not pc.any(lost).as_py():
        return table, 0
    whole = table.filter(pc.invert(lost))
    return whole, table.num_rows - whole.num_rows


def with_numbers(file: str, table: Any, name: str) -> Any:
    """The ratings as float32 where that changes none of them, else float64."""
    pa = pyarrow()
    column = table.column("rating")
    try:
        if _is_text(column):
            column = pa.compute.utf8_trim_whitespace(column)
            column = pa.compute.if_else(pa.compute.equal(column, ""), None, column)
        values = column.cast(pa.float64())
    except pa.ArrowException as error:
        raise ReadError(f"{file}: {not_a_number(column, name)}") from error
    kept = shortened(values.to_numpy())  # NaN where there is none
    return table.set_column(table.column_names.index("rating"), "rating", pa.array(kept))


def shortened(numbers: NDArray[np.float64]) -> NDArray[np.floating[Any]]:
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


def _is_text(column: Any) -> bool:
    types = pyarrow().types
    return bool(types.is_string(column.type) or types.is_large_string(column.type))
