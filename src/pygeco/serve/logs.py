"""The log of a server: lines on standard error, without bodies and control characters."""

from __future__ import annotations

import logging
import logging.config

from pygeco.errors.visible_text import escape_controls


class _Lines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return escape_controls(super().format(record), keep="\n")


def set_up_logs() -> None:
    """Messages of the server and of uvicorn's errors, with the time."""
    form = {"()": _Lines, "fmt": "%(asctime)s %(process)d %(levelname)s %(message)s"}
    levels = {"pygeco.serve": "INFO", "uvicorn": "WARNING"}
    loggers = {
        name: {"level": level, "handlers": ["lines"], "propagate": False}
        for name, level in levels.items()
    }
    logging.config.dictConfig(
        {
            "version": 1,
            "disable_existing_loggers": False,
            "formatters": {"lines": form},
            "handlers": {"lines": {"class": "logging.StreamHandler", "formatter": "lines"}},
            "loggers": loggers,
        }
    )
