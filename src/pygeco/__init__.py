"""pygeco: minimize any convex smooth function of a matrix under a rank constraint."""

from __future__ import annotations

import gc
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pygeco import data, diagnostics, errors, losses, plot, rivals
    from pygeco.algorithm.certificates import Certificate
    from pygeco.algorithm.directions import Lanczos, Power, Signs
    from pygeco.algorithm.events import Listener
    from pygeco.algorithm.guarantees import guaranteed_gap, guaranteed_gap_at_rank, guaranteed_rank
    from pygeco.algorithm.path import Path, Step, Stop
    from pygeco.algorithm.penalties import Ridge, Schatten, Trace
    from pygeco.algorithm.run import minimize
    from pygeco.algorithm.solver import Solver
    from pygeco.algorithm.trace_path import TracePath, TraceStep, duality_gap, trace_path
    from pygeco.arrays.low_rank import LowRank
    from pygeco.clicks.settings import SpectralSettings, SquaresSettings
    from pygeco.diagnostics import metrics
    from pygeco.errors import ModelFileError
    from pygeco.estimators import (
        Attributes,
        CellKFold,
        ImplicitCompletion,
        LeaveLastOut,
        LowRankClassifier,
        LowRankImputer,
        MatrixCompletion,
        QuadraticClassifier,
        QuadraticRegressor,
        ReducedRankRegressor,
        RobustPCA,
        RowHoldOut,
        cells,
        evaluate,
        load,
    )
    from pygeco.io.column_kinds import Columns
    from pygeco.objectives import Clicks, Custom, Dense, Entries, Features, Quadratic, Sensing
    from pygeco.reports import report

__version__ = "0.1.0"

# Where the public names are. Each is imported when first used: a command or a program that needs
# few of them does not wait for the others, and an interrupt meets no import that nobody guards.
_HOMES = {
    "pygeco.algorithm.certificates": ("Certificate",),
    "pygeco.algorithm.directions": ("Lanczos", "Power", "Signs"),
    "pygeco.algorithm.events": ("Listener",),
    "pygeco.algorithm.guarantees": (
        "guaranteed_gap",
        "guaranteed_gap_at_rank",
        "guaranteed_rank",
    ),
    "pygeco.algorithm.path": ("Path", "Step", "Stop"),
    "pygeco.algorithm.penalties": ("Ridge", "Schatten", "Trace"),
    "pygeco.algorithm.run": ("minimize",),
    "pygeco.algorithm.solver": ("Solver",),
    "pygeco.algorithm.trace_path": ("TracePath", "TraceStep", "duality_gap", "trace_path"),
    "pygeco.arrays.low_rank": ("LowRank",),
    "pygeco.clicks.settings": ("SpectralSettings", "SquaresSettings"),
    "pygeco.diagnostics": ("metrics",),
    "pygeco.errors": ("ModelFileError",),
    "pygeco.estimators": (
        "Attributes",
        "ImplicitCompletion",
        "LowRankClassifier",
        "LowRankImputer",
        "MatrixCompletion",
        "QuadraticClassifier",
        "QuadraticRegressor",
        "ReducedRankRegressor",
        "RobustPCA",
        "cells",
        "evaluate",
        "load",
    ),
    "pygeco.estimators.cell_splits": ("CellKFold", "LeaveLastOut", "RowHoldOut"),
    "pygeco.io.column_kinds": ("Columns",),
    "pygeco.objectives": (
        "Clicks",
        "Custom",
        "Dense",
        "Entries",
        "Features",
        "Quadratic",
        "Sensing",
    ),
    "pygeco.reports": ("report",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

# Modules with public names of their own.
_MODULES = ("data", "diagnostics", "errors", "losses", "plot", "rivals")

__all__ = [
    "Attributes",
    "CellKFold",
    "Certificate",
    "Clicks",
    "Columns",
    "Custom",
    "Dense",
    "Entries",
    "Features",
    "ImplicitCompletion",
    "Lanczos",
    "LeaveLastOut",
    "Listener",
    "LowRank",
    "LowRankClassifier",
    "LowRankImputer",
    "MatrixCompletion",
    "ModelFileError",
    "Path",
    "Power",
    "Quadratic",
    "QuadraticClassifier",
    "QuadraticRegressor",
    "ReducedRankRegressor",
    "Ridge",
    "RobustPCA",
    "RowHoldOut",
    "Schatten",
    "Sensing",
    "Signs",
    "Solver",
    "SpectralSettings",
    "SquaresSettings",
    "Step",
    "Stop",
    "Trace",
    "TracePath",
    "TraceStep",
    "cells",
    "data",
    "diagnostics",
    "duality_gap",
    "errors",
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


def _import_calmly(name: str) -> Any:
    """A module, without a look for garbage: what it defines stays, and costs a sixth more then."""
    collects = gc.isenabled()
    gc.disable()
    try:
        return import_module(name)
    finally:
        if collects:
            gc.enable()


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return _import_calmly(f"pygeco.{name}")
    if name in _HOME_OF:
        value = getattr(_import_calmly(_HOME_OF[name]), name)
        globals()[name] = value  # the next time it is found without this function
        return value
    raise AttributeError(f"module 'pygeco' has no attribute {name!r}")
