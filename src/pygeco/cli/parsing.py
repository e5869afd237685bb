"""What options of `geco fit` say, from text to values."""

from __future__ import annotations

import re
from typing import Any

from pygeco.arrays.checks import check_rank
from pygeco.cli.console import EngineError


def parse_rank(text: str) -> int | str:
    if text == "auto":
        return text
    return check_rank(int(text) if text.isdecimal() else text, name="--rank", instead=" or auto")


def parse_penalty(text: str) -> Any:
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


def parse_engine(name: str) -> dict[str, Any]:
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


def parse_seconds(text: str | None) -> float | None:
    """90, 90s, 10m and 1h as seconds."""
    if text is None:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text.strip())
    if not found or float(found[1]) <= 0:
        raise ValueError(f"--time-limit: expected a time such as 90s, 10m or 1h, not {text!r}.")
    return float(found[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[found[2]]


def read_marks(texts: list[str] | None) -> Any:
    """The ratings that mean "no rating", as `missing_values` takes them."""
    if not texts:
        return "auto"
    if [text.lower() for text in texts] == ["none"]:
        return None
    try:
        return [float(text) for text in texts]
    except ValueError:
        raise ValueError(f"--missing: expected numbers or none, not {' '.join(texts)!r}.") from None
