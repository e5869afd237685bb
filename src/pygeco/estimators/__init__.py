"""scikit-learn faces: validate, delegate, store."""

from pygeco.estimators.completion import MatrixCompletion

__all__ = ["MatrixCompletion"]
