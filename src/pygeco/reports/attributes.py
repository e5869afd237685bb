"""What the page says of attributes: which of them matter, and which way."""

from __future__ import annotations

from typing import Any

from pygeco.diagnostics import GroupEffect, LevelEffect
from pygeco.diagnostics.completion import Completion
from pygeco.reports import words
from pygeco.reports.words import format_number

MAX_GROUPS = 20  # lines of the table of groups
MAX_DETAILED, MAX_LEVELS = 4, 12  # groups whose levels are shown, and how many of them
PATTERN_WORDS = "which {cell}s are known"


def gather_attributes(model: Completion, kinds: tuple[str, str, str]) -> dict[str, Any] | None:
    """What the template shows of it; None where the fit was told no attributes."""
    groups = model.attribute_effects_.groups
    told = [group for group in groups if group.source == "table"]
    if not told:
        return None
    speaking = [group for group in told if group.strength > 0]
    return {
        "words": words.describe_attributes(told, kinds),
        "groups": [_show_group(group, kinds) for group in groups[:MAX_GROUPS]],
        "more": max(0, len(groups) - MAX_GROUPS),
        "detailed": [_show_levels(group, kinds) for group in speaking[:MAX_DETAILED]],
    }


def _show_group(group: GroupEffect, kinds: tuple[str, str, str]) -> tuple[str, list[str]]:
    pattern = group.source == "pattern"
    name = PATTERN_WORDS.format(cell=kinds[2]) if pattern else group.group
    side = kinds[0] if group.side == "row" else kinds[1]
    if not group.strength:
        return name, [side, "nothing", "", ""]
    size = format_number(group.strength, 3)
    return name, [side, size, f"{group.share:.1%}", f"{group.degrees:.1f}"]


def _show_levels(group: GroupEffect, kinds: tuple[str, str, str]) -> dict[str, Any]:
    shown = sorted(group.levels[:MAX_LEVELS], key=lambda level: -level.weight)
    most = max(abs(level.weight) for level in shown) or 1.0
    return {
        "name": group.group,
        "side": kinds[0] if group.side == "row" else kinds[1],
        "more": len(group.levels) - len(shown),
        "top": [_show_level(level, most) for level in shown if level.weight >= 0],
        "bottom": [_show_level(level, most) for level in shown if level.weight < 0],
    }


def _show_level(level: LevelEffect, most: float) -> dict[str, Any]:
    return {
        "name": level.level or "one standard deviation more",
        "weight": words.format_signed(level.weight, most),
        "doubt": words.format_signed(2 * level.deviation, most).lstrip("+"),
        "bar": round(100 * abs(level.weight) / most),
    }
