"""Text that is no list of ratings: matrices, lists of clicks, pairs; said in a sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest

from pygeco.errors import ColumnError, ReadError
from pygeco.io.column_names import find_role
from pygeco.io.delimited import Sniffed, is_number
from pygeco.io.headers import MISSING, has_names
from pygeco.io.tables import Column
from pygeco.io.times import are_moments

# From here on a file of numbers is a matrix rather than ratings with times and the like.
MATRIX_COLUMNS = 8
# With fewer, from here on, it is one if its first two columns repeat in the first lines.
MIN_MATRIX_COLUMNS = 5


def has_header(text: Sniffed, given: Mapping[str, Column | None]) -> bool:
    """Whether a first line without numbers names the columns.

    A line of ratings has a number, unless it is missing. Lines of pairs or of titles may have none:
    there the first is a header if a name of it is known or was given, or stands above numbers.
    """
    if len(text.lines) < 2:
        return True
    if any(find_role(text.names, role) is not None for role in given):
        return True
    if any(isinstance(it, str) and not it.isdecimal() for it in given.values()):
        return True
    columns = zip(*text.lines, strict=False)
    above = [name for name, *fields in columns if _are_numbers(fields)]
    is_named = any(name not in MISSING for name in above)
    return is_named or ("rating" in given and not above)


def _are_numbers(fields: Sequence[str]) -> bool:
    """Whether all that is known of a column is numbers."""
    known = [field for field in fields if field not in MISSING]
    return bool(known) and all(map(is_number, known))


def find_moments(text: Sniffed | None) -> list[int]:
    """The columns behind the second that hold times, by the first lines of a text without names.

    They are no ratings, and pairs of ids beside them are clicks.
    """
    if text is None or text.header:
        return []
    columns = list(zip(*text.lines, strict=False))
    return [k for k in range(2, len(columns)) if are_moments(columns[k])]


def find_gaps(text: Sniffed | None) -> list[int]:
    """The columns that are empty, as between two tabs or behind the last column of a spreadsheet,
    by the first lines.
    """
    columns = [] if text is None or len(text.lines) < 2 else zip_longest(*text.lines)
    return [k for k, column in enumerate(columns) if not any(column)]


def check_shape(name: str, text: Sniffed, given: Mapping[str, Column | None]) -> None:
    """Refuse a matrix, a list of clicks and pairs where ratings are asked for."""
    if "rating" not in given or any(it is not None for it in given.values()):
        return
    rows = text.lines[1:] if text.header else text.lines
    numeric = bool(rows) and all(is_number(field) for row in rows for field in row if field)
    if is_list_of_clicks(text):
        shown = sorted({len(row) for row in rows})
        raise ReadError(
            f"{name} has lines of {shown[0]} to {shown[-1]} numbers, as lists of clicks have "
            "(user item item …); read them by read_click_lists, or fit them with geco fit "
            "--implicit."
        )
    times = find_moments(text)
    if len(text.names) == 2 + len(times):
        beside = f", of which column {times[0] + 1} holds times" if times else ""
        raise ColumnError(
            f"{name}: has {len(text.names)} column(s){beside}, too few for user and item and "
            "rating; pairs alone are clicks: fit them with ImplicitCompletion or geco fit "
            "--implicit, add a column of ratings, or check the separator."
        )
    is_pivot = not text.header and has_names(text.lines)  # numbers as names are those of items
    if is_pivot or (numeric and _is_matrix(text, rows)):
        what = (
            "numbers as names of its columns" if is_pivot else f"{len(text.names)} numbers a line"
        )
        raise ReadError(
            f"{name} looks like a matrix, {what}, not like a list of "
            "user, item and rating; read it as a matrix, one row a user, with matrix=True (on the "
            "command line --matrix), or name the columns with user=, item= and rating= (--user, "
            "--item, --rating)."
        )


def is_list_of_clicks(text: Sniffed) -> bool:
    """Whether lines are lists of numbers, of several lengths: `user item item …`."""
    if text.header or len({len(row) for row in text.lines}) < 2:
        return False
    return all(is_number(field) for row in text.lines for field in row if field)


def _is_matrix(text: Sniffed, rows: list[list[str]]) -> bool:
    if any(find_role(text.names, role) is not None for role in ("user", "item", "rating")):
        return False
    full = len(text.names) - len(find_gaps(text))
    if full >= MATRIX_COLUMNS:
        return True
    pairs = {(row[0], row[1]) for row in rows if len(row) > 1}
    return full >= MIN_MATRIX_COLUMNS and len(pairs) < len(rows)
