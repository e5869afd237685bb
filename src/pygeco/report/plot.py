"""Pictures (matplotlib, an extra). Each function draws on axes and returns them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pygeco.path import Path

INK, MUTED, TEST, TRAIN = "#22303c", "#8896a3", "#c2410c", "#1d4ed8"


def path(fit: Path, test_error: Sequence[float] | None = None, ax: Any = None) -> Any:
    """Root mean squared error against rank, on the fitted cells and on held-out ones if given."""
    import matplotlib.pyplot as plt
    from matplotlib.ticker import MaxNLocator

    if ax is None:
        _, ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
    ranks = [step.rank for step in fit]
    ax.plot(ranks, [step.objective**0.5 for step in fit], "o-", color=TRAIN, label="fitted cells")
    if test_error is not None:
        ax.plot(ranks, test_error, "o-", color=TEST, label="held-out cells")
        best = min(range(len(ranks)), key=lambda t: test_error[t])
        ax.annotate(
            f"lowest at rank {ranks[best]}: {test_error[best]:.3f}",
            (ranks[best], test_error[best]),
            xytext=(0, 14),
            textcoords="offset points",
            ha="center",
            color=TEST,
        )
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set(xlabel="rank", ylabel="root mean squared error")
    ax.margins(y=0.15)
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(colors=INK)
    ax.grid(axis="y", color=MUTED, alpha=0.25)
    return ax
