"""What time says in a fit: how long the periods are, and by how much they move predictions."""

from __future__ import annotations

from typing import NamedTuple

from pygeco.diagnostics.completion import Completion

EPOCH = 1e8  # times from here on are seconds since 1970
UNITS = ((86_400.0, "day"), (3_600.0, "hour"), (60.0, "minute"), (1.0, "second"))


class TimeEffect(NamedTuple):
    """Offsets of one side's lines for periods of one length.

    Attributes
    ----------
    side : "row" or "column"
        Whose they are.
    width : float
        The length of a period, in seconds or in what the times count.
    length : str
        The same in words.
    deviation : float
        The standard deviation of the offsets, in units of the data.
    pairs : int
        The pairs of line and period that have cells.
    """

    side: str
    width: float
    length: str
    deviation: float
    pairs: int


def list_time_effects(model: Completion) -> list[TimeEffect]:
    """List what time says, shortest periods first.

    Parameters
    ----------
    model : MatrixCompletion
        A fitted model.

    Returns
    -------
    list of TimeEffect
        Empty where time says nothing.
    """
    drift, posterior = model.model_.drift, model.posterior_
    if drift is None or posterior is None:
        return []
    return [
        TimeEffect(
            part.periods.side,
            part.periods.width,
            describe_length(part.periods.width, is_seconds=part.periods.origin >= EPOCH),
            posterior.scale * float(part.spread) ** 0.5,
            len(part.mean),
        )
        for part in drift.offsets
    ]


def describe_length(width: float, *, is_seconds: bool = True) -> str:
    """Say how long a period is.

    Parameters
    ----------
    width : float
        Its length.
    is_seconds : bool, default=True
        Whether that is in seconds.

    Returns
    -------
    str
    """
    if not is_seconds:
        return f"{width:.3g}"
    unit, name = next(((u, n) for u, n in UNITS if width >= 1.5 * u), UNITS[-1])
    count = max(1, round(width / unit))
    return f"{count:,} {name}{'s' if count > 1 else ''}"


def describe_time(effects: list[TimeEffect], kinds: tuple[str, str]) -> str:
    """Say in a sentence what time says.

    Parameters
    ----------
    effects : list of TimeEffect
        As `list_time_effects` gives them.
    kinds : tuple of two str
        Words for a row and a column.

    Returns
    -------
    str
    """
    said = []
    for side, kind in zip(("row", "column"), kinds, strict=True):
        own = [f"{e.deviation:.2g} in {e.length}" for e in effects if e.side == side]
        if own:
            said.append(f"{kind}s by {', '.join(own)}")
    return f"time moves {'; '.join(said)} (standard deviations)." if said else ""
