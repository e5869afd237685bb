"""`geco evaluate`, `geco inspect`: what a model is worth, and what it holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from pygeco.cli.click_fit import describe_choice, tell_choice
from pygeco.cli.click_reading import name_left_out, read_clicks_for
from pygeco.cli.console import Voice, report_errors
from pygeco.cli.fit_summary import count_ratings, tell_errors
from pygeco.cli.models import is_of_clicks, open_model
from pygeco.cli.options import Item, Json, Model, Rating, User
from pygeco.cli.reading import read_for

Protocol = Annotated[
    Literal["auto", "ratings", "all", "leave-one-out", "new-rows"],
    typer.Option(
        help="ratings: errors, and lists by ratings above the threshold. all: for each user all "
        "new items are ranked, and every row of the file counts. leave-one-out: the file has lines "
        "'(user,item) item item …', and each item is ranked among those after it. new-rows: as "
        "all, for users that are known by the clicks in --given alone. auto: all for a model of "
        "clicks."
    ),
]
Given = Annotated[
    Path | None,
    typer.Option(help="With --protocol new-rows: a file of the clicks by which users are known."),
]


def evaluate(
    model: Model,
    ratings: Annotated[
        Path, typer.Argument(help="Ratings; those that the model was fitted to are left out.")
    ],
    user: User = None,
    item: Item = None,
    rating: Rating = None,
    k: Annotated[
        int | None,
        typer.Option("-k", "--count", min=1, help="Length of the lists; default: 10, 10 and 20."),
    ] = None,
    protocol: Protocol = "auto",
    threshold: Annotated[
        float | None,
        typer.Option(help="Ratings from here on are relevant; default: the fitted mean."),
    ] = None,
    given: Given = None,
    as_json: Json = False,
) -> None:
    """RMSE, MAE and coverage of 90% intervals; precision, recall and NDCG of the first k.

    Of clicks, and with all other protocols, the lists alone are judged, by every row of the file.
    Ratings that the model was fitted to are left out, and counted. Users and items that the model
    does not know count in the errors, as the average one, and not in the rankings. Lists
    leave out what the user had rated in the fit.
    """
    with report_errors("evaluate"):
        from pygeco.estimators import evaluate as judged

        voice, fitted = Voice(as_json), open_model(model)
        columns = {"user": user, "item": item, "rating": rating}
        how = _choose_protocol(protocol, fitted, threshold, given)
        if how != "ratings":
            held, more = _read_held_out(how, fitted, ratings, given, columns, voice)
            with voice.progress("ranking") as bar:
                lists = judged(fitted, held, protocol=how, k=k, progress=bar, **more)
            voice.result(lists.to_dict() | _counts(lists), _tell_lists(lists))
            return
        table = read_for(fitted, ratings, columns, voice)
        with voice.progress("ranking") as bar:
            e = judged(fitted, table, k=10 if k is None else k, threshold=threshold, progress=bar)
        values = e.errors._asdict() | {"coverage": e.coverage, "unknown": e.unknown}
        values |= e.ranking._asdict() | {"threshold": e.threshold, "fitted": e.fitted}
        voice.result(values, _judgment(e))


def _choose_protocol(
    protocol: str, model: Any, threshold: float | None, given: Path | None
) -> Literal["ratings", "all", "leave-one-out", "new-rows"]:
    """The protocol that is meant; fails where the model or an option does not go with it."""
    clicks = is_of_clicks(model)
    if protocol == "ratings" and clicks:
        raise ValueError("--protocol: the model is one of clicks and predicts no ratings; use all.")
    how: Any = ("all" if clicks else "ratings") if protocol == "auto" else protocol
    if (how == "new-rows") != (given is not None):
        raise ValueError("--given: goes with --protocol new-rows, which needs it.")
    if threshold is not None and how != "ratings":
        raise ValueError("--threshold: is for ratings; every row of the file is a click here.")
    return how


def _read_held_out(
    how: str,
    model: Any,
    path: Path,
    given: Path | None,
    columns: dict[str, str | None],
    voice: Voice,
) -> tuple[Any, dict[str, Any]]:
    """The clicks that are asked for, and what the protocol needs beside them."""
    if how == "leave-one-out":
        from pygeco.io.click_lists import read_left_out

        left = read_left_out(path)
        held, negatives = name_left_out(model, left)
        return held, {"negatives": negatives}
    read = read_clicks_for if is_of_clicks(model) or given is None else read_for
    held = read(model, path, columns, voice)
    return held, {} if given is None else {"given": read(model, given, columns, voice)}


def _counts(found: Any) -> dict[str, int]:
    names = "rows", "held_out", "fitted", "unknown", "ties"
    return {"users" if name == "rows" else name: getattr(found, name) for name in names}


# Figures of lists that are printed, and how.
SHOWN = {
    "recall": ("Recall", "of the held-out clicks are on the list"),
    "ndcg": ("nDCG", "the same, first places count more; 1 is best"),
    "precision": ("precision", "of the list are held-out clicks"),
    "hit_rate": ("hit rate", "of the users have a hit"),
    "coverage": ("coverage", "of all items are on some list"),
}


def _tell_lists(found: Any) -> str:
    if not found.rows:
        raise ValueError("RATINGS: has no click of a known user on a known item that is new.")
    figures, ks = found.to_dict(), list(found.recall)
    lines = [f"{found.held_out:,} held-out clicks of {found.rows:,} users"]
    lines.append(" " * 10 + "".join(f"{f'@{k}':>9}" for k in ks))
    for name, (shown, what) in SHOWN.items():
        if name not in figures:
            continue
        cells = "".join(f"{figures[name][k]:>9.4f}" for k in ks)
        lines.append(f"{shown:<10}{cells}   {what}")
    if found.unknown:
        lines.append(f"unknown   {found.unknown:>9,}   clicks with a new user or item")
    if found.fitted:
        lines.append(f"left out  {found.fitted:>9,}   clicks that the model was fitted to")
    return "\n".join(lines)


def _judgment(e: Any) -> str:
    rmse, mae, interval = tell_errors(e.errors)
    judged = ", ".join(part for part in (interval, count_ratings(e)) if part)
    lines = [f"RMSE          {rmse}   {judged}", f"MAE           {mae}"]
    if e.coverage is not None:
        lines.append(f"coverage      {e.coverage:.1%}   of the ratings in their 90% intervals")
    r = e.ranking
    if r.users:
        lines += [
            f"precision@{r.k:<3} {r.precision:.4f}   of {r.users:,} users with a rating of at "
            f"least {e.threshold:.4g}",
            f"recall@{r.k:<3}    {r.recall:.4f}",
            f"NDCG@{r.k:<3}      {r.ndcg:.4f}",
        ]
    if e.unknown:
        lines.append(f"unknown       {e.unknown:,}   ratings with a new user or item")
    if e.fitted:
        lines.append(f"left out      {e.fitted:,}   ratings that the model was fitted to")
    return "\n".join(lines)


def inspect(model: Model, as_json: Json = False) -> None:
    """What a model file holds: kind, size, path, settings, versions. Checks every checksum."""
    with report_errors("inspect"):
        from pygeco import load
        from pygeco.estimators import describe

        about, fitted = describe(model), load(model)
        settings = fitted.get_params(deep=False)
        path = getattr(fitted, "path_", None)
        values = about | {
            "bytes": model.stat().st_size,
            "settings": {name: _short(it) for name, it in settings.items()},
            "fitted": {name: _short(it) for name, it in sorted(fitted.fitted_attributes().items())},
            "path": [
                {"rank": s.rank, "objective": s.objective, "gap": s.gap, "seconds": s.seconds}
                for s in path or ()
            ],
        }
        chosen = describe_choice(fitted) if is_of_clicks(fitted) else None
        lines = [
            f"{model}: {about['model']}, {values['bytes']:,} bytes, every checksum is right",
            f"saved {about['saved']} with "
            + ", ".join(f"{name} {number}" for name, number in about["versions"].items()),
            *_block("settings", values["settings"]),
            *_block("fitted", values["fitted"]),
        ]
        if chosen is not None:
            values["choice"] = chosen
            lines += ["choice", *(f"  {line}" for line in tell_choice(chosen))]
        elif path is not None:
            lines += ["path", *(f"  {line}" for line in repr(path).splitlines())]
        Voice(as_json).result(values, "\n".join(lines))


def _block(head: str, values: dict[str, str]) -> list[str]:
    width = max((len(name) for name in values), default=0)
    return [head, *(f"  {name:<{width}}  {text}" for name, text in values.items())]


def _short(value: Any) -> str:
    """A value in one line."""
    if isinstance(value, (str, int, float, bool)) or value is None:
        return repr(value)
    shape = getattr(value, "shape", None)
    kind = type(value).__name__
    if shape is not None:
        size = " × ".join(str(side) for side in shape)
        some = ""
        if kind == "ndarray" and value.ndim == 1 and len(value):
            some = f", {value[0]} … {value[-1]}"
        return f"{kind} {size}{some}"
    if hasattr(value, "_fields") or hasattr(value, "__dataclass_fields__"):
        text = repr(value)
        return text if len(text) <= 60 and "\n" not in text else kind
    return str(value)[:60].splitlines()[0] if str(value) else kind
