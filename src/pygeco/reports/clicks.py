"""What the page says of a model of clicks: lists beside popularity, the long tail, the trials."""

from __future__ import annotations

from typing import Any

import numpy as np

from pygeco import diagnostics
from pygeco.clicks.model import ClickModel
from pygeco.diagnostics import ClickLists, LongTail, Names
from pygeco.diagnostics.completion import Completion
from pygeco.reports import charts
from pygeco.reports.comparison import sample_lists
from pygeco.reports.content import Titles, describe_reproduction
from pygeco.reports.words import format_number, make_plural

# Figures of lists and at which length, as the page shows them.
SHOWN = (
    ("Recall", "recall", 10),
    ("Recall", "recall", 20),
    ("nDCG", "ndcg", 10),
    ("nDCG", "ndcg", 20),
    ("precision", "precision", 10),
    ("hit rate", "hit_rate", 10),
    ("coverage", "coverage", 20),
)
FAMILIES = {
    "spectral": "singular pairs of normalized clicks",
    "squares": "weighted squares",
    "both": "both",
}
SETTINGS = ("rank", "row_power", "column_power", "ridge", "background", "popularity", "fame")
ATTRIBUTE_SETTINGS = ("weight", "pull")


def gather_click_content(
    model: Completion, held_out: object, titles: Titles, heading: str | None
) -> dict[str, Any]:
    """The values that the template of clicks asks for."""
    fitted = model.model_
    assert isinstance(fitted, ClickModel)
    kinds = ("user", "item") if model.table_columns_ else ("row", "column")
    rows = Names(kinds[0], model.row_ids_)
    cols = Names(kinds[1], model.column_ids_, titles)
    cells = diagnostics.find_held_out_cells(model, held_out)
    lists = None if cells is None else diagnostics.judge_clicks(model, cells.rows, cells.cols)
    tail = diagnostics.measure_long_tail(model)
    judged = (
        _show_lists(lists, kinds[1]) if lists is not None else _show_choice(model, fitted, kinds[1])
    )
    return {
        "template": "clicks.html.j2",
        "heading": heading or "Recommendations from clicks",
        "summary": _describe_fit(model, fitted, kinds),
        "tiles": _make_tiles(model, fitted, lists, tail, kinds[1]),
        "held_out": lists is not None,
        "warnings": [],
        "kinds": kinds,
        "judged": judged,
        "judged_words": _describe_lists(lists, kinds),
        "tail_words": _describe_tail(tail, kinds),
        "samples": sample_lists(model, rows, cols, "click"),
        "trial_words": _describe_trials(fitted),
        "charts": {"trials": charts.draw_trials(*_list_trials(fitted))} if fitted.trials else {},
        **describe_reproduction(model),
    }


def _make_tiles(
    model: Completion, fitted: ClickModel, lists: ClickLists | None, tail: LongTail, column: str
) -> list[dict[str, str]]:
    found: list[tuple[str, str, str]] = []
    if lists is not None:
        for shown, name in (("nDCG@20", "ndcg"), ("Recall@20", "recall")):
            ours, popular = lists.model[name][20], lists.popular[name][20]
            found.append((f"{shown}, held out", f"{ours:.4f}", f"most popular: {popular:.4f}"))
    elif (best := diagnostics.find_chosen_ndcg(fitted)) is not None:
        found.append(("nDCG@20", f"{best:.4f}", "at the clicks that chose"))
    m, n = model.factors_.shape
    found += [
        (
            "coverage",
            f"{tail.coverage:.0%}",
            f"of the {column}s are on some list of 20, of all lists",
        ),
        ("rank", f"{model.factors_.rank:,}", f"of a {m:,} × {n:,} matrix of scores"),
        ("trials", f"{len(fitted.trials)}", "of settings, by held-out clicks"),
    ]
    return [{"label": label, "value": value, "note": note} for label, value, note in found]


def _show_lists(found: ClickLists, column: str) -> dict[str, Any]:
    return {
        "heads": [f"{shown}@{k}" for shown, _, k in SHOWN],
        "rows": [
            (name, [f"{figures[key][k]:.4f}" for _, key, k in SHOWN])
            for name, figures in (
                ("this model", found.model),
                (f"most popular {column}s", found.popular),
            )
        ],
    }


