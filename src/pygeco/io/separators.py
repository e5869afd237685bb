"""What parts the fields of a line: a sign, two colons, or spaces that align columns."""

from __future__ import annotations

import csv
import io

SEPARATORS = ("::", "\t", ",", ";", "|", " ")
ALIGNED = "  "  # stands for as many spaces as set the columns below each other


def find_separator(lines: list[str]) -> str | None:
    """The one that parts every line alike, into the most fields: "1;2;3,5" has decimal commas.

    Spaces come last, for there are some in titles and dates.
    """
    counts = {sign: [len(split_fields(line, sign)) for line in lines] for sign in SEPARATORS}
    steady = [s for s in SEPARATORS if min(counts[s]) == max(counts[s]) > 1]
    if "::" in steady:
        return "::"
    likely = steady or [sign for sign in SEPARATORS if max(counts[sign]) > 1]
    signs = [sign for sign in likely if sign != " "] or likely
    best = max(signs, key=lambda sign: max(counts[sign]), default=None)
    return ALIGNED if best == " " and _are_aligned(lines) else best


def _are_aligned(lines: list[str]) -> bool:
    """Whether spaces in a row are no empty fields: without them all lines have as many fields, and
    with them they have not, or are empty at the same places.
    """
    if any('"' in line for line in lines) or not any("  " in f" {line}" for line in lines):
        return False
    parts = [line.split(" ") for line in lines]
    gaps = {tuple(k for k, part in enumerate(row) if not part) for row in parts}
    is_even = len({len(line.split()) for line in lines}) == 1 < len(lines[0].split())
    return is_even and (len(gaps) == 1 or len(set(map(len, parts))) > 1)


def split_fields(line: str, separator: str) -> list[str]:
    """The fields of a line, without spaces around them."""
    if separator == "::":
        return line.split("::")
    if separator == ALIGNED:
        return line.split()
    rows = csv.reader(io.StringIO(line, newline=""), delimiter=separator)  # a field may have lines
    return [field.strip() for field in next(rows, [])]
