"""The data of the charts, as the page's script draws them, and of the tables beside them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.low_rank import Array
from pygeco.diagnostics import Bins, Curve, Judged, Spread
from pygeco.reports.words import format_number

Chart = dict[str, Any]

RESIDUAL_BARS = 40


def draw_values(found: Spread, kind: str) -> Chart:
    """How often each value, or each bin of them, was observed."""
    whole = found.levels == np.round(found.levels)
    names = (
        [
            format_number(float(x)) if is_whole else f"{x:g}"
            for x, is_whole in zip(found.levels, whole, strict=True)
        ]
        if found.edges is None
        else [f"{format_number(a, 3)} to {format_number(b, 3)}" for a, b in pairwise(found.edges)]
    )
    total = max(1, int(found.counts.sum()))
    name = "value" if kind == "cell" else kind
    columns = [
        (name, names),
        ("cells", [f"{count:,}" for count in found.counts]),
        ("share", [f"{count / total:.1%}" for count in found.counts]),
    ]
    bars = [_series("cells", "a", found.counts, kind="bars")]
    only = found.edges is None and bool(whole.all())
    return _chart("values", name, "cells", found.levels, bars, columns, whole=only, zero=True)


def draw_path(found: Curve) -> Chart:
    """Error against rank; under it, what the certificate leaves possible."""
    series = [_series("fitted cells", "a", found.fitted)]
    if found.held_out is not None:
        series.append(_series("held-out cells", "b", found.held_out))
    columns = [("rank" if found.refitted else "components", [str(rank) for rank in found.ranks])]
    columns += [(one["name"], [format_number(y) for y in one["y"]]) for one in series]
    if found.gap_words is not None and found.objectives is not None and found.seconds is not None:
        columns += [
            ("objective", [format_number(y) for y in found.objectives]),
            ("gap at most", found.gap_words),
            ("seconds", [f"{y:.2f}" for y in found.seconds]),
        ]
    axis = "rank" if found.refitted else "leading components kept"
    return _chart("path", axis, found.measure, found.ranks, series, columns, whole=True)


def draw_certificate(found: Curve) -> Chart | None:
    """The gap beside the objective, rank by rank."""
    if found.gaps is None or found.gap_words is None or found.objectives is None:
        return None
    series = [
        _series("objective", "a", found.objectives),
        _series("gap at most", "c", found.gaps),
    ]
    columns = [
        ("rank", [str(rank) for rank in found.ranks]),
        ("objective", [format_number(y) for y in found.objectives]),
        ("gap at most", found.gap_words),
    ]
    return _chart(
        "certificate", "rank", "objective", found.ranks, series, columns, whole=True, zero=True
    )


def draw_calibration(found: Bins) -> Chart:
    """Mean observation against mean prediction, with intervals, and the diagonal."""
    low, high = found.observed - found.half_width, found.observed + found.half_width
    points = _series("mean observation", "a", found.observed, kind="points")
    points |= {"low": _plain(low), "high": _plain(high)}
    line = _series("right on average", "muted", found.predicted)
    columns = [
        ("mean prediction", [format_number(x) for x in found.predicted]),
        ("mean observation", [format_number(y) for y in found.observed]),
        (
            "95 % interval",
            [f"{format_number(a)} to {format_number(b)}" for a, b in zip(low, high, strict=True)],
        ),
        ("cells", [f"{count:,}" for count in found.counts]),
    ]
    return _chart(
        "calibration",
        "mean prediction",
        "mean observation",
        found.predicted,
        [line, points],
        columns,
    )


def draw_residuals(judged: Judged) -> Chart:
    """The distribution of observed − predicted; the ends hold what lies beyond them."""
    r = judged.residuals
    edge = max(float(np.quantile(np.abs(r), 0.998)), 1e-9)
    counts, edges = np.histogram(np.clip(r, -edge, edge), RESIDUAL_BARS, (-edge, edge))
    middles = (edges[1:] + edges[:-1]) / 2
    spread = max(float(r.std()), 1e-12)
    bell = np.exp(-0.5 * ((middles - r.mean()) / spread) ** 2) / (spread * np.sqrt(2 * np.pi))
    expected = bell * len(r) * (edges[1] - edges[0])
    series = [
        _series("cells", "a", counts, kind="bars"),
        _series("Gaussian of the same spread", "muted", expected),
    ]
    columns = [
        (
            "observed − predicted",
            [f"{format_number(a, 3)} to {format_number(b, 3)}" for a, b in pairwise(edges)],
        ),
        ("cells", [f"{count:,}" for count in counts]),
    ]
    return _chart("residuals", "observed − predicted", "cells", middles, series, columns, zero=True)


def draw_trials(ndcg: NDArray[Any], columns: list[tuple[str, list[str]]]) -> Chart:
    """What held-out clicks say of each trial."""
    numbers = np.arange(1, len(ndcg) + 1)
    line = [_series("nDCG@20", "a", ndcg)]
    return _chart("trials", "trial", "nDCG@20", numbers, line, columns, whole=True)


def draw_spectrum(s: Array) -> Chart:
    """Singular values."""
    numbers = np.arange(1, len(s) + 1)
    share = np.cumsum(s**2) / max(float(np.sum(s**2)), 1e-300)
    columns = [
        ("component", [str(k) for k in numbers]),
        ("singular value", [format_number(float(x)) for x in s]),
        ("share of the squares so far", [f"{x:.1%}" for x in share]),
    ]
    bars = [_series("singular value", "a", s, kind="bars")]
    return _chart(
        "spectrum", "component", "singular value", numbers, bars, columns, whole=True, zero=True
    )


def _chart(
    name: str,
    x_label: str,
    y_label: str,
    x: NDArray[Any],
    series: list[Chart],
    columns: list[tuple[str, list[str]]],
    *,
    whole: bool = False,
    zero: bool = False,
) -> Chart:
    """`say` is what a reader is told at each point, and `columns` the table of the same numbers."""
    say = [
        ", ".join(f"{head}: {cells[t]}" for head, cells in columns)
        for t in range(len(columns[0][1]))
    ]
    return {
        "name": name,
        "xLabel": x_label,
        "yLabel": y_label,
        "x": _plain(x),
        "series": series,
        "say": say,
        "whole": whole,
        "zero": zero,
        "columns": columns,
    }


def _series(name: str, tone: str, y: NDArray[Any], kind: str = "line") -> Chart:
    return {"name": name, "tone": tone, "kind": kind, "y": _plain(y)}


def _plain(values: NDArray[Any]) -> list[float | None]:
    """Python numbers, rounded to what a chart can show; nothing where there is none."""
    return [float(f"{value:.6g}") if np.isfinite(value) else None for value in values]
