"""Errors and warnings, and how text from data is shown in what is said about it.

Every error is a ValueError, but for `ClusterError`; each names what was wrong and what to do.
"""

from pygeco.errors.error_classes import (
    ClusterError,
    ColumnError,
    MissingValueError,
    ModelFileError,
    ReadError,
    RepeatedCellError,
)
from pygeco.errors.warning_classes import (
    AttributeWarning,
    ClicksWarning,
    ColumnWarning,
    UnknownIdWarning,
    WorkerLostWarning,
)

__all__ = [
    "AttributeWarning",
    "ClicksWarning",
    "ClusterError",
    "ColumnError",
    "ColumnWarning",
    "MissingValueError",
    "ModelFileError",
    "ReadError",
    "RepeatedCellError",
    "UnknownIdWarning",
    "WorkerLostWarning",
]
