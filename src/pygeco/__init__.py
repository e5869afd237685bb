"""pygeco: minimise any convex smooth function of a matrix under a rank constraint."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pygeco.algorithm.certificates import (
    Certificate,
    guaranteed_gap,
    guaranteed_gap_at_rank,
    guaranteed_rank,
)
from pygeco.algorithm.directions import Lanczos, Power, Signs
from pygeco.algorithm.path import Path, Step, Stop
from pygeco.algorithm.penalties import Ridge, Schatten, Trace
from pygeco.algorithm.solver import Observer, Solver, minimize
from pygeco.algorithm.trace_path import TracePath, TraceStep, duality_gap, trace_path
from pygeco.arrays.container import ModelFileError
from pygeco.arrays.low_rank import LowRank
from pygeco.objectives import Custom, Dense, Entries, Features, Quadratic, Sensing

if TYPE_CHECKING:
    from pygeco import data, diagnostics, losses, plot, rivals
    from pygeco.diagnostics import metrics
    from pygeco.estimators import (
        CellKFold,
        LowRankClassifier,
        LowRankImputer,
        MatrixCompletion,
        QuadraticClassifier,
        QuadraticRegressor,
        ReducedRankRegressor,
        RobustPCA,
        cells,
        evaluate,
        load,
    )
    from pygeco.reports import report

__version__ = "0.1.0"

# scikit-learn takes as long to import as everything else together: only when used.
_LAZY = {
    "LowRankClassifier": "pygeco.estimators",
    "LowRankImputer": "pygeco.estimators",
    "MatrixCompletion": "pygeco.estimators",
    "QuadraticClassifier": "pygeco.estimators",
    "QuadraticRegressor": "pygeco.estimators",
    "ReducedRankRegressor": "pygeco.estimators",
    "RobustPCA": "pygeco.estimators",
    "CellKFold": "pygeco.estimators",
    "cells": "pygeco.estimators",
    "report": "pygeco.reports",
    "evaluate": "pygeco.estimators",
    "load": "pygeco.estimators",
}

# Modules with public names of their own, imported when used.
_MODULES = ("data", "diagnostics", "losses", "metrics", "plot", "rivals")

__all__ = [
    "CellKFold",
    "Certificate",
    "Custom",
    "Dense",
    "Entries",
    "Features",
    "Lanczos",
    "LowRank",
    "LowRankClassifier",
    "LowRankImputer",
    "MatrixCompletion",
    "ModelFileError",
    "Observer",
    "Path",
    "Power",
    "Quadratic",
    "QuadraticClassifier",
    "QuadraticRegressor",
    "ReducedRankRegressor",
    "Ridge",
    "RobustPCA",
    "Schatten",
    "Sensing",
    "Signs",
    "Solver",
    "Step",
    "Stop",
    "Trace",
    "TracePath",
    "TraceStep",
    "cells",
    "data",
    "diagnostics",
    "duality_gap",
    "evaluate",
    "guaranteed_gap",
    "guaranteed_gap_at_rank",
    "guaranteed_rank",
    "load",
    "losses",
    "metrics",
    "minimize",
    "plot",
    "report",
    "rivals",
    "trace_path",
]


def __dir__() -> list[str]:
    """What TAB offers: the public names, and nothing that they are made of."""
    return list(__all__)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"pygeco.{name}")
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'pygeco' has no attribute {name!r}")
