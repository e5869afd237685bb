"""Pictures of the reproductions (matplotlib, an extra)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

GRID, INK = "#8896a3", "#22303c"
# What the paper compares stands out; the others are there to be found.
STRONG = {
    "geco": "#c2410c",
    "geco-refitted": "#eab308",
    "js": "#1d4ed8",
    "js-centred": "#60a5fa",
    "default": "#15803d",
}
FAINT = (
    *("#d97706", "#94a3b8", "#9333ea", "#db2777"),
    *("#0d9488", "#57534e", "#65a30d", "#0e7490"),
)
TICKS = (1, 2, 5, 10, 20, 50, 100, 200)


class Line(NamedTuple):
    """One method in one panel: the mean errors over seeds, and their standard deviations."""

    name: str
    label: str
    ranks: Sequence[int]
    errors: Sequence[float]
    spreads: Sequence[float]


def figure1(panels: Mapping[str, Sequence[Line]]) -> Any:
    """Test RMSE against rank, a panel for each split; dashed, the least error of JS.

    Bands are one standard deviation over the seeds to each side.
    """
    import matplotlib.pyplot as plt

    count = len(panels)
    figure, axes = plt.subplots(1, count, figsize=(5.2 * count, 4.6), layout="constrained")
    every = dict.fromkeys(line.name for lines in panels.values() for line in lines)
    faint = [name for name in every if name not in STRONG]
    for ax, (title, lines) in zip([axes] if count == 1 else axes, panels.items(), strict=True):
        for line in lines:
            _draw(ax, line, STRONG.get(line.name), faint)
        ax.set(title=title, xlabel="rank", ylabel="test RMSE", xscale="log")
        ax.set_ylim(*_range(lines))
        ax.set_xticks(TICKS, [str(rank) for rank in TICKS])
        ax.minorticks_off()
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(colors=INK)
        ax.grid(color=GRID, alpha=0.2)
    found = [ax.get_legend_handles_labels() for ax in figure.axes]
    by_label = {
        label: line for lines, labels in found for line, label in zip(lines, labels, strict=True)
    }
    figure.legend(
        by_label.values(),
        by_label.keys(),
        loc="outside lower center",
        ncols=4,
        frameon=False,
        fontsize=8,
    )
    return figure


def _draw(ax: Any, line: Line, strong: str | None, faint: Sequence[str]) -> None:
    color = strong or FAINT[faint.index(line.name) % len(FAINT)]
    style = {"lw": 2.0, "zorder": 3} if strong else {"lw": 1.0, "alpha": 0.75}
    marker = "o" if len(line.ranks) <= 20 else None
    ax.plot(line.ranks, line.errors, color=color, label=line.label, marker=marker, ms=3, **style)
    if any(line.spreads):
        bands = zip(line.errors, line.spreads, strict=True)
        low, high = zip(*((error - d, error + d) for error, d in bands), strict=True)
        ax.fill_between(line.ranks, low, high, color=color, alpha=0.25, lw=0)
    if line.name.startswith("js"):
        ax.axhline(min(line.errors), color=color, ls="--", lw=0.8, alpha=0.8)


def _range(lines: Sequence[Line]) -> tuple[float, float]:
    """From the least error to what GECO and the least of every method need."""
    least = [min(line.errors) for line in lines]
    own = [max(line.errors) for line in lines if line.name.startswith("geco")]
    return min(least) - 0.01, max([*least, *own]) + 0.03


class Bounded(NamedTuple):
    """The gap after a rank, and what bounds it."""

    rank: int
    measured: float
    certificate: float
    theorem_1: float
    theorem_2: float


LOOKS: dict[str, dict[str, Any]] = {
    "measured": {"color": "#c2410c", "marker": "o", "ms": 3},
    "certificate": {"color": "#15803d", "ls": "-"},
    "theorem_1": {"color": "#1d4ed8", "ls": "--"},
    "theorem_2": {"color": "#7e22ce", "ls": ":"},
}


def theory(
    gaps: Mapping[str, Sequence[Bounded]],
    sides: Sequence[int],
    cells: Sequence[float],
    exponent: float,
) -> Any:
    """A panel for each τ, the gap and its three bounds; one for the cells that suffice."""
    import matplotlib.pyplot as plt

    count = len(gaps) + 1
    figure, axes = plt.subplots(1, count, figsize=(3.4 * count, 3.8), layout="constrained")
    for ax, (title, curve) in zip(axes[:-1], gaps.items(), strict=True):
        ranks = [bounded.rank for bounded in curve]
        for name, look in LOOKS.items():
            values = [getattr(bounded, name) for bounded in curve]
            ax.plot(ranks, values, label=name.replace("_", " "), **look)
        ax.set(title=title, xlabel="rank", yscale="log")
    axes[0].set_ylabel("R(A) − R(Ā), and bounds on it")
    axes[0].legend(frameon=False, fontsize=8)
    _needed(axes[-1], sides, cells, exponent)
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(color=GRID, alpha=0.2)
    return figure


def _needed(ax: Any, sides: Sequence[int], cells: Sequence[float], exponent: float) -> None:
    ax.loglog(sides, cells, "o-", color="#c2410c", label=f"measured, n^{exponent:.2f}")
    bound = [cells[0] * (n / sides[0]) ** 1.5 for n in sides]
    ax.loglog(sides, bound, "--", color="#1d4ed8", label="n^1.5, Corollary 1")
    ax.set(title="cells that suffice", xlabel="side n")
    ax.set_xticks(sides, [str(n) for n in sides])
    ax.minorticks_off()
    ax.legend(frameon=False, fontsize=8)
