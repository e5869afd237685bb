"""The account of a reproduction: tables and verdicts, in Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from pygeco.experiments.claims import Verdict
from pygeco.experiments.figure1 import Curve

SHOWN = (1, 2, 5, 10)

INTRODUCTION = """# The paper's Figure 1, run again

Test RMSE against rank, as in section 5 of "Large-Scale Convex Minimization with a Low-Rank
Constraint" (Shalev-Shwartz, Gonen and Shamir, ICML 2011). "half" is a random half of the ratings
held out, "ub" and "rb" the official splits. "Least" is the least error on the test cells over all
ranks, as the paper reports it. JS takes its trace bound from a tenth of the ratings to fit, held
out from them; "centred" means that their mean was subtracted first. The paper does not say what
its JS was given.
"""


def account(curves: Sequence[Curve], verdicts: Iterable[Verdict], figure: str | None) -> str:
    """The whole page; `figure` is the picture's file name."""
    parts = [INTRODUCTION]
    if figure is not None:
        parts.append(f"![Test RMSE against rank]({figure})\n")
    parts += ["## What the paper says\n", _table(VERDICTS, [_verdict(v) for v in verdicts])]
    for dataset, split in dict.fromkeys((c.job.dataset, c.job.split) for c in curves):
        mine = [c for c in curves if (c.job.dataset, c.job.split) == (dataset, split)]
        parts += [f"## {dataset}, {split}\n", _table(NUMBERS, [_numbers(c) for c in mine])]
    total = sum(c.seconds for c in curves)
    parts.append(f"All runs together took {total / 60:.1f} minutes, choices of bounds included.\n")
    return "\n".join(parts)


VERDICTS = ("claim", "data", "holds", "numbers")
NUMBERS = ("method", "least", "at rank", *(f"rank {r}" for r in SHOWN), "seconds", "")


def _verdict(verdict: Verdict) -> tuple[str, ...]:
    return verdict.claim, verdict.data, "yes" if verdict.holds else "**no**", verdict.numbers


def _numbers(curve: Curve) -> tuple[str, ...]:
    best = curve.best
    at = (curve.error(rank) for rank in SHOWN)
    shown = ("" if math.isnan(error) else f"{error:.4f}" for error in at)
    label = curve.job.label
    return label, f"{best.test:.4f}", str(best.rank), *shown, f"{curve.seconds:.1f}", best.note


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"
