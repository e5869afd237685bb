"""The HTML report of a fit."""

from pygeco.reports.html import report

__all__ = ["report"]
