"""What a fitted matrix completion does at cells: numbers behind the pictures and the report."""

from pygeco.diagnostics.cells import Cells, cells_of, counts, hosted, unseen
from pygeco.diagnostics.curves import Curve, curve
from pygeco.diagnostics.judging import (
    Bins,
    Judged,
    calibration,
    comparable,
    coverage,
    judge,
    observed,
    worst,
)
from pygeco.diagnostics.parts import Component, Names, components

__all__ = [
    "Bins",
    "Cells",
    "Component",
    "Curve",
    "Judged",
    "Names",
    "calibration",
    "cells_of",
    "comparable",
    "components",
    "counts",
    "coverage",
    "curve",
    "hosted",
    "judge",
    "observed",
    "unseen",
    "worst",
]
