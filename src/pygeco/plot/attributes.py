"""Pictures of what attributes say: which of them matter, and which way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pygeco.diagnostics import GroupEffect
from pygeco.diagnostics.completion import Completion
from pygeco.plot import style

MAX_GROUPS, MAX_LEVELS = 12, 18  # that are drawn
SILENT = "says nothing"
TONES = {"row": style.TRAIN, "column": style.TEST}


def attributes(model: Completion, *, kind: str = "groups", ax: Any = None) -> Any:
    """Draw which attributes move predictions, or by how much each level of one does.

    Parameters
    ----------
    model : MatrixCompletion
        A model fitted with attributes, by the evidence.
    kind : str, default="groups"
        "groups" draws the strength of each group: the root mean square by which it moves
        predictions. The name of a group draws by how much each of its levels moves the mean
        prediction, with two standard deviations; "levels" does so for the strongest group.
    ax : matplotlib Axes or None, default=None
        None creates new ones.

    Returns
    -------
    matplotlib Axes
    """
    groups = model.attribute_effects_.groups
    if not groups:
        raise ValueError(
            "model: was told nothing of rows or columns; fit with row_attributes or "
            "column_attributes."
        )
    if kind == "groups":
        return _draw_groups(style.axes(ax), groups)
    return _draw_levels(style.axes(ax), _find_group(groups, kind))


def _find_group(groups: Sequence[GroupEffect], kind: str) -> GroupEffect:
    named = [group for group in groups if group.source == "table"]
    chosen = [group for group in named if kind in ("levels", group.group)]
    if not chosen:
        known = ", ".join(repr(group.group) for group in named) or "none"
        raise ValueError(
            f"kind: expected 'groups', 'levels' or the name of a group ({known}), not {kind!r}."
        )
    return chosen[0]


def _draw_groups(ax: Any, groups: Sequence[GroupEffect]) -> Any:
    shown = groups[:MAX_GROUPS]
    places = range(len(shown))
    for side, tone in TONES.items():
        own = [t for t in places if shown[t].side == side]
        if own:
            sizes = [shown[t].strength for t in own]
            ax.barh(own, sizes, height=0.66, color=tone, label=f"of {side}s")
    for t, group in zip(places, shown, strict=True):
        text = f" {group.share:.1%}" if group.strength else f" {SILENT}"
        ax.text(group.strength, t, text, va="center", fontsize=8.5, color=style.MUTED)
    ax.set_yticks(places, [style.shorten(group.group) for group in shown])
    ax.set_xlim(0, 1.25 * max(group.strength for group in shown) or 1)
    _finish(ax, "by how much it moves predictions (root mean square)", legend=True)
    left = len(groups) - len(shown)
    more = f"; {left:,} weaker ones are not shown" if left else ""
    style.note(ax, f"beside the bars: share of what tells the lines of a side apart{more}")
    return ax


def _draw_levels(ax: Any, group: GroupEffect) -> Any:
    shown = sorted(group.levels[:MAX_LEVELS], key=lambda level: -level.weight)
    places = np.arange(len(shown))
    alone = "one deviation" if group.strength else SILENT
    weights = np.array([level.weight for level in shown])
    ax.errorbar(
        weights, places, xerr=[2 * level.deviation for level in shown],
        fmt="o", ms=5, color=TONES[group.side], elinewidth=1.3,
    )  # fmt: skip
    ax.axvline(0, color=style.MUTED, lw=0.8)
    ax.set_yticks(places, [style.shorten(level.level or alone) for level in shown])
    ax.set_ylim(-0.6, len(shown) - 0.4)
    _finish(ax, f"{style.shorten(group.group)}: move of the mean prediction, ± two deviations")
    if len(group.levels) > len(shown):
        style.note(ax, f"the {len(shown)} strongest of {len(group.levels):,} levels")
    return ax


def _finish(ax: Any, x: str, *, legend: bool = False) -> None:
    ax.invert_yaxis()
    style.finish(ax, x, "", legend=legend, grid=False)
    ax.grid(axis="x", color=style.GRID, lw=0.7)
    ax.set_axisbelow(True)
