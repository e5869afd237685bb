"""What the page shows of a whole model: a map of its items, and figures of its health."""

from __future__ import annotations

from typing import Any

import numpy as np

from pygeco.arrays.low_rank import Array
from pygeco.serve.requests import About, Figure
from pygeco.serve.served import Served

MAX_MAPPED = 1_500  # items on the map: those that most is known of
INTERVAL = 1.6449  # deviations on each side of a 90 % interval
MAX_JUDGED = 200_000  # held-out cells that figures are measured on


def map_items(served: Served) -> dict[str, Any]:
    """Places of the items most is known of: two principal coordinates of their directions."""
    counts = served.counts[1]
    at = np.argsort(-counts, kind="stable")[:MAX_MAPPED]
    places = place_directions(served.model.factors.T.left[at])
    return {
        "items": served.name(1, at),
        "titles": None if served.titles is None else [served.titles[j] for j in at.tolist()],
        "x": np.round(places[:, 0], 4).tolist(),
        "y": np.round(places[:, 1], 4).tolist(),
        "counts": counts[at].tolist(),
    }


def place_directions(vectors: Array) -> Array:
    """Lines of length 1 in the plane in which they differ most, within −1 … 1."""
    X = np.asarray(vectors, float)
    X = X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-300)
    X = X - X.mean(axis=0)
    _, axes = np.linalg.eigh(X.T @ X)
    found = np.zeros((len(X), 2))
    width = min(2, axes.shape[1])
    found[:, :width] = X @ axes[:, ::-1][:, :width]
    return found / max(float(np.abs(found).max(initial=0.0)), 1e-300)


def describe_served(served: Served) -> About:
    """The model in a few figures, those of its held-out cells among them."""
    m, n = served.model.shape
    known = served.known
    low, high = served.bounds
    word = "clicks" if served.is_of_clicks else "ratings"
    figures: list[Figure] = [
        {"label": "users", "value": f"{m:,}", "note": ""},
        {"label": "items", "value": f"{n:,}", "note": ""},
        {
            "label": word,
            "value": f"{known:,}",
            "note": f"{100 * known / max(1, m * n):.3g}% of all cells",
        },
        {"label": "rank", "value": f"{served.model.factors.rank:,}", "note": "components"},
        *_judge(served),
    ]
    return {
        "model": served.version,
        "kind": "clicks" if served.is_of_clicks else "ratings",
        "saved": served.saved,
        "users": m,
        "items": n,
        "known": known,
        "rank": served.model.factors.rank,
        "low": low,
        "high": high,
        "explains": served.explains,
        "has_titles": served.titles is not None,
        "figures": figures,
    }


def _judge(served: Served) -> list[Figure]:
    """How far predictions are from cells that were held out, if the file has some."""
    held, model = served.model.held_out, served.model
    if held is None or served.is_of_clicks or not len(held.values):
        return []
    step = -(-len(held.values) // MAX_JUDGED)
    rows, cols = held.rows()[::step], held.indices[::step].astype(np.int64)
    targets = held.values[::step]
    times = held.times[::step] if len(held.times) else None
    note = f"on {len(targets):,} held-out rating{'s' if len(targets) != 1 else ''}"
    if served.is_of_labels:
        variance = None if model.likelihood is None else model.spread(rows, cols)
        loss = -model.score(model.linear(rows, cols, times), targets, variance)
        return [{"label": "mean loss", "value": _show(loss), "note": note}]
    error = model.predict(rows, cols, times).astype(float) - served.rescale(targets)
    found: list[Figure] = [
        {"label": "RMSE", "value": _show(float(np.sqrt(np.mean(error**2)))), "note": note},
        {
            "label": "mean absolute error",
            "value": _show(float(np.mean(np.abs(error)))),
            "note": note,
        },
    ]
    if model.posterior is not None:
        inside = np.abs(error) <= INTERVAL * model.deviation(rows, cols, times)
        share = f"{np.mean(inside):.1%}"
        found.append({"label": "in 90 % intervals", "value": share, "note": "90 % is right"})
    return found


def _show(error: float) -> str:
    """Four places, or four digits where these are too few or too many."""
    return f"{error:.4f}" if 0.01 <= error < 1e4 else f"{error:#.4g}"
