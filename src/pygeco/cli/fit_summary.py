"""What `geco fit` says at the end: what was found, and the error on ratings held out."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pygeco.cli.attributes import PEOPLE, Taken, list_effects, tell_effects
from pygeco.cli.console import Voice, as_options
from pygeco.cli.fit_plan import Plan
from pygeco.cli.reading import Ratings
from pygeco.cli.times import call_times
from pygeco.errors.visible_numbers import find_format

if TYPE_CHECKING:
    from pygeco.diagnostics.metrics import Errors


def summarize_fit(
    plan: Plan,
    voice: Voice,
    model: Any,
    ratings: Ratings,
    found: list[str],
    taken: list[Taken | None],
    late: str,
    left_out: list[str],
) -> None:
    """Say what was `found` in the files and `taken` of attributes, and what came of it; `left_out`
    are sentences about times that say nothing.
    """
    m, n = model.factors_.shape
    cells = len(model.seen_.values)
    left_out = [call_times(sentence, ratings.times) for sentence in left_out]
    why = late or model.stop_reason_.advice
    values: dict[str, Any] = {
        "model": str(plan.output),
        "read": found[0],
        "left_out": left_out,
        "users": m,
        "items": n,
        "ratings": cells,
        "rank": model.rank_,
        "stop": why,
        "seconds": model.path_[-1].seconds if len(model.path_) else 0.0,
        "path": [
            {"rank": s.rank, "objective": s.objective, "gap": s.gap, "seconds": s.seconds}
            for s in model.path_
        ],
    }
    lines = [*left_out] if voice.live else [*found, *left_out]
    rated, by = (
        (side.ids if side else count) for side, count in zip(taken[::-1], (n, m), strict=True)
    )
    lines.append(f"rank {model.rank_} from {cells:,} ratings of {rated:,} items by {by:,} users.")
    effects = _tell_attributes(model, taken, is_whole=not late)
    for told, said in (_tell_draws(model), effects, _tell_time(model)):
        values |= told
        lines += said
    lines.append(f"stopped: {why}.")
    if ratings.held is not None:
        judged, said = _judge_held_out(plan, voice, model, ratings)
        values["held_out"] = judged
        lines += said
    else:
        voice.note("no held-out error: --holdout 0.1 would measure one.")
    lines.append(f"model: {plan.output}")
    voice.result(values, "\n".join(lines))


def _tell_draws(model: Any) -> tuple[dict[str, Any], list[str]]:
    """How many posterior draws make the predictions, for machines and in words."""
    if model.average_ is None:
        return {}, []
    drawn, chosen = model.average_.sweeps, model.posterior_.rank
    said = (
        f"the evidence has rank {chosen}; predictions are the mean of {drawn} posterior draws, "
        f"which takes rank {model.rank_}."
    )
    return {"evidence_rank": chosen, "draws": drawn}, [said]


def _tell_attributes(
    model: Any, taken: list[Taken | None], *, is_whole: bool
) -> tuple[dict[str, Any], list[str]]:
    """What was taken of attributes and which of them count, for machines and in words."""
    effects = list_effects(model)
    values: dict[str, Any] = {"effects": effects}
    if any(taken):
        sides = zip(PEOPLE, taken, strict=True)
        values["attributes"] = {who: side.describe() for who, side in sides if side}
    return values, tell_effects(effects, is_whole=is_whole)


def _tell_time(model: Any) -> tuple[dict[str, Any], list[str]]:
    """What time says, for machines and in words."""
    from pygeco.diagnostics.time_effects import describe_time, list_time_effects

    effects = list_time_effects(model)
    if effects:
        told = [one._asdict() for one in effects]
        return {"time": told}, [describe_time(effects, ("user", "item"))]
    said = ["the times say nothing that the ratings do not say."] if model.time_column_ else []
    return {"time": []}, said


def tell_errors(found: Errors) -> tuple[str, str, str]:
    """RMSE, MAE, and the interval of the RMSE, which one rating alone does not have."""
    told = find_format([found.rmse], 4)
    ends = found.low, found.high
    interval = f"95% interval {' to '.join(format(end, told) for end in ends)}"
    has_ends = math.isfinite(found.high)
    return format(found.rmse, told), format(found.mae, told), interval if has_ends else ""


def count_ratings(judged: Any) -> str:
    """How many ratings were judged, in words."""
    cells = judged.errors.cells
    return f"{cells:,} rating{'s' if cells != 1 else ''}"


def _judge_held_out(
    plan: Plan, voice: Voice, model: Any, ratings: Ratings
) -> tuple[dict[str, Any] | None, list[str]]:
    """The error on ratings that were not fitted, for machines and in words."""
    from pygeco.estimators.evaluation import evaluate

    try:
        with voice.progress("predicting what was held out") as bar:
            e = evaluate(model, ratings.held, k=10, progress=bar)
    except ValueError as error:  # the model is fitted and written: no reason to fail now
        why = call_times(as_options(str(error)), ratings.held_times)
        return None, [f"no held-out error: {why}"]
    said, _, interval = tell_errors(e.errors)
    lines = [
        f"held-out RMSE {said}{f' ({interval})' if interval else ''} over {count_ratings(e)}"
        + (f", {e.unknown:,} of them with a new user or item" if e.unknown else "")
        + (f"; {e.fitted:,} others were fitted and are left out." if e.fitted else ".")
    ]
    if plan.test is None:
        lines.append(
            f"the {plan.holdout:.0%} held out are not part of the fit; geco recommend leaves them "
            "out, too. A fit without --holdout learns from all ratings."
        )
    found = e.errors._asdict() | {"coverage": e.coverage, "unknown": e.unknown, "fitted": e.fitted}
    return found, lines
