"""The figures of the last committed run, and which of them this run finds worse.

Only figures from which the machine's speed cancels are kept: shares of sgemm and of a read,
exponents, bytes a cell, times in products, errors.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from sections.measuring import Line

Found = dict[str, list[Line]]


def tracked(found: Found) -> dict[str, Line]:
    """The figures to keep, by "section: what"."""
    return {
        f"{section}: {line.what}": line
        for section, lines in found.items()
        for line in lines
        if line.tracked
    }


def compare(found: Found, file: Path) -> list[str]:
    """Sentences: what got worse by more than its slack, or that nothing did."""
    if not file.exists():
        return [f"{file.name}: none is kept yet; `bench.py --save` on an idle machine writes it."]
    kept = json.loads(file.read_text())
    now = tracked(found)
    both = [name for name in now if name in kept["figures"]]
    said = [_worse(name, now[name], kept["figures"][name]) for name in both]
    worse = [sentence for sentence in said if sentence]
    summary = f"{file.name}: {len(both)} figures compared, {len(worse)} worse"
    new, rest = len(now) - len(both), len(kept["figures"]) - len(both)
    notes = [f"{new} measured are not in it"] if new else []
    notes += [f"{rest} in it were not measured"] if rest else []
    if kept["cores"] != os.cpu_count():
        notes.append(f"it was measured on {kept['cores']} cores, this run on {os.cpu_count()}")
    return [*worse, "; ".join([summary, *notes]) + "."]


def _worse(name: str, line: Line, before: float) -> str:
    """How much worse, or an empty text; a figure of zero or below has no ratio."""
    if min(line.figure, before) <= 0:
        return ""
    ratio = before / line.figure if line.more else line.figure / before
    if ratio <= 1 + line.slack:
        return ""
    return (
        f"WORSE by {100 * (ratio - 1):.1f} %: {name}, {line.figure:.4g} {line.unit}".rstrip()
        + f" where the baseline has {before:.4g}."
    )


def save(found: Found, file: Path) -> None:
    """Write the figures of this run; those that it did not measure stay."""
    old = json.loads(file.read_text())["figures"] if file.exists() else {}
    new = {name: float(f"{line.figure:.4g}") for name, line in tracked(found).items()}
    content = {"cores": os.cpu_count(), "figures": old | new}
    file.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
