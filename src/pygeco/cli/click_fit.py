"""`geco fit` of clicks: the fit, what was chosen, and how lists do at held-out clicks."""

from __future__ import annotations

import warnings
from typing import Any

from pygeco.cli.attributes import PEOPLE, Table, Taken, take_sides
from pygeco.cli.click_reading import read_clicks_for, refuse_for_clicks
from pygeco.cli.console import Voice, explain_write_errors, report_errors
from pygeco.cli.fit_plan import Plan
from pygeco.cli.reading import Ratings


def fit_clicks(plan: Plan, voice: Voice, clicks: Ratings, tables: list[Table | None]) -> None:
    """Fit `ImplicitCompletion`, write the model, and say what came of it.

    `tables` have the attributes of users and of items.
    """
    from pygeco.cli.watching import Watch
    from pygeco.errors import ClicksWarning
    from pygeco.estimators import ImplicitCompletion

    refuse_for_clicks(plan)
    voice.note(clicks.clicks)
    sides = take_sides(plan.attributes, tables, clicks.fitted, on_cluster=False)
    taken = [side and side._replace(cells="clicks") for side in sides]
    for side in taken:
        if side:
            voice.note(side.tell())
    settings = {"rank", "random_state", "engine"} & plan.settings.keys()
    model = ImplicitCompletion(**{name: plan.settings[name] for name in settings})
    with report_errors("fit"):  # here an interrupt leaves nothing to continue from
        with Watch(voice, model, None, plan.limit) as watch:
            model.set_params(observer=watch)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", ClicksWarning)
                rows, columns = (side and side.given for side in taken)
                model.fit(clicks.fitted, row_attributes=rows, column_attributes=columns)
        model.set_params(observer=None)
        model.file_columns_ = clicks.columns or None
        held = clicks.held
        if plan.test is not None:
            held = read_clicks_for(model, plan.test, plan.columns, voice)
        elif held is not None:
            model.keep_held_out(held)
        with explain_write_errors(plan.output):
            model.save(plan.output)
        told = [str(w.message) for w in caught if w.category is ClicksWarning]
        said = [text.removeprefix("X: ").partition(";")[0] + "." for text in told]
        _summarize(plan, voice, model, held, clicks, taken, said, watch.out_of_time)


def _summarize(
    plan: Plan,
    voice: Voice,
    model: Any,
    held: Any,
    clicks: Ratings,
    taken: list[Taken | None],
    said: list[str],
    is_late: bool,
) -> None:
    from pygeco.diagnostics import measure_popularity

    m, n = model.factors_.shape
    cells = len(model.seen_.indices)
    choice = describe_choice(model, measure_popularity(model))
    values: dict[str, Any] = {
        "model": str(plan.output),
        "read": clicks.found,
        "clicks": cells,
        "users": m,
        "items": n,
        "rank": model.rank_,
        "choice": choice,
    }
    told = dict(zip(PEOPLE, taken, strict=True))
    if any(taken):
        values["attributes"] = {who: side.describe() for who, side in told.items() if side}
    lines = [] if voice.live else [clicks.found, clicks.clicks]
    lines += [] if voice.live else [side.tell() for side in taken if side]
    lines += [*said, f"{cells:,} clicks of {n:,} items by {m:,} users.", *tell_choice(choice)]
    if is_late:
        lines.append("the time limit is reached; what did best until then is fitted.")
    if held is not None:
        values["held_out"], judged = _judge_held_out(plan, voice, model, held)
        lines += judged
    lines.append(f"model: {plan.output}")
    voice.result(values, "\n".join(lines))


def describe_choice(model: Any, popularity: float | None = None) -> dict[str, Any]:
    """What was chosen for a model of clicks, for machines; beside it the nDCG@20 of popularity."""
    from pygeco.diagnostics import find_chosen_ndcg

    choice = model.choice_
    parts = {"squares": choice.share, "spectral": 1 - choice.share}
    sides = {"users": choice.row_attributes, "items": choice.column_attributes}
    told = {who: {"weight": it.weight, "pull": it.pull} for who, it in sides.items() if it}
    return {
        "families": {
            name: {"share": share, **vars(getattr(choice, name))}
            for name, share in parts.items()
            if share > 0
        },
        "trials": len(choice.trials),
        "ndcg@20": find_chosen_ndcg(model.model_),
        "popularity_ndcg@20": popularity,
    } | ({"attributes": told} if told else {})


def tell_choice(choice: dict[str, Any]) -> list[str]:
    """The same in words."""
    words = {"squares": "weighted squares", "spectral": "singular pairs"}
    parts = [
        f"{words[name]} of rank {part['rank']}"
        + (f" ({part['share']:.0%} of the scores)" if part["share"] < 1 else "")
        for name, part in choice["families"].items()
    ]
    how = "fitted"
    if choice["trials"]:
        how = f"chosen in {choice['trials']} trial{'s' if choice['trials'] > 1 else ''}"
    lines = [f"{how}: {' and '.join(parts)}."]
    lines += [_tell_weight(who, **it) for who, it in choice.get("attributes", {}).items()]
    if choice["ndcg@20"] is not None:
        beside = choice["popularity_ndcg@20"]
        lines.append(
            f"nDCG@20 {choice['ndcg@20']:.4f} at the clicks that chose"
            + ("." if beside is None else f"; the most popular items have {beside:.4f}.")
        )
    return lines


def _tell_weight(who: str, weight: float, pull: float) -> str:
    """What attributes are used for."""
    if not weight:
        return f"attributes of {who} are not used: they say nothing of new {who}."
    if not pull:
        return f"attributes of {who} place new {who}; those with clicks are as without them."
    return f"attributes of {who} place new {who}, and move those with few clicks (pull {pull:g})."


def _judge_held_out(
    plan: Plan, voice: Voice, model: Any, held: Any
) -> tuple[dict[str, Any] | None, list[str]]:
    """Lists at clicks that were not fitted, beside popularity, for machines and in words."""
    from pygeco.diagnostics import judge_clicks

    rows, cols = model.known_cells(held)[:2]
    with voice.busy("ranking"):
        found = judge_clicks(model, rows, cols)
    if found is None:  # the model is fitted and written: no reason to fail now
        return None, ["no held-out figures: no held-out click is of a user and an item of the fit."]
    lines = [
        f"held out: Recall@20 {found.model['recall'][20]:.4f} and nDCG@20 "
        f"{found.model['ndcg'][20]:.4f} over {found.clicks:,} clicks of {found.rows:,} users; the "
        f"most popular items have {found.popular['recall'][20]:.4f} and "
        f"{found.popular['ndcg'][20]:.4f}."
    ]
    if plan.test is None:
        lines.append(
            f"the {plan.holdout:.0%} held out are not part of the fit; geco recommend leaves them "
            "out, too. A fit without --holdout learns from all clicks."
        )
    return found._asdict(), lines
