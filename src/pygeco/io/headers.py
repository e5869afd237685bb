"""Whether the first line of a table in text names its columns: numbers may be names too."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from pygeco.io.column_names import find_role, plain_name
from pygeco.io.delimited import is_number

MISSING = ["", "NA", "N/A", "NaN", "nan", "NAN", "null", "NULL", "None", "?", "-", r"\N"]
YEARS = range(1000, 3000)
MIN_YEARS = 3  # in a row, in equal steps, to be names of columns
MIN_IN_ORDER = 5  # numbers that increase in a line above ids in no order: one line in 120 does
MIN_FIELDS = 3  # of a line whose numbers are names because they lie far from those below

Rows = Sequence[Sequence[str]]


def has_names(rows: Rows) -> bool:
    """Whether the first of these rows names the columns: no number is in it, or numbers are names.

    They are where the first field is empty and they count the columns, or all of them do; where
    they are years; where it
    is a text above numbers, or says "user id" or the like; where it is empty above other ids, and
    they increase, as both do in a pivot table; and where they are whole and lie far from all that
    is below. A line of texts with a gap may be data whose cell is missing.
    """
    first, below = rows[0], rows[1:]
    known = [field for field in first if field not in MISSING]
    numbers = [field for field in known if is_number(field)]
    if not numbers:
        return bool(known) and (len(known) == len(first) or _are_names(first, below))
    corner, names = first[0], first[1:]
    if len(set(first)) < len(first) or any(name in MISSING for name in names):
        return False
    ids = [row[0] for row in below if row]
    is_index = "" not in ids and len(set(ids)) == len(ids)
    if corner == "" and is_index and list(names) == [str(k) for k in range(len(names))]:
        return True
    if _count_columns(first, below):
        return True
    if _are_years(numbers) and (corner == "" or len(numbers) < len(known)):
        return True
    if corner == "":
        in_order = _increase(ids) or not all(map(is_number, ids)) or len(names) >= MIN_IN_ORDER
        return is_index and ((in_order and _increase(names)) or _lie_far(first, below))
    if corner not in MISSING and not is_number(corner):
        if _is_id(corner, names):
            return True
        given = [field for field in ids if field not in MISSING]
        if given and all(is_number(field) for field in given):
            return True
    return corner not in MISSING and _lie_far(first, below)


def _are_names(first: Sequence[str], below: Rows) -> bool:
    """Whether texts beside gaps are names: one stands above numbers, or there is but an empty
    corner and none is found again below itself.
    """
    columns = [(name, [row[k] for row in below if k < len(row)]) for k, name in enumerate(first)]
    for name, fields in columns:
        known = [field for field in fields if field not in MISSING]
        if name not in MISSING and known and all(map(is_number, known)):
            return True
    return all(
        name == "" if k == 0 else name not in MISSING and name not in fields
        for k, (name, fields) in enumerate(columns)
    )


def _is_id(corner: str, names: Sequence[str]) -> bool:
    """Whether a text is the name of ids, and not a first row's own: a word such as "student" may be
    either, and is a name where the numbers beside it increase.
    """
    plain = plain_name(corner)
    if len(plain) < 2 or all(find_role([corner], role) is None for role in ("user", "item")):
        return False
    return plain.endswith(("id", "user", "item")) or _increase(names)


def _count_columns(first: Sequence[str], below: Rows) -> bool:
    """Whether the fields are 0, 1, 2, … or 1, 2, 3, …, as of frames that have no names, written
    without their index: above numbers all of which have decimals, or, of many columns, above lines
    of which none goes on so.
    """
    if not any(list(first) == [str(k + one) for k in range(len(first))] for one in (0, 1)):
        return False
    numbers = [field for row in below for field in row if field and is_number(field)]
    if len(first) > 1 and numbers and not any(x.lstrip("+-").isdecimal() for x in numbers):
        return True
    return len(first) >= MIN_IN_ORDER and bool(numbers) and not any(map(_is_in_steps, below))


def _is_in_steps(row: Sequence[str]) -> bool:
    """Whether these are numbers in equal steps, as in tables made of ranges."""
    if not all(map(is_number, row)):
        return False
    steps = {_number(b) - _number(a) for a, b in pairwise(row)}
    return len(steps) == 1


def _are_years(numbers: Sequence[str]) -> bool:
    """Whether these are years, in equal steps."""
    if len(numbers) < MIN_YEARS or not all(field.isdecimal() for field in numbers):
        return False
    years = [int(field) for field in numbers]
    step = years[1] - years[0]
    in_steps = step > 0 and years == [years[0] + k * step for k in range(len(years))]
    return in_steps and years[0] in YEARS and years[-1] in YEARS


def _increase(names: Sequence[str]) -> bool:
    """Whether these are whole numbers, from the least to the greatest."""
    if not all(is_number(name) and _number(name).is_integer() for name in names):
        return False
    found = [_number(name) for name in names]
    return found == sorted(found)


def _lie_far(first: Sequence[str], below: Rows) -> bool:
    """Whether the numbers of a line are codes with zeros before them, and none below them is; or
    farther from all numbers below than those are from each other.
    """
    places = [k for k, field in enumerate(first) if is_number(field)]
    names = [first[k] for k in places]
    if len(first) < MIN_FIELDS or not all(name.isdecimal() for name in names):
        return False
    fields = [row[k] for row in below for k in places if k < len(row)]
    values = [_number(field) for field in fields if field not in MISSING and is_number(field)]
    values = [value for value in values if math.isfinite(value)]
    if any(map(_is_padded, names)) and len({len(name) for name in names}) == 1:
        return bool(values) and not any(map(_is_padded, fields))
    if len(below) < 2 or not values or min(values) == max(values):
        return False
    low, high = min(values), max(values)
    return all(max(low - float(name), float(name) - high) > high - low for name in names)


def _is_padded(field: str) -> bool:
    return len(field) > 1 and field[0] == "0" and field.isdecimal()


def _number(field: str) -> float:
    return float(field.replace(",", ".", 1))
