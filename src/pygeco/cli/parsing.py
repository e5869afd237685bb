"""What options of `geco fit` say, from text to values."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from pygeco.cli.console import EngineError


class Cluster(NamedTuple):
    """Where Dask's scheduler is, or how many workers to start here."""

    scheduler: str | None
    workers: int | None


def rank_of(text: str) -> int | str:
    if text == "auto":
        return text
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"--rank: expected auto or a whole number of at least 1, not {text!r}.")
    return int(text)


def penalty_of(text: str) -> Any:
    from pygeco import Ridge, Trace

    kind, _, alpha = text.partition(":")
    if kind in ("auto", "evidence") and not alpha:
        return kind
    if kind == "none" and not alpha:
        return None
    try:
        if kind == "ridge":
            return Ridge(float(alpha))
        if kind == "trace":
            return Trace(float(alpha))
    except ValueError:
        pass
    raise ValueError(
        f"--penalty: expected auto, evidence, none, ridge:ALPHA or trace:ALPHA, not {text!r}."
    )


def engine_of(name: str) -> dict[str, Any]:
    """Settings for the engine; a sentence where it cannot be had."""
    from pygeco.engines import choose_engine

    if name == "cpu":
        return {}
    try:
        choose_engine(name)
    except (ImportError, RuntimeError) as error:
        why = str(error).rstrip(".")
        raise EngineError(
            f"--engine: {name} cannot be used here ({why}); use --engine cpu."
        ) from error
    return {"engine": name}


def cluster_of(engine: str, scheduler: str | None, workers: int | None) -> Cluster | None:
    given = [
        name for name, it in (("scheduler", scheduler), ("workers", workers)) if it is not None
    ]
    if engine != "dask":
        if given:
            raise ValueError(f"--{given[0]}: goes with --engine dask.")
        return None
    if len(given) == 2:
        raise ValueError("--workers: the scheduler has workers of its own; leave it out.")
    return Cluster(scheduler, workers)


def seconds(text: str) -> float:
    """90, 90s, 10m and 1h as seconds."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text.strip())
    if not found or float(found[1]) <= 0:
        raise ValueError(f"--time-limit: expected a time such as 90s, 10m or 1h, not {text!r}.")
    return float(found[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[found[2]]


def marks_of(texts: list[str] | None) -> Any:
    """The ratings that mean "no rating", as `missing_values` takes them."""
    if not texts:
        return "auto"
    if [text.lower() for text in texts] == ["none"]:
        return None
    try:
        return [float(text) for text in texts]
    except ValueError:
        raise ValueError(f"--missing: expected numbers or none, not {' '.join(texts)!r}.") from None
