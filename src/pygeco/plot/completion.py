"""Pictures of a matrix completion: path, spectrum, residuals, calibration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pygeco import diagnostics
from pygeco.algorithm.path import Path
from pygeco.diagnostics import Judged
from pygeco.plot import style

LEGEND_ROOM = 1.25  # of the highest bar, so that a legend of two lines stands above it


def path(fit: Any, held_out: Any = None, *, ax: Any = None) -> Any:
    """Draw error against rank, with what the certificate leaves possible below it.

    The band reaches down to √(objective − gap): no matrix of the same trace norm (weighted, if the
    penalty is), of any rank, fits the data better than that. If nothing is known, the band is left
    out, and a note says so. A model fitted by the evidence has no path: the curve then shows the
    error of its leading components.

    Parameters
    ----------
    fit : MatrixCompletion or Path
        A fitted model, or a path with the squared loss.
    held_out : cells as fit takes them, one error per rank, or None, default=None
        The cells, or the errors, of the second curve.
    ax : matplotlib Axes or None, default=None
        None creates new ones.

    Returns
    -------
    matplotlib Axes
    """
    ax = style.axes(ax)
    drawn = _path_numbers(fit, held_out)
    ranks, fitted, held = drawn.ranks, drawn.fitted, drawn.held_out
    ax.plot(ranks, fitted, color=style.TRAIN, label="fitted cells", **_line(ranks))
    errors = list(fitted)
    if held is not None:
        errors += held
        ax.plot(ranks, held, color=style.TEST, label="held-out cells", **_line(ranks))
        best = int(np.argmin(held))
        _say(ax, f"lowest at {ranks[best]}: {held[best]:.4g}", ranks, best, held[best])
    low, high = min(errors), max(errors)
    room = max(high - low, 1e-3 * abs(high), 1e-12)
    if drawn.floor is not None and max(drawn.floor) > max(0.0, low - 0.8 * room):
        ax.fill_between(ranks, drawn.floor, fitted, color=style.PROOF, alpha=0.13, lw=0)
        ax.plot(
            ranks, drawn.floor, "--", color=style.PROOF, lw=1.2, label="no matrix is below this*"
        )
        style.note(ax, f"* of the same {drawn.norm}, of any rank{_unknown(drawn)}")
        low = max(min(drawn.floor), low - 0.8 * room)
    elif drawn.floor is not None and not any(drawn.floor):
        style.note(ax, "the certificate says nothing: all of the error might be avoidable")
    elif drawn.floor is not None:
        style.note(ax, f"the certificate's floor is far below, at {max(drawn.floor):.3g} at most")
    ax.set_ylim(low - 0.08 * room, high + 0.16 * room)
    style.finish(ax, drawn.axis, drawn.measure, legend=True)
    style.whole_numbers(ax)
    return ax


def spectrum(fit: Any, *, ax: Any = None) -> Any:
    """Draw the singular values, largest first, and how many hold 90 % of the squares.

    Parameters
    ----------
    fit : fitted model, Path or LowRank
    ax : matplotlib Axes or None, default=None
        None creates new ones.

    Returns
    -------
    matplotlib Axes
    """
    ax = style.axes(ax)
    s = style.factors(fit).svd().s.astype(float)
    numbers = np.arange(1, len(s) + 1)
    share = np.cumsum(s**2) / max(float(np.sum(s**2)), 1e-300)
    enough = int(np.searchsorted(share, 0.9)) + 1 if len(s) else 0
    colors = [style.TRAIN if k <= enough else "#a9bdf0" for k in numbers]
    ax.bar(numbers, s, width=0.72, color=colors)
    if 0 < enough < len(s):
        style.note(ax, f"dark: {enough} components hold 90 % of the squares")
    style.finish(ax, "component", "singular value")
    style.whole_numbers(ax)
    return ax


def residuals(model: Any, held_out: Any = None, *, ax: Any = None) -> Any:
    """Draw observed minus predicted, against the Gaussian of the same mean and deviation.

    Parameters
    ----------
    model : MatrixCompletion
        Fitted.
    held_out : cells as fit takes them, Judged or None, default=None
        The cells of the residuals; None means the fitted cells.
    ax : matplotlib Axes or None, default=None
        None creates new ones.

    Returns
    -------
    matplotlib Axes
    """
    ax = style.axes(ax)
    judged = _judged(model, held_out)
    r = judged.residuals
    low, high = np.quantile(r, [0.001, 0.999]) if len(r) else (-1.0, 1.0)
    edge = max(abs(low), abs(high), 1e-12)
    edges = np.linspace(-edge, edge, 61)
    counted, _, _ = ax.hist(
        np.clip(r, -edge, edge),
        edges,
        density=True,
        color=style.TRAIN,
        alpha=0.75,
        label=_where(judged),
    )
    x, sd = np.linspace(-edge, edge, 300), max(float(r.std()), 1e-300)
    bell = np.exp(-0.5 * ((x - r.mean()) / sd) ** 2) / (sd * np.sqrt(2 * np.pi))
    ax.plot(x, bell, color=style.INK, lw=1.3, label="Gaussian of the same spread")
    top = max(counted.max(), bell.max())
    ax.vlines(0, 0, top, color=style.MUTED, lw=0.8)
    ax.set_ylim(0, LEGEND_ROOM * top)
    style.finish(ax, "observed − predicted", "density", legend=True)
    style.note(ax, f"mean {r.mean():+.3g}, root mean square {judged.rmse:.4g}, {len(r):,} cells")
    return ax


def calibration(model: Any, held_out: Any = None, *, bins: int = 12, ax: Any = None) -> Any:
    """Draw mean observation against mean prediction, in bins of equal count with 95 % intervals.

    If points lie on the diagonal, predictions are right on average. If the model has deviations, a
    note gives the share of cells inside its 90 % intervals.

    Parameters
    ----------
    model : MatrixCompletion
        Fitted.
    held_out : cells as fit takes them, Judged or None, default=None
        The cells to measure on; None means the fitted ones.
    bins : int, default=12
        The number of bins.
    ax : matplotlib Axes or None, default=None
        None creates new ones.

    Returns
    -------
    matplotlib Axes
    """
    ax = style.axes(ax, size=(5.2, 5.0))
    judged = _judged(model, held_out)
    found = diagnostics.measure_calibration(judged, bins)
    ends = [
        float(min(found.predicted.min(), (found.observed - found.half_width).min())),
        float(max(found.predicted.max(), (found.observed + found.half_width).max())),
    ]
    ax.plot(ends, ends, color=style.MUTED, lw=1, label="right on average")
    ax.errorbar(
        found.predicted, found.observed, found.half_width,
        fmt="o", ms=5, color=style.TRAIN, ecolor=style.TRAIN, elinewidth=1.2, label=_where(judged),
    )  # fmt: skip
    inside = dict(diagnostics.measure_coverage(judged))
    if inside:
        style.note(ax, f"90 % intervals hold {inside[0.9]:.1%} of the cells")
    ax.set_aspect("equal", adjustable="datalim")
    style.finish(ax, "mean prediction", "mean observation", legend=True)
    return ax


class _Drawn(NamedTuple):
    ranks: list[int]
    fitted: list[float]
    held_out: list[float] | None
    floor: list[float] | None  # what the certificate leaves possible
    axis: str
    measure: str
    norm: str = "trace norm"


def _unknown(drawn: _Drawn) -> str:
    """At how many of the ranks nothing is known."""
    count = (drawn.floor or []).count(0.0)
    return f"; nothing known at {count} of {len(drawn.ranks)}" if count else ""


def _path_numbers(fit: Any, held_out: Any) -> _Drawn:
    if isinstance(fit, Path):
        ranks = [step.rank for step in fit]
        return _Drawn(
            ranks,
            [step.objective**0.5 for step in fit],
            None if held_out is None else _one_per_rank(held_out, len(ranks)),
            [max(0.0, step.objective - step.gap) ** 0.5 for step in fit],
            "rank",
            "root mean squared error",
            fit[-1].certificate.norm if len(fit) else "trace norm",
        )
    listed = held_out is not None and not isinstance(held_out, tuple) and np.ndim(held_out) == 1
    found = diagnostics.measure_curve(fit, None if listed else held_out)
    held = _one_per_rank(held_out, len(found.ranks)) if listed else found.held_out
    floor = None
    if found.gaps is not None and found.objectives is not None and fit.loss_.name == "squared":
        floor = np.sqrt(np.maximum(0.0, found.objectives - found.gaps)).tolist()
    return _Drawn(
        found.ranks.tolist(),
        found.fitted.tolist(),
        None if held is None else list(held),
        floor,
        "rank" if found.refitted else "leading components kept",
        found.measure,
        fit.path_[-1].certificate.norm if len(fit.path_) else "trace norm",
    )


def _one_per_rank(errors: ArrayLike, count: int) -> list[float]:
    given: list[float] = np.asarray(errors, dtype=float).tolist()
    if len(given) != count:
        raise ValueError(f"held_out: has {len(given)} errors for {count} ranks; give one per rank.")
    return given


def _judged(model: Any, held_out: Any) -> Judged:
    if not diagnostics.has_common_scale(model.loss_):
        raise ValueError(
            "model: the hinge's margins have no scale in common with its labels; fit "
            "loss='logistic' for this picture."
        )
    return held_out if isinstance(held_out, Judged) else diagnostics.judge(model, held_out)


def _where(judged: Judged) -> str:
    return "held-out cells" if judged.cells.held_out else "fitted cells"


def _line(ranks: Sequence[int]) -> dict[str, Any]:
    return {"marker": "o", "ms": 4.5 if len(ranks) <= 25 else 2.5, "lw": 1.6}


def _say(ax: Any, text: str, ranks: Sequence[int], at: int, y: float) -> None:
    """A text under a point of the curve, inside the axes at either end."""
    side = "left" if at < len(ranks) / 4 else "right" if at >= 3 * len(ranks) / 4 else "center"
    ax.annotate(
        text,
        (ranks[at], y),
        xytext=(0, -15),
        textcoords="offset points",
        ha=side,
        color=style.TEST,
        fontsize=9,
    )
