"""Error against rank."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.algorithm.path import Step
from pygeco.arrays.kinds import host
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.diagnostics.cells import (
    MAX_CELLS,
    Cells,
    add_offsets,
    bring_to_host,
    find_cells,
    predict_linear,
)
from pygeco.diagnostics.completion import Completion
from pygeco.diagnostics.judging import refuse_clicks

MAX_WORK = 10**9  # cells × components that a curve may cost: more ranks than that are thinned


class Curve(NamedTuple):
    """Error against rank.

    Attributes
    ----------
    ranks : int array
        In order.
    fitted : array
        The error at the fitted cells, for each rank.
    held_out : array or None
        The error at the held-out cells.
    gaps, gap_words, objectives, seconds : arrays, a list of str for the words, or None
        Of the steps, where there is a path.
    refitted : bool
        Whether each rank is a solution, not the last one cut off.
    measure : str
        What the error is, in words.
    """

    ranks: NDArray[np.int64]
    fitted: Array
    held_out: Array | None
    gaps: Array | None
    gap_words: list[str] | None
    objectives: Array | None
    seconds: Array | None
    refitted: bool
    measure: str


def measure_curve(model: Completion, held_out: object = None, most: int = MAX_CELLS) -> Curve:
    """Measure the error on the fitted and on the held-out cells for each rank of the path.

    A fit with a single step (the evidence) gives the error of its leading components instead,
    offsets alone first.

    Parameters
    ----------
    model : MatrixCompletion
        A fitted model.
    held_out : cells as fit takes them, or None, default=None
    most : int, default=1_000_000
        If there are more cells, a random sample of this size is used.

    Returns
    -------
    Curve
    """
    refuse_clicks(model)
    sets = [find_cells(model, None, most)]
    if held_out is not None:
        sets.append(find_cells(model, held_out, most))
    path = model.path_
    refitted = len(path) > 1
    if refitted:
        steps = _thin(list(path), sum(len(cells.rows) for cells in sets))
        errors = [[_error(model, cells, step.A) for step in steps] for cells in sets]
        ranks = [step.rank for step in steps]
    else:
        errors = [_measure_growing(model, cells) for cells in sets]
        ranks, steps = list(range(model.factors_.rank + 1)), []
    return Curve(
        np.array(ranks),
        np.array(errors[0]),
        np.array(errors[1]) if held_out is not None else None,
        np.array([step.gap for step in steps]) if steps else None,
        [step.gap_words for step in steps] if steps else None,
        np.array([step.objective for step in steps]) if steps else None,
        np.array([step.seconds for step in steps]) if steps else None,
        refitted,
        "root mean squared error" if model.loss_.regression else "mean loss",
    )


def _thin(steps: list[Step], cells: int) -> list[Step]:
    """Few enough steps for the work allowed; the first and the last are kept."""
    count = len(steps)
    allowed = max(
        2, int(MAX_WORK / max(1.0, cells * float(np.mean([step.rank for step in steps]))))
    )
    if count <= allowed:
        return steps
    return [steps[t] for t in np.unique(np.linspace(0, count - 1, allowed).round().astype(int))]


def _error(model: Completion, cells: Cells, A: LowRank) -> float:
    return _mean_error(model, cells, predict_linear(model, cells, A))


def _measure_growing(model: Completion, cells: Cells) -> list[float]:
    """The errors of the leading 0, 1, 2, … components of the fitted matrix."""
    A = bring_to_host(model.factors_).svd()
    z = host(add_offsets(model, cells)).astype(float)
    errors = [_mean_error(model, cells, z)]
    for u, s, v in zip(A.U.T, A.s, A.V.T, strict=True):
        z += (s * u)[cells.rows] * v[cells.cols]
        errors.append(_mean_error(model, cells, z))
    return errors


def _mean_error(model: Completion, cells: Cells, z: Array) -> float:
    fitted = model.model_
    if fitted.likelihood is not None:
        variance = host(fitted.spread(cells.rows, cells.cols))
        return -fitted.score(z, cells.targets, variance)
    if not model.loss_.regression:
        return float(np.mean(model.loss_.value(z, cells.targets), dtype=float))
    residuals = model.model_.respond(z).astype(float) - cells.targets
    return float(np.sqrt(np.mean(residuals**2)))
