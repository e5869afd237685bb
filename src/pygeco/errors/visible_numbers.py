"""Numbers as people read them: with as many places as their size asks for."""

from __future__ import annotations

import math
from collections.abc import Iterable

MAX_PLACES_BELOW, MAX_DIGITS = 6, 12  # of numbers that are not written with powers of ten


def find_format(numbers: Iterable[float], digits: int = 3) -> str:
    """Find a format in which numbers that stand beside each other can be told apart.

    Parameters
    ----------
    numbers : iterable of float
        What is to be shown; those that are not finite are not counted.
    digits : int, default=3
        Decimal places of usual numbers. Where all are below a tenth there are more, and fewer from
        ten thousand on.

    Returns
    -------
    str
        A format, as `format` takes it.

    Examples
    --------
    >>> from pygeco.errors.visible_numbers import find_format
    >>> [format(x, find_format([x])) for x in (3.14159, 0.00123456, 5e-9, 1234567.8)]
    ['3.142', '0.001235', '5.000e-09', '1,234,568']
    """
    largest = max((abs(x) for x in numbers if math.isfinite(x)), default=0.0)
    power = math.floor(math.log10(largest)) if largest else 0
    if not -MAX_PLACES_BELOW <= power < MAX_DIGITS:
        return f".{digits}e"
    if power < 0:
        return f".{max(digits, digits - 1 - power)}f"
    return f",.{max(0, digits + 2 - power)}f" if power > 3 else f".{digits}f"
