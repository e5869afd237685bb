"""What a fitted matrix completion does at cells: numbers behind the pictures and the report."""

from pygeco.diagnostics.attribute_effects import AttributeEffects, GroupEffect, LevelEffect
from pygeco.diagnostics.baselines import (
    Group,
    Lists,
    Rule,
    find_typical_rows,
    judge_lists,
    measure_error_by_activity,
    predict_by_rules,
)
from pygeco.diagnostics.cells import (
    Cells,
    bring_to_host,
    count_by_column,
    find_cells,
    find_held_out_cells,
    find_unseen_cells,
)
from pygeco.diagnostics.clicks import (
    ClickLists,
    LongTail,
    find_chosen_ndcg,
    judge_clicks,
    measure_long_tail,
    measure_popularity,
)
from pygeco.diagnostics.curves import Curve, measure_curve
from pygeco.diagnostics.imputation import FilledColumn, summarize_columns
from pygeco.diagnostics.judging import (
    Bins,
    Judged,
    describe_scale,
    find_worst,
    has_common_scale,
    judge,
    measure_calibration,
    measure_coverage,
    to_data_scale,
)
from pygeco.diagnostics.parts import Component, Names, find_components
from pygeco.diagnostics.values import Spread, count_values, find_data_warnings

__all__ = [
    "AttributeEffects",
    "Bins",
    "Cells",
    "ClickLists",
    "Component",
    "Curve",
    "FilledColumn",
    "Group",
    "GroupEffect",
    "Judged",
    "LevelEffect",
    "Lists",
    "LongTail",
    "Names",
    "Rule",
    "Spread",
    "bring_to_host",
    "count_by_column",
    "count_values",
    "describe_scale",
    "find_cells",
    "find_chosen_ndcg",
    "find_components",
    "find_data_warnings",
    "find_held_out_cells",
    "find_typical_rows",
    "find_unseen_cells",
    "find_worst",
    "has_common_scale",
    "judge",
    "judge_clicks",
    "judge_lists",
    "measure_calibration",
    "measure_coverage",
    "measure_curve",
    "measure_error_by_activity",
    "measure_long_tail",
    "measure_popularity",
    "predict_by_rules",
    "summarize_columns",
    "to_data_scale",
]