def _show_choice(model: Completion, fitted: ClickModel, column: str) -> dict[str, Any]:
    popular = diagnostics.measure_popularity(model)
    lines = [
        ("this model", diagnostics.find_chosen_ndcg(fitted)),
        (f"most popular {column}s", popular),
    ]
    return {
        "heads": ["nDCG@20"],
        "rows": [(name, [f"{x:.4f}"]) for name, x in lines if x is not None],
    }


def _describe_fit(model: Completion, fitted: ClickModel, kinds: tuple[str, str]) -> str:
    m, n = model.factors_.shape
    parts = [
        (fitted.share, "squares", fitted.squares_settings),
        (1 - fitted.share, "spectral", fitted.spectral_settings),
    ]
    told = [
        f"{FAMILIES[name]} of rank {settings.rank}" + (f" ({share:.0%})" if share < 1 else "")
        for share, name, settings in parts
        if share > 0 and settings is not None
    ]
    how = "Held-out clicks chose" if fitted.trials else "It was fitted with"
    return (
        f"{make_plural(len(model.seen_.indices), 'click')} of {make_plural(n, kinds[1])} by "
        f"{make_plural(m, kinds[0])}. {how} {' and '.join(told)}; then all clicks were fitted."
    )


def _describe_lists(found: ClickLists | None, kinds: tuple[str, str]) -> str:
    what = (
        "nDCG counts first places more; 1 is best, and what can be reached depends on the data: "
        "compare with popularity."
    )
    if found is None:
        return (
            f"A tenth of the clicks was held out while settings were chosen, and each {kinds[0]}'s "
            f"list of 20 was compared with them. {what}"
        )
    return (
        f"Lists for {make_plural(found.rows, kinds[0])} against "
        f"{make_plural(found.clicks, 'click')} that were not fitted; lists leave out what was. "
        "Recall is the share of the held-out clicks on the list, precision the share of the list "
        f"that was clicked, hit rate the share of {kinds[0]}s with a hit, "
        f"coverage the share of all {kinds[1]}s on some list. {what}"
    )


def _describe_tail(tail: LongTail, kinds: tuple[str, str]) -> str:
    return (
        f"The most clicked tenth of the {kinds[1]}s has {tail.clicked_share:.0%} of the clicks, "
        f"and {tail.top_share:.0%} of the places on the lists of 20 for "
        f"{make_plural(tail.rows, kinds[0])}. "
        f"{tail.coverage:.0%} of all {kinds[1]}s are on some list."
    )


def _describe_trials(fitted: ClickModel) -> str:
    if not fitted.trials:
        return "Nothing: all settings were given, or kept when clicks were added."
    return (
        f"{make_plural(len(fitted.trials), 'trial')}, in this order, each judged by the same "
        "held-out clicks. The share is that of weighted squares in a blend of the best of both "
        "families."
        + (
            " Trials of new rows and columns are judged by others: lists of lines held out whole."
            if fitted.row_map is not None or fitted.column_map is not None
            else ""
        )
    )


def _has(trials: Any, name: str) -> bool:
    return any(hasattr(trial.settings, name) for trial in trials)


def _list_trials(fitted: ClickModel) -> tuple[Any, list[tuple[str, list[str]]]]:
    """The nDCG of the trials, and the columns of their table."""
    trials: Any = fitted.trials
    columns = [
        ("trial", [f"{k + 1}" for k in range(len(trials))]),
        ("family", [str(trial.family) for trial in trials]),
        ("nDCG@20", [f"{trial.ndcg:.4f}" for trial in trials]),
    ]
    names = [*SETTINGS, *(name for name in ATTRIBUTE_SETTINGS if _has(trials, name))]
    for name in names:
        values = [getattr(trial.settings, name, None) for trial in trials]
        shown = ["–" if x is None else format_number(float(x), 3) for x in values]
        columns.append((name.replace("_", " "), shown))
    shares = ["–" if trial.share is None else f"{trial.share:.0%}" for trial in trials]
    seconds = [f"{trial.seconds:.1f}" for trial in trials]
    columns += [("share of squares", shares), ("seconds", seconds)]
    return np.array([trial.ndcg for trial in trials]), columns
