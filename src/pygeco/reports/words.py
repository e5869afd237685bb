"""Numbers and findings as sentences."""

from __future__ import annotations

import math
from typing import Any

from pygeco.diagnostics import Curve, Judged
from pygeco.path import Step


def number(value: float, digits: int = 4) -> str:
    """Four significant digits, thousands apart, no exponent where a reader can do without."""
    if not math.isfinite(value):
        return "–"
    if value == int(value):
        return f"{int(value):,}"
    if 1e-4 <= abs(value) < 1e15:
        if abs(value) >= 10 ** (digits - 1):
            return f"{value:,.0f}"
        places = digits - len(str(int(abs(value)))) if abs(value) >= 1 else digits
        return f"{value:,.{places}f}"
    return f"{value:.{digits - 1}g}"


def plural(count: int, word: str) -> str:
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def fitted(model: Any, cells: int) -> str:
    """What was fitted, to what, how."""
    m, n = model.factors_.shape
    share = cells / (m * n)
    offsets = "offsets for rows and columns and " if any_offsets(model) else ""
    how = {
        True: "Empirical Bayes set every weight and the rank from the data; nothing was tuned.",
        False: f"GECO grew it one rank at a time under the {model.loss_.name} loss.",
    }[model.posterior_ is not None]
    average = getattr(model, "average_", None)
    drawn = (
        f" Predictions average {plural(average.sweeps or model.posterior, 'sweep')} from the "
        f"posterior; the evidence itself has rank {model.posterior_.rank}."
        if average is not None
        else ""
    )
    return (
        f"A matrix of {plural(m, 'row')} and {plural(n, 'column')}, of which {cells:,} cells "
        f"({share:.2%}) were observed, is approximated by {offsets}a matrix of rank "
        f"{model.factors_.rank}. {how}{drawn}"
    )


def any_offsets(model: Any) -> bool:
    return bool(abs(model.biases_.row).any() or abs(model.biases_.col).any())


def certificate(model: Any) -> list[str]:
    """What is proved about the last step."""
    step: Step = model.path_[-1]
    proof = step.certificate
    gap = step.gap
    size = proof.trace_norm if proof.weighted_norm is None else proof.weighted_norm
    lines = [
        f"The objective of the fit is {number(step.objective)}. No matrix of {proof.norm} up to "
        f"{number(size)}, the model's own, has one that is lower by more than "
        f"{number(gap)}, whatever its rank.",
        "The bound is computed at the solution, from convexity and the largest singular value of "
        f"the gradient. That value is estimated from a random start; the bound holds with a "
        f"probability of at least {proof.confidence:.1%}.",
    ]
    lines.append(_verdict(model, step))
    lines.append(
        "The bound speaks of the fitted cells. What the model does on new ones, only cells that "
        "were held out can tell."
    )
    return lines


def _verdict(model: Any, step: Step) -> str:
    gap = step.gap
    share = gap / step.objective if step.objective > 0 else 0.0
    if model.posterior_ is not None:
        return (
            "The evidence shrinks the model on purpose, so that it errs less on new cells: the "
            "plain error on the fitted cells could be pushed lower, "
            + (
                "and the bound rules nothing out: nothing is known of how much."
                if step.certificate.vacuous
                else "and the bound says how much lower at most."
            )
        )
    if step.certificate.vacuous:
        return (
            "Nothing is known here: the bound is as large as it could be, so it rules nothing "
            "out. It tightens with a penalty (Ridge or Trace), which keeps the gradient and the "
            "trace norm small."
        )
    if not step.certificate.nonnegative:
        return "This objective can be negative, so the bound is no share of it."
    if share <= 0.01:
        return f"That is {share:.2%} of the objective: more rank would buy next to nothing."
    return f"That is {share:.0%} of the objective: at most so much is left to gain."


def error(judged: Judged) -> str:
    where = "held-out" if judged.cells.held_out else "fitted"
    sampled = len(judged.observed) < judged.cells.total
    some = f" (a random {len(judged.observed):,} of {judged.cells.total:,})" if sampled else ""
    return f"{len(judged.observed):,} {where} cells{some}"


def curve(found: Curve) -> str:
    """What the path shows."""
    if not found.refitted:
        said = (
            "The fit chose its rank by itself. The curve shows what its leading components do, "
            "strongest first, on top of the offsets."
        )
    else:
        said = "Every rank is a solution of its own, all from one fit."
    if found.held_out is None:
        return f"{said} No held-out cells were given, so the curve can only fall."
    best = int(found.held_out.argmin())
    return (
        f"{said} The error on held-out cells is lowest at {int(found.ranks[best])}, with "
        f"{number(float(found.held_out[best]))}."
    )


def coverage(levels: list[tuple[float, float]]) -> str:
    if not levels:
        return ""
    inside = dict(levels)[0.9]
    if abs(inside - 0.9) <= 0.02:
        return f"Intervals are honest: those of 90 % hold {inside:.1%} of the cells."
    how = "too narrow" if inside < 0.9 else "too wide"
    return f"Intervals are {how}: those of 90 % hold {inside:.1%} of the cells."
