"""Everything that the page says, gathered from a model."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from pygeco import diagnostics
from pygeco.diagnostics import Curve, Judged, Names, Spread
from pygeco.diagnostics.completion import Completion
from pygeco.diagnostics.time_effects import describe_time, list_time_effects
from pygeco.errors.visible_numbers import find_format
from pygeco.reports import charts, words
from pygeco.reports.attributes import gather_attributes
from pygeco.reports.comparison import compare_with_rules
from pygeco.reports.words import format_number

PACKAGES = ("pygeco", "numpy", "scipy", "scikit-learn", "numba")
QUANTILES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
MIN_SUPPORT_CELLS = 20  # fitted cells that a column needs to be named among a component's extremes

Titles = Mapping[Any, str] | Sequence[str] | None


def gather_content(
    model: Completion, held_out: object, titles: Titles, heading: str | None
) -> dict[str, Any]:
    """The values that the template asks for."""
    kinds = words.name_kinds(model)
    rows = Names(kinds[0], getattr(model, "row_ids_", None))
    cols = Names(kinds[1], getattr(model, "column_ids_", None), titles)
    cells = diagnostics.find_held_out_cells(model, held_out)
    judged = diagnostics.judge(model, cells)
    fitted = judged if cells is None else diagnostics.judge(model)
    found = diagnostics.measure_curve(model, cells)
    spread = diagnostics.count_values(model)
    scale = diagnostics.has_common_scale(model.loss_)
    support = _support(model)
    compared = compare_with_rules(model, judged, kinds, rows, cols)
    # No interval holds half of the labels: it has one of the two values, or both.
    covered = [] if model.loss_.name == "logistic" else diagnostics.measure_coverage(judged)
    return {
        "heading": heading or f"Matrix completion of rank {model.factors_.rank}",
        "tiles": _tiles(model, fitted, judged, scale, compared["baselines"]),
        "values_words": words.describe_values(spread, kinds[2]),
        "warnings": diagnostics.find_data_warnings(model, cells, kinds),
        "compared": compared,
        "summary": words.describe_fit(model, len(model.seen_.values)),
        "stop": str(model.stop_reason_.advice),
        "charts": _draw_charts(model, judged, found, spread, kinds[2]),
        "path_words": words.describe_curve(found),
        "certificate_words": words.describe_certificate(model),
        "judged_on": words.describe_error(judged, kinds[2]),
        "coverage": [
            (f"{level:.0%}", f"{share:.1%}", words.give_verdict(level, share, len(judged.observed)))
            for level, share in covered
            if len(judged.observed) >= words.MIN_COVERED
        ],
        "coverage_words": words.describe_coverage(covered, len(judged.observed)),
        "quantiles": _quantiles(judged)
        if scale and len(judged.observed) >= words.MIN_COVERED
        else [],
        "attributes": gather_attributes(model, kinds),
        "time": describe_time(list_time_effects(model), kinds[:2]),
        "components": _components(model, cols, support),
        "support": support,
        "scale": diagnostics.describe_scale(model.loss_),
        "kinds": kinds,
        "worst": _worst(model, judged, rows, cols),
        "held_out": cells is not None,
        **describe_reproduction(model),
    }


def _draw_charts(
    model: Completion, judged: Judged, found: Curve, spread: Spread, kind: str
) -> dict[str, charts.Chart]:
    """The charts that this model has."""
    scale = diagnostics.has_common_scale(model.loss_)
    drawn = {
        "values": charts.draw_values(spread, kind),
        "path": charts.draw_path(found),
        "certificate": charts.draw_certificate(found),
        "spectrum": charts.draw_spectrum(np.asarray(model.factors_.svd().s, dtype=float)),
        "calibration": charts.draw_calibration(diagnostics.measure_calibration(judged))
        if scale
        else None,
        "residuals": charts.draw_residuals(judged) if scale else None,
    }
    return {name: chart for name, chart in drawn.items() if chart is not None}


def _tiles(
    model: Completion, fitted: Judged, judged: Judged, scale: bool, baselines: list[str]
) -> list[dict[str, str]]:
    """The few numbers that a reader looks for first."""
    tiles = []
    if model.loss_.regression and scale:
        if judged.cells.held_out:
            wide = format_number(judged.half_width, 3)
            doubt = f"± {wide} (95 %); " if len(judged.observed) > 1 else ""
            tiles += [
                _tile("RMSE, held out", format_number(judged.rmse), f"{doubt}{baselines[0]}"),
                _tile(
                    "mean absolute error", format_number(judged.mae), f"held out; {baselines[1]}"
                ),
            ]
        tiles.append(
            _tile(
                "RMSE, fitted",
                format_number(fitted.rmse),
                words.describe_error(fitted, words.name_kinds(model)[2]),
            )
        )
    else:
        if judged.cells.held_out:
            tiles.append(
                _tile(
                    "mean loss, held out", format_number(float(judged.losses.mean())), baselines[0]
                )
            )
        tiles.append(_tile("mean loss, fitted", format_number(float(fitted.losses.mean())), ""))
    m, n = model.factors_.shape
    tiles.append(_tile("rank", f"{model.factors_.rank:,}", f"of a {m:,} × {n:,} matrix"))
    seconds = model.path_[-1].seconds
    tiles.append(_tile("fitted in", f"{format_number(seconds, 3)} s", f"{model.n_iter_} rounds"))
    return tiles


def _tile(label: str, value: str, note: str) -> dict[str, str]:
    return {"label": label, "value": value, "note": note}


def _quantiles(judged: Judged) -> list[tuple[str, str]]:
    values = np.quantile(judged.residuals, QUANTILES)
    return [
        (f"{q:.0%}", format_number(float(v), 3)) for q, v in zip(QUANTILES, values, strict=True)
    ]


def _support(model: Completion) -> int:
    """The cells that a column needs to be shown: SUPPORT where enough columns have as many."""
    enough = diagnostics.count_by_column(model) >= MIN_SUPPORT_CELLS
    return MIN_SUPPORT_CELLS if int(enough.sum()) >= MIN_SUPPORT_CELLS else 1


def _components(model: Completion, cols: Names, support: int) -> list[dict[str, Any]]:
    """The strongest components with their extreme columns, as bars of at most 100."""
    shown = []
    known = diagnostics.count_by_column(model)
    for part in diagnostics.find_components(model, support=support):
        ends = [abs(weight) for _, weight in part.top + part.bottom]
        most = max(ends, default=1.0) or 1.0
        shown.append(
            {
                "number": part.number,
                "effect": format_number(part.effect, 3),
                **{
                    side: [
                        {
                            "name": cols[j],
                            "count": f"{known[j]:,}",
                            "weight": words.format_signed(weight, most),
                            "bar": round(100 * abs(weight) / most),
                        }
                        for j, weight in getattr(part, side)
                    ]
                    for side in ("top", "bottom")
                },
            }
        )
    return shown


def _worst(model: Completion, judged: Judged, rows: Names, cols: Names) -> list[dict[str, str]]:
    cells, known = judged.cells, diagnostics.count_by_column(model)
    worst = diagnostics.find_worst(judged)
    most = float(np.abs(judged.residuals[worst]).max(initial=0.0))
    told = find_format(judged.predicted[worst].tolist(), 2)
    return [
        {
            "row": rows[int(cells.rows[t])],
            "col": cols[int(cells.cols[t])],
            "observed": format_number(float(judged.observed[t])),
            "predicted": format(float(judged.predicted[t]), told),
            "count": f"{known[cells.cols[t]]:,}",
            "off": words.format_signed(float(judged.residuals[t]), most),
            "deviations": ""
            if judged.deviation is None
            else f"{abs(judged.residuals[t]) / judged.deviation[t]:.1f}",
        }
        for t in worst
    ]


def describe_reproduction(model: Completion) -> dict[str, Any]:
    settings = model.get_params(deep=False)
    # The data and the watchers are no part of the recipe.
    shown = {k: v for k, v in settings.items() if k not in ("callback", "observer", "checkpoint")}
    if not isinstance(shown.get("random_state"), (int, np.integer)):
        shown["random_state"] = model.path_.seed if len(model.path_) else None
    given = ", ".join(f"{name}={value!r}" for name, value in shown.items())
    return {
        "settings": [(name, repr(value)) for name, value in shown.items()],
        "code": f"{type(model).__name__}({given}).fit(cells)",
        "versions": [("Python", platform.python_version()), *list_versions()],
        "machine": f"{platform.system()} {platform.machine()}, {sys.byteorder}-endian",
        "written": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    }


def list_versions() -> list[tuple[str, str]]:
    found = []
    for name in PACKAGES:
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:
            continue
    return found
