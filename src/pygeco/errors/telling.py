"""Warnings at the line that called: the user's own, however deep inside it is known."""

from __future__ import annotations

import sys
import warnings

CALLED = {"pygeco", "sklearn", "joblib"}  # what stands between the user's line and a warning


def warn_caller(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the innermost line outside of this package and of those that call it for the user."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and _module(frame.f_globals) in CALLED:
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)


def _module(names: dict[str, object]) -> str:
    return str(names.get("__name__")).partition(".")[0]
