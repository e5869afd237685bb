"""The look that the pictures share."""

from __future__ import annotations

from typing import Any
from unicodedata import east_asian_width

import numpy as np

from pygeco.algorithm.path import Path
from pygeco.arrays.low_rank import LowRank
from pygeco.diagnostics import bring_to_host

INK, MUTED, GRID = "#22303c", "#5d6b78", "#d8dee4"
TRAIN, TEST, PROOF = "#1d4ed8", "#c2410c", "#0f766e"


def factors(fit: Any) -> LowRank:
    """The matrix of a fitted model, of a path, or itself, on the host."""
    if isinstance(fit, LowRank):
        return bring_to_host(fit)
    if isinstance(fit, Path):
        return bring_to_host(fit.A)
    found = getattr(fit, "factors_", getattr(fit, "low_rank_", None))
    if found is None:
        raise ValueError(f"fit: expected a fitted model, a Path or a LowRank, not {fit!r}.")
    return bring_to_host(found)


def pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "pictures need matplotlib; run: pip install 'pygeco[plot]'", name="matplotlib"
        ) from error
    return plt


def axes(ax: Any, size: tuple[float, float] = (6.4, 4.0)) -> Any:
    if ax is not None:
        return ax
    return pyplot().subplots(figsize=size, layout="constrained")[1]


def note(ax: Any, text: str) -> None:
    """A line under the axis label: what the picture says, in numbers."""
    ax.annotate(
        text, (0.5, 0), xytext=(0, -38), xycoords="axes fraction", textcoords="offset points",
        ha="center", va="top", fontsize=8.5, color=MUTED, annotation_clip=False,
    )  # fmt: skip


def whole_numbers(ax: Any) -> None:
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))


def finish(ax: Any, x: str, y: str, *, legend: bool = False, grid: bool = True) -> None:
    ax.set_xlabel(x, color=INK)
    ax.set_ylabel(y, color=INK)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(GRID)
    ax.tick_params(colors=MUTED, labelsize=9, length=3)
    if grid:
        ax.grid(axis="y", color=GRID, lw=0.7)
        ax.set_axisbelow(True)
    if legend:
        ax.legend(frameon=False, fontsize=9, labelcolor=INK)


def shorten(text: str, most: int = 28) -> str:
    """A name on one line that leaves room for the picture; a dollar of it begins no formula.

    Chinese, Japanese and Korean letters take two places of `most`.
    """
    name = " ".join(text.split())
    ends = np.cumsum([1 + (east_asian_width(letter) in "WF") for letter in name])
    if len(name) and ends[-1] > most:
        name = name[: int(np.searchsorted(ends, most - 1, side="right"))].rstrip() + "…"
    return name.replace("$", r"\$")
