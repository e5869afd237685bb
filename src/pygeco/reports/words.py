"""Numbers and findings as sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pygeco.algorithm.path import Step
from pygeco.diagnostics import Curve, GroupEffect, Judged, Spread
from pygeco.diagnostics.completion import Completion

MAX_SILENT = 8  # names of attributes that say nothing
MIN_COVERED = 20  # cells, for the share of them inside intervals to say something


def format_number(value: float, digits: int = 4) -> str:
    """Four significant digits, thousands apart, no exponent where a reader can do without."""
    if not math.isfinite(value):
        return "–"
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    if 1e-3 <= abs(value) < 1e15:
        places = digits - 1 - math.floor(math.log10(abs(value)))
        return f"{value:,.{max(0, places)}f}"
    return f"{value:#.{digits}g}"


def format_signed(value: float, largest: float = 1.0) -> str:
    """The sign and two places; what rounds to zero has no sign.

    Beside others of which the `largest` is below a tenth, more places; from a hundred on fewer.
    """
    power = math.floor(math.log10(largest)) if largest > 0 else 0
    if not -6 <= power < 12:
        return f"{value:+#.3g}"
    places = max(0, min(2, 3 - power)) if power >= 0 else 1 - power
    text = f"{value:+,.{places}f}"
    return text if text.strip("+-0.") else text[1:]


def format_share(share: float) -> str:
    """In percent with two places; a small one with two digits, for it is not zero."""
    return f"{share:.2%}" if share >= 1e-3 or not share else f"{100 * share:.2g}%"


def format_lower_bound(probability: float) -> str:
    """A probability in percent, rounded down: "at least 100.0 %" would be a lie."""
    return f"{math.floor(1000 * probability) / 10:.1f}%"


def name_kinds(model: Completion) -> tuple[str, str, str]:
    """What rows, columns and cells are called: those of a table are users, items and ratings."""
    if getattr(model, "table_columns_", None):
        return ("user", "item", "rating")
    return ("row", "column", "cell")


def describe_values(found: Spread, kind: str) -> str:
    """The values in a sentence."""
    total, levels = int(found.counts.sum()), len(found.levels)
    what = make_plural(levels, "level") if found.edges is None else "many different values"
    low, high = (
        (found.levels[0], found.levels[-1])
        if found.edges is None
        else (found.edges[0], found.edges[-1])
    )
    return (
        f"{make_plural(total, kind)} with {what} from {format_number(float(low))} to "
        f"{format_number(float(high))}: mean {format_number(found.mean, 3)}, "
        f"median {format_number(found.median, 3)}, deviation "
        f"{format_number(found.deviation, 3)}."
    )


def make_plural(count: int, word: str) -> str:
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def describe_fit(model: Completion, cells: int) -> str:
    """What was fitted, to what, how."""
    m, n = model.factors_.shape
    share = cells / (m * n)
    row, column, cell = name_kinds(model)
    offsets = f"offsets for {row}s and {column}s and " if has_offsets(model) else ""
    how = {
        True: "Empirical Bayes set every weight and the rank from the data; nothing was tuned.",
        False: f"GECO grew it one rank at a time under the {model.loss_.name} loss.",
    }[model.posterior_ is not None]
    average, evidence = model.average_, model.posterior_
    drawn = (
        f" Predictions average {make_plural(average.sweeps or model.posterior, 'sweep')} from the "
        f"posterior; the evidence itself has rank {evidence.rank}."
        if average is not None and evidence is not None
        else ""
    )
    what = "matrix" if row == "row" else "table"
    return (
        f"A {what} of {make_plural(m, row)} and {make_plural(n, column)}, of which "
        f"{make_plural(cells, cell)} ({format_share(share)}) were observed, is approximated by "
        f"{offsets}a matrix of rank {model.factors_.rank}. {how}{drawn}"
    )


def describe_attributes(groups: Sequence[GroupEffect], kinds: tuple[str, str, str]) -> str:
    """Which attributes matter most, and how many say nothing."""
    speaking = [group for group in groups if group.strength > 0]
    if not speaking:
        return "None of the attributes says anything that the data do not say without them."
    first = speaking[0]
    of = kinds[0] if first.side == "row" else kinds[1]
    said = (
        f"Of {make_plural(len(groups), 'attribute')}, {first.group} of the {of} matters most: it "
        f"moves predictions by {format_number(first.strength, 3)} (root mean square)."
    )
    silent = [group.group for group in groups if not group.strength]
    if not silent:
        return said
    shown = ", ".join(silent[:MAX_SILENT]) + (", …" if len(silent) > MAX_SILENT else "")
    verb = "says" if len(silent) == 1 else "say"
    return f"{said} {len(silent):,} {verb} nothing beside the others: {shown}."


def has_offsets(model: Completion) -> bool:
    return bool(abs(model.biases_.row).any() or abs(model.biases_.col).any())


def describe_certificate(model: Completion) -> list[str]:
    """What is proved about the last step."""
    step: Step = model.path_[-1]
    proof = step.certificate
    gap = step.gap
    size = proof.trace_norm if proof.weighted_norm is None else proof.weighted_norm
    lines = [
        f"The objective of the fit is {format_number(step.objective)}. No matrix of {proof.norm} "
        f"up to {format_number(size)}, the model's own, has one that is lower by more than "
        f"{format_number(gap)}, whatever its rank.",
        "The bound is computed at the solution, from convexity and the largest singular value of "
        f"the gradient. That value is estimated from a random start; the bound holds with a "
        f"probability of at least {format_lower_bound(proof.confidence)}.",
    ]
    lines.append(_describe_verdict(model, step))
    lines.append(
        "The bound speaks of the fitted cells. What the model does on new ones, only cells that "
        "were held out can tell."
    )
    return lines


def _describe_verdict(model: Completion, step: Step) -> str:
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


def describe_error(judged: Judged, kind: str = "cell") -> str:
    where = "held-out" if judged.cells.held_out else "fitted"
    sampled = len(judged.observed) < judged.cells.total
    some = f" (a random {len(judged.observed):,} of {judged.cells.total:,})" if sampled else ""
    return make_plural(len(judged.observed), f"{where} {kind}") + some


def describe_curve(found: Curve) -> str:
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
        f"{format_number(float(found.held_out[best]))}."
    )


# How far the share inside an interval may be off before it counts as wrong, by its level.
TOLERANCES = {0.5: 0.05, 0.9: 0.02, 0.99: 0.006}


def describe_coverage(levels: list[tuple[float, float]], cells: int) -> str:
    """Whether intervals of 50, 90 and 99 % hold what they promise."""
    if not levels:
        return ""
    if cells < MIN_COVERED:
        return "These are too few to say whether intervals hold what they promise."
    found = [(level, share) for level, share in levels if level in TOLERANCES]
    said = ", ".join(f"those of {level:.0%} hold {share:.1%}" for level, share in found)
    verdicts = dict.fromkeys(give_verdict(level, share, cells) for level, share in found)
    if list(verdicts) == ["right"]:
        return f"Intervals are honest: {said} of the cells."
    wrong = " and ".join(name for name in verdicts if name != "right")
    return f"Intervals are {wrong}{' in part' if len(verdicts) > 1 else ''}: {said} of the cells."


def give_verdict(level: float, share: float, cells: int) -> str:
    """Right, too narrow or too wide, beyond what chance does (two deviations of a share)."""
    room = TOLERANCES.get(level, 0.03) + 2 * math.sqrt(level * (1 - level) / max(1, cells))
    if abs(share - level) <= room:
        return "right"
    return "too narrow" if share < level else "too wide"
