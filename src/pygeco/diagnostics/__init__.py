"""What a fitted matrix completion does at cells: numbers behind the pictures and the report."""

from pygeco.diagnostics.baselines import (
    Group,
    Lists,
    Rule,
    error_by_activity,
    judge_lists,
    simple_rules,
    typical_rows,
)
from pygeco.diagnostics.cells import Cells, cells_of, counts, held_out_cells, hosted, unseen
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
from pygeco.diagnostics.values import Spread, data_warnings, spread_of_values

__all__ = [
    "Bins",
    "Cells",
    "Component",
    "Curve",
    "Group",
    "Judged",
    "Lists",
    "Names",
    "Rule",
    "Spread",
    "calibration",
    "cells_of",
    "comparable",
    "components",
    "counts",
    "coverage",
    "curve",
    "data_warnings",
    "error_by_activity",
    "held_out_cells",
    "hosted",
    "judge",
    "judge_lists",
    "observed",
    "simple_rules",
    "spread_of_values",
    "typical_rows",
    "unseen",
    "worst",
]
