"""What the values of a table look like: marks for "no rating" among them, or clicks, all alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.kinds import host
from pygeco.errors import MissingValueError, StrayValueWarning
from pygeco.errors.telling import warn_caller

# Numbers that stand for "no value" in published files.
MISSING_CODES = (0, -1, -9, -99, -999, -9999, 9, 77, 88, 97, 98, 99, 777, 888, 999, 9999)
SAMPLE_SIZE = 1 << 20  # values looked at: a mark on a thousandth of them is seen
MIN_MARK_SHARE = 1e-3  # of the values, for a number to be a mark and not one odd value
MIN_LEVELS = 3  # of a scale, the mark aside: labels −1, 1 and 0, 1 have none
MIN_LEVELS_ABOVE_ZERO = 5  # of a scale whose only negative number is −1: −1, 0, 1, 2 may be a scale
MAX_LEVELS = 100  # of a scale; more are measurements
MAX_RATING_LEVELS = 25  # of a scale on which a heap of zeros is odd
MIN_CLICKS = 10  # values, all the same: fewer may be so by chance
MIN_TAIL_RATIO = 10  # of the largest value to the median one, on no scale of ratings so large
MIN_GAP_STEPS = 1.5  # steps of the scale between a mark and the scale, at least
MIN_SPIKE_RATIO = (
    10  # times as many zeros as ratings beside them: 400 in Book-Crossing, up to 3 on true scales
)
MIN_EDGE_RATIO = 10  # times as many values at the end of a scale as beyond: a tail thins out before


class Mark(NamedTuple):
    """A number that stands apart from the scale of the others."""

    value: float
    share: float
    low: float
    high: float


def sample_values(values: Any) -> NDArray[Any]:
    """Some of the values, spread evenly over all, on the host and without NaN."""
    flat = values if values.ndim == 1 else values.reshape(-1)  # codes stay codes
    some = host(flat[:: max(1, len(flat) // SAMPLE_SIZE)])
    return some[~np.isnan(some)] if some.dtype.kind == "f" else some


def find_mark(values: NDArray[Any], *, zeros_count: bool = False) -> Mark | None:
    """The least or the greatest value, if it is a usual code and stands apart; None if not.

    `zeros_count` says that a zero is a value like any other, as in counts.
    """
    if not len(values):
        return None
    for code in (float(values.min()), float(values.max())):
        if code not in MISSING_CODES or (code == 0 and zeros_count):
            continue
        levels, counts = np.unique(values.astype(float), return_counts=True)
        rest = levels != code
        share = counts[~rest][0] / len(values)
        if share >= MIN_MARK_SHARE and counts[~rest][0] > 1 and rest.sum() >= MIN_LEVELS:
            mark = Mark(code, float(share), float(levels[rest][0]), float(levels[rest][-1]))
            if _stands_apart(mark, levels[rest], counts[rest], int(counts[~rest][0])):
                return mark
    return None


def find_stray(values: NDArray[Any], *, zeros_count: bool = False) -> Mark | None:
    """The least or the greatest value, where few lie farther beyond a scale than it is long, or
    below zero and apart from it; None where there is no scale of a few levels.

    A tail is none: its ends are rare, too.
    """
    levels, counts = np.unique(values.astype(float), return_counts=True)
    if not MIN_LEVELS < len(levels) <= MAX_LEVELS:
        return None
    for end, order in ((levels[-1], slice(None)), (levels[0], slice(None, None, -1))):
        near, many = levels[order], counts[order]
        cut = int(np.argmax(np.abs(np.diff(near)))) + 1
        scale, beyond = near[:cut], int(many[cut:].sum())
        if len(scale) < MIN_LEVELS or (end == 0 and zeros_count):
            continue
        mark = Mark(float(end), beyond / len(values), float(scale.min()), float(scale.max()))
        gap = abs(near[cut] - scale[-1])
        is_apart = mark.value < 0 <= mark.low and len(scale) >= MIN_LEVELS_ABOVE_ZERO
        is_apart = is_apart and gap > MIN_GAP_STEPS * np.abs(np.diff(scale)).max()
        if (gap > np.ptp(scale) or is_apart) and many[cut - 1] >= MIN_EDGE_RATIO * beyond:
            return mark
    return None


def look_like_counts(values: NDArray[Any]) -> bool:
    """Whether values are whole and a few are far above the others: plays, not stars."""
    if len(values) < MIN_CLICKS or float(values.min()) < 0 or np.any(values != np.round(values)):
        return False
    median, most = float(np.median(values)), float(values.max())
    return most > MAX_LEVELS and most >= MIN_TAIL_RATIO * max(median, 1.0)


def _stands_apart(mark: Mark, levels: NDArray[Any], counts: NDArray[np.int64], marked: int) -> bool:
    """Whether a gap, a sign or a heap parts the mark from the other levels."""
    below = mark.value < mark.low
    gap = mark.low - mark.value if below else mark.value - mark.high
    beside = int(counts[0 if below else -1])
    scale = len(levels) <= MAX_LEVELS
    far = gap > (MIN_GAP_STEPS * np.diff(levels).max() if scale else levels[-1] - levels[0])
    if mark.value > 0:
        return bool(far and marked > beside)  # the last of a long tail is rarer than its neighbor
    if mark.value < 0:
        return bool(far or (mark.low >= 0 and len(levels) >= MIN_LEVELS_ABOVE_ZERO))
    heap = (
        len(levels) <= MAX_RATING_LEVELS
        and marked > MIN_SPIKE_RATIO * beside
        and beside < counts.max()
    )
    return bool((far and scale) or heap)


def parse_marks(missing_values: Any) -> tuple[float, ...]:
    """The numbers that `missing_values` names; none for "auto" and None."""
    if missing_values is None or isinstance(missing_values, str):
        if missing_values not in (None, "auto"):
            raise ValueError(
                "missing_values: expected 'auto', None, a number or several, not "
                f"{missing_values!r}."
            )
        return ()
    given = missing_values if isinstance(missing_values, Sequence) else np.ravel(missing_values)
    try:
        return tuple(float(one) for one in given)
    except (TypeError, ValueError):
        raise ValueError(
            f"missing_values: expected 'auto', None, a number or several, not {missing_values!r}."
        ) from None


def are_marks(values: Any, marks: tuple[float, ...]) -> Any:
    """Whether each value is one of the marks."""
    found = np.zeros_like(values, dtype=bool)
    for mark in marks:
        found = found | (values == mark)
    return found


def refuse_marks(values: NDArray[Any], missing_values: Any, *, zeros_count: bool = False) -> None:
    """An error where a mark is found that was neither named nor allowed, and a warning of values
    that are too rare to be one.
    """
    if missing_values is None or not len(values):
        return
    mark = find_mark(values, zeros_count=zeros_count)
    if mark is not None:
        raise MissingValueError(*mark)
    stray = find_stray(values, zeros_count=zeros_count)
    if stray is not None:
        warn_caller(tell_of_strays(stray), StrayValueWarning)


def tell_of_strays(stray: Mark) -> str:
    """A sentence about a few values far from all others."""
    return (
        f"X: {stray.value:g} is far from nearly all other values ({stray.low:g} to "
        f"{stray.high:g}), and a few such bend a fit; correct it, or pass missing_values="
        f"{stray.value:g} to leave it out, or missing_values=None to keep it."
    )


def are_clicks(values: NDArray[Any]) -> bool:
    """Whether there are many values, all the same."""
    return len(values) >= MIN_CLICKS and bool(values.min() == values.max())


def tell_of_clicks(value: float) -> str:
    """A sentence about values that are all the same."""
    return (
        f"X: every value is {value:g}, so these are clicks (who met what) and no ratings: values "
        "that do not differ tell nothing of taste; fit clicks with ImplicitCompletion (on the "
        "command line --implicit), or give ratings."
    )
