"""scikit-learn faces: validate, delegate, store."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pygeco.estimators.attributes import Attributes
from pygeco.estimators.cell_list import CellList, cells
from pygeco.estimators.click_choice import ClickChoice
from pygeco.estimators.completion import MatrixCompletion
from pygeco.estimators.evaluation import Evaluation, evaluate
from pygeco.estimators.feature_choice import FeatureChoice
from pygeco.estimators.implicit import ImplicitCompletion
from pygeco.estimators.imputer import LowRankImputer
from pygeco.estimators.list_evaluation import ListEvaluation
from pygeco.estimators.low_rank_classifier import LowRankClassifier
from pygeco.estimators.quadratic_classifier import QuadraticClassifier
from pygeco.estimators.quadratic_regressor import QuadraticRegressor
from pygeco.estimators.reduced_rank_regressor import ReducedRankRegressor
from pygeco.estimators.robust import RobustPCA
from pygeco.io.model_file import describe, load  # once the classes above are known to it

if TYPE_CHECKING:
    from pygeco.estimators.cell_splits import CellKFold, LeaveLastOut, RowHoldOut

__all__ = [
    "Attributes",
    "CellKFold",
    "CellList",
    "ClickChoice",
    "Evaluation",
    "FeatureChoice",
    "ImplicitCompletion",
    "LeaveLastOut",
    "ListEvaluation",
    "LowRankClassifier",
    "LowRankImputer",
    "MatrixCompletion",
    "QuadraticClassifier",
    "QuadraticRegressor",
    "ReducedRankRegressor",
    "RobustPCA",
    "RowHoldOut",
    "cells",
    "describe",
    "evaluate",
    "load",
]


def __getattr__(name: str) -> Any:
    """Splits are imported when first used: with them comes scikit-learn's model selection."""
    if name in ("CellKFold", "LeaveLastOut", "RowHoldOut"):
        return getattr(import_module("pygeco.estimators.cell_splits"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
