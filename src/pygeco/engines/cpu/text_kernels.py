"""Lines of numbers in text, as Matrix Market has them (numba, one thread, no GIL)."""

from __future__ import annotations

import numpy as np

from pygeco.engines.cpu.keeping import njit

MAX_DIGITS = 15  # of a number that float64 holds exactly
MAX_INDEX = 2**31 - 1  # what int32 holds
POWERS = 10.0 ** np.arange(23)  # those of ten that float64 holds exactly
_NEW_LINE, _POINT, _MINUS, _PLUS, _E = (np.uint8(ord(sign)) for sign in "\n.-+e")


@njit(inline="always")
def _skip_spaces(text, at):
    while at < len(text) and (text[at] == 32 or text[at] == 9 or text[at] == 13):
        at += 1
    return at


@njit(inline="always")
def _read_digits(text, at, number):
    """The number with the digits from `at` on behind its own, and where they end."""
    while at < len(text) and np.uint8(text[at] - 48) <= 9:
        number = number * 10 + (text[at] - 48)
        at += 1
    return number, at


@njit(no_cpython_wrapper=True)
def _read_number(text, at):
    """A decimal number and where it ends; −1 for the end where it is none, or a long one.

    Both the digits and the power of ten are exact, so that one rounding gives the nearest number.
    """
    negative = at < len(text) and text[at] == _MINUS
    first = at + negative
    number, at = _read_digits(text, first, np.int64(0))
    digits, scale = at - first, 0
    if at < len(text) and text[at] == _POINT:
        first = at + 1
        number, at = _read_digits(text, first, number)
        digits, scale = digits + at - first, first - at
    if digits == 0 or digits > MAX_DIGITS:
        return 0.0, -1
    if at < len(text) and (text[at] | 32) == _E:
        at += 1
        falls = at < len(text) and text[at] == _MINUS
        first = at + (at < len(text) and (text[at] == _MINUS or text[at] == _PLUS))
        power, at = _read_digits(text, first, np.int64(0))
        if at == first or at - first > 3:
            return 0.0, -1
        scale += -power if falls else power
    if abs(scale) >= len(POWERS):
        return 0.0, -1
    value = number * POWERS[scale] if scale >= 0 else number / POWERS[-scale]
    return (-value if negative else value), at


@njit(cache=True, nogil=True)
def parse_lines(text, whole, rows, cols, values):
    """Two whole numbers (if `whole`) and one number (unless `values` is empty) of each line.

    Whole numbers fit into int32. The count of lines, blank ones apart; −1 where a line is anything
    else, or may be.
    """
    at, count = 0, 0
    sides = 2 if whole else 0
    fields = sides + (1 if len(values) else 0)
    while True:
        at = _skip_spaces(text, at)
        if at == len(text):
            return count
        for field in range(fields if text[at] != _NEW_LINE else 0):
            begin = _skip_spaces(text, at)
            if field and begin == at:
                return -1
            if field < sides:
                number, at = _read_digits(text, begin, np.int64(0))
                if at == begin or at - begin > MAX_DIGITS or number > MAX_INDEX:
                    return -1
                if field:
                    cols[count] = number
                else:
                    rows[count] = number
            else:
                value, at = _read_number(text, begin)
                if at < 0:
                    return -1
                values[count] = value
            if field == fields - 1:
                count += 1
        at = _skip_spaces(text, at)
        if at < len(text):
            if text[at] != _NEW_LINE:
                return -1
            at += 1
