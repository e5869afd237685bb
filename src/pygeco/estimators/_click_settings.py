"""Settings of clicks as a user gives them: "auto", a dict, an object, or nothing."""

from __future__ import annotations

from typing import Any

import numpy as np


def read_settings(name: str, given: Any, kind: Any) -> Any:
    if given is False or given is None:
        return None
    if given is True or given == "auto":
        return kind()
    if isinstance(given, kind):
        return given
    if isinstance(given, dict):
        try:
            return kind(**given)
        except TypeError:
            known = ", ".join(vars(kind()))
            raise ValueError(f"{name}: unknown settings in {given!r}; use {known}.") from None
    raise ValueError(f"{name}: expected 'auto', False, a dict or {kind.__name__}, not {given!r}.")


def check_share(share: Any) -> float | None:
    if share == "auto":
        return None
    is_number = isinstance(share, (int, float, np.number)) and not isinstance(share, bool)
    if is_number and 0 <= share <= 1:
        return float(share)
    raise ValueError(f"share: expected 'auto' or a number from 0 to 1, not {share!r}.")
