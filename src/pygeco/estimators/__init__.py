"""scikit-learn faces: validate, delegate, store."""

from pygeco.estimators.cell_list import CellKFold, CellList, cells
from pygeco.estimators.completion import MatrixCompletion
from pygeco.estimators.evaluation import Evaluation, evaluate
from pygeco.estimators.imputer import LowRankImputer
from pygeco.estimators.linear import LowRankClassifier, ReducedRankRegressor
from pygeco.estimators.quadratic import QuadraticClassifier, QuadraticRegressor
from pygeco.estimators.robust import RobustPCA
from pygeco.io.model_file import describe, load  # once the classes above are known to it

__all__ = [
    "CellKFold",
    "CellList",
    "Evaluation",
    "LowRankClassifier",
    "LowRankImputer",
    "MatrixCompletion",
    "QuadraticClassifier",
    "QuadraticRegressor",
    "ReducedRankRegressor",
    "RobustPCA",
    "cells",
    "describe",
    "evaluate",
    "load",
]
