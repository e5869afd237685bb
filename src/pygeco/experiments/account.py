"""The account of a reproduction: tables and verdicts, in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pygeco.experiments.claims import Verdict
from pygeco.experiments.figure1 import Curve
from pygeco.experiments.repeats import Repeats, grouped

SHOWN = (1, 2, 5, 10)

INTRODUCTION = """# The paper's Figure 1, run again

Test RMSE against rank, as in section 5 of "Large-Scale Convex Minimization with a Low-Rank
Constraint" (Shalev-Shwartz, Gonen and Shamir, ICML 2011). "half" is a random half of the ratings
held out, another one for each seed; "ub" and "rb" are the official splits, where a seed decides
the start vectors alone. "Least" is the least error on the test cells over all ranks, as the paper
reports it. GECO and JS are run from several seeds: numbers are means, ± is the standard deviation
over the seeds, and a verdict is "yes" or "**no**" where the 95 % interval of the mean (Student's t,
differences taken seed by seed) says so, else "open".

"GECO (paper)" takes section 2.1.2 to the letter: a replacement zeroes the smallest singular value
and is kept if that lowers the objective (`Solver.paper()`). "GECO, refitted replacements" first
minimizes again over what is kept (`Solver.refitted()`). JS takes its trace bound from a tenth of
the ratings to fit, held out from them; "centered" means that their mean was subtracted first. The
paper does not say what its JS was given.
"""


def account(curves: Sequence[Curve], verdicts: Iterable[Verdict], figure: str | None) -> str:
    """The whole page; `figure` is the picture's file name."""
    parts = [INTRODUCTION]
    if figure is not None:
        parts.append(f"![Test RMSE against rank]({figure})\n")
    parts += ["## What the paper says\n", _table(VERDICTS, [_verdict(v) for v in verdicts])]
    for (dataset, split), methods in grouped(curves).items():
        rows = [_numbers(repeats) for repeats in methods.values()]
        parts += [f"## {dataset}, {split}\n", _table(NUMBERS, rows)]
    total = sum(c.seconds for c in curves)
    parts.append(f"All runs together took {total / 60:.1f} minutes, choices of bounds included.\n")
    return "\n".join(parts)


VERDICTS = ("claim", "data", "holds", "numbers")
NUMBERS = ("method", "seeds", "least", "at rank", *(f"rank {r}" for r in SHOWN), "seconds", "")


def _verdict(verdict: Verdict) -> tuple[str, ...]:
    holds = {True: "yes", False: "**no**", None: "open"}[verdict.holds]
    return verdict.claim, verdict.data, holds, verdict.numbers


def _numbers(one: Repeats) -> tuple[str, ...]:
    at = (str(one.error(rank)) for rank in SHOWN)
    seconds = one.estimate(lambda curve: curve.seconds).mean
    notes = dict.fromkeys(curve.best.note for curve in one.curves)
    return (
        *(one.label, str(len(one.curves)), str(one.least), one.best_ranks),
        *(*at, f"{seconds:.1f}", "; ".join(note for note in notes if note)),
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"
