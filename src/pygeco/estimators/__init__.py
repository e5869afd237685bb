"""scikit-learn faces: validate, delegate, store."""

from pygeco.estimators.completion import MatrixCompletion
from pygeco.estimators.linear import LowRankClassifier, ReducedRankRegressor
from pygeco.estimators.quadratic import QuadraticClassifier, QuadraticRegressor

__all__ = [
    "LowRankClassifier",
    "MatrixCompletion",
    "QuadraticClassifier",
    "QuadraticRegressor",
    "ReducedRankRegressor",
]
