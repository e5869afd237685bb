"""Maps of factors, and frames of robust decompositions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pygeco.arrays.low_rank import Array
from pygeco.diagnostics import Names
from pygeco.plot import style

MAX_LINES = 400  # of a matrix that are drawn, rows and columns alike


def factors(
    fit: Any,
    components: tuple[int, int] = (1, 2),
    *,
    side: str = "columns",
    labels: Any = None,
    count: int = 14,
    ax: Any = None,
) -> Any:
    """Draw a map of columns (or rows): their weights in two components, the outermost ones named.

    Parameters
    ----------
    fit : fitted model, Path or LowRank
    components : tuple of two ints, default=(1, 2)
        Which ones, counted from 1.
    side : "columns" or "rows", default="columns"
        What the points stand for.
    labels : one text per column, a dict by id, or None, default=None
        Their names.
    count : int, default=14
        How many points to name.
    ax : matplotlib Axes or None, default=None
        None creates new ones.

    Returns
    -------
    matplotlib Axes
    """
    ax = style.axes(ax, size=(7.2, 5.2))
    if side not in ("columns", "rows"):
        raise ValueError(f"side: expected 'columns' or 'rows', not {side!r}.")
    A = style.factors(fit).svd()
    for number in components:
        if not 1 <= number <= A.rank:
            raise ValueError(f"components: {number} is not between 1 and the rank, {A.rank}.")
    picked = [number - 1 for number in components]
    X = ((A.V if side == "columns" else A.U) * A.s)[:, picked].astype(float)
    ax.axhline(0, color=style.GRID, lw=1, zorder=0)
    ax.axvline(0, color=style.GRID, lw=1, zorder=0)
    ax.scatter(*X.T, s=9, color=style.TRAIN, alpha=0.35, linewidths=0)
    ids = getattr(fit, "column_ids_" if side == "columns" else "row_ids_", None)
    _name_outermost(ax, X, Names(side[:-1], ids, labels), count)
    style.finish(ax, f"component {components[0]}", f"component {components[1]}", grid=False)
    return ax


def frames(
    model: Any,
    X: Any,
    shape: tuple[int, int],
    frames: Sequence[int] | None = None,
    *,
    axes: Any = None,
) -> Any:
    """Draw frames of a robust decomposition: as given, the low-rank part, and the outliers.

    Parameters
    ----------
    model : RobustPCA
        Fitted.
    X : array (n_samples, n_features)
        Its rows are pictures.
    shape : tuple of two ints
        Height and width of a picture.
    frames : sequence of ints or None, default=None
        Which rows to draw; None means three of them, spread evenly.
    axes : array of matplotlib Axes or None, default=None
        One row of three per frame; None makes new ones.

    Returns
    -------
    array of matplotlib Axes
    """
    plt = style.pyplot()
    chosen = list(np.linspace(0, len(X) - 1, 5).astype(int)[1:-1]) if frames is None else frames
    if axes is None:
        height = 2.6 * shape[0] / shape[1] + 0.35
        _, axes = plt.subplots(
            len(chosen), 3, figsize=(8.4, height * len(chosen)), layout="constrained", squeeze=False
        )
    low, outliers = style.factors(model), model.outliers_.tocsr()
    top = _range(X)
    for line, number in zip(np.atleast_2d(axes), chosen, strict=True):
        background = (low.U[number] * low.s) @ low.V.T
        moved = outliers[[number]].toarray()[0]
        wide = max(float(np.abs(moved).max()), 1e-12)
        shown = (
            (f"frame {number}", X[number], {"cmap": "gray", "vmin": top[0], "vmax": top[1]}),
            ("low rank", background, {"cmap": "gray", "vmin": top[0], "vmax": top[1]}),
            ("outliers", moved, {"cmap": "RdBu_r", "vmin": -wide, "vmax": wide}),
        )
        for ax, (title, picture, look) in zip(line, shown, strict=True):
            ax.imshow(np.asarray(picture).reshape(shape), **look)
            ax.set_title(title, fontsize=9, color=style.INK, loc="left")
            ax.set_axis_off()
    return axes


def parts(model: Any, X: Any, *, axes: Any = None) -> Any:
    """Draw a matrix next to its low-rank part and its outliers, as pictures.

    Matrices with more than a few hundred rows or columns are thinned.

    Parameters
    ----------
    model : RobustPCA
        Fitted.
    X : array (n_samples, n_features)
        The data that it was fitted to.
    axes : three matplotlib Axes or None, default=None
        None creates new ones.

    Returns
    -------
    array of three matplotlib Axes
    """
    if axes is None:
        wide = float(np.clip(X.shape[1] / X.shape[0], 0.8, 2.0))
        _, axes = style.pyplot().subplots(
            1, 3, figsize=(8.4, 8.4 / 3 / wide + 0.5), layout="constrained"
        )
    rows, cols = (_spaced(size) for size in X.shape)
    low, outliers = style.factors(model), model.outliers_.tocsr()
    inner = (low.U[rows] * low.s) @ low.V[cols].T
    moved = outliers[rows][:, cols].toarray()
    dark, light = np.quantile(inner, [0.01, 0.99])
    size = max(float(np.quantile(np.abs(moved[moved != 0]), 0.95)) if moved.any() else 0.0, 1e-12)
    gray = {"cmap": "viridis", "vmin": dark, "vmax": max(light, dark + 1e-12)}
    spread = {"cmap": "RdBu_r", "vmin": -size, "vmax": size}
    shown = (
        ("data", np.asarray(X)[np.ix_(rows, cols)], gray),
        ("low rank", inner, gray),
        ("outliers", moved, spread),
    )
    for ax, (title, picture, look) in zip(axes, shown, strict=True):
        ax.imshow(picture, aspect="auto", interpolation="nearest", **look)
        ax.set_title(title, fontsize=9, color=style.INK, loc="left")
        ax.set_xticks([])
        ax.set_yticks([])
        ax.spines[:].set_color(style.GRID)
    return axes


def _spaced(size: int) -> Any:
    return np.unique(np.linspace(0, size - 1, min(size, MAX_LINES)).round().astype(int))


def _range(X: Any) -> tuple[float, float]:
    """Black and white: all of a byte, else all but the wildest hundredth of the cells."""
    if X.dtype == np.uint8:
        return 0.0, 255.0
    low, high = np.nanquantile(X[:: max(1, len(X) // 50)], [0.005, 0.995])
    return float(low), float(high) if high > low else float(low) + 1.0


def _name_outermost(ax: Any, X: Array, names: Names, count: int) -> None:
    """Names beside the points farthest out, each direction in its turn, none over another."""
    from matplotlib.patheffects import withStroke

    size = np.maximum(np.abs(X).max(axis=0), 1e-300)
    scaled = X / size
    order = np.argsort(-np.hypot(*scaled.T), kind="stable")
    placed: list[Array] = []
    for j in order:
        if len(placed) >= count:
            break
        if any(abs(p[1] - scaled[j, 1]) < 0.07 and abs(p[0] - scaled[j, 0]) < 0.7 for p in placed):
            continue
        placed.append(scaled[j])
        outward = 1 if X[j, 0] >= 0 else -1
        ax.scatter(*X[j], s=16, color=style.TEST, linewidths=0, zorder=3)
        ax.annotate(
            style.shorten(names[int(j)], 21), X[j],
            xytext=(5 * outward, 0), textcoords="offset points",
            ha="left" if outward > 0 else "right", va="center", fontsize=8, color=style.INK,
            path_effects=[withStroke(linewidth=2.5, foreground="white", alpha=0.85)],
        )  # fmt: skip
    ax.margins(x=0.38, y=0.08)
