"""The log of a server: lines on standard error, without bodies and control characters."""

from __future__ import annotations

import logging

from pygeco.errors.visible_text import escape_controls


class _Lines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return escape_controls(super().format(record), keep="\n")


def set_up_logs() -> None:
    """Messages of the server and of uvicorn's errors, with the time."""
    handler = logging.StreamHandler()
    handler.setFormatter(_Lines("%(asctime)s %(process)d %(levelname)s %(message)s"))
    own = logging.getLogger("pygeco.serve")
    own.handlers, own.propagate = [handler], False
    own.setLevel(logging.INFO)
    others = logging.getLogger("uvicorn")
    others.handlers, others.propagate = [handler], False
    others.setLevel(logging.WARNING)
