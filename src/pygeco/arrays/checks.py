"""Whether a number that was given can be a rank."""

from __future__ import annotations

from typing import TypeGuard

import numpy as np


def is_whole(value: object) -> TypeGuard[int]:
    """Whether it is an integer of Python or NumPy; True and False are not."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def check_rank(
    rank: object,
    shape: tuple[int, int] | None = None,
    *,
    name: str = "rank",
    least: int = 1,
    instead: str = "",
    sides: tuple[str, str] = ("m", "n"),
) -> int:
    """The rank, if it is a whole number from `least` on that the shape, where given, allows.

    A sentence for any other calls it `name`, the sides of the shape `sides`, and adds `instead`,
    what else can be given.
    """
    if not is_whole(rank):
        raise ValueError(f"{name}: expected an integer{instead}, not {rank!r}.")
    if shape is not None and not least <= rank <= min(shape):
        raise ValueError(
            f"{name}: must be between {least} and {min(shape)} for data with "
            f"{sides[0]}={shape[0]} and {sides[1]}={shape[1]}, not {rank}."
        )
    if rank < least:
        words = f"expected an integer of at least {least}{instead}"
        raise ValueError(f"{name}: {words}, not {rank}.")
    return int(rank)
