"""The model beside simple rules: errors, lists, errors by activity, sample recommendations."""

from __future__ import annotations

from typing import Any

import numpy as np

from pygeco import diagnostics
from pygeco.arrays.kinds import host, on
from pygeco.diagnostics import Group, Judged, Lists, Names, Rule
from pygeco.diagnostics.completion import Completion
from pygeco.errors.visible_numbers import find_format
from pygeco.reports.words import format_number, make_plural

MAX_LISTED = 5  # columns of a sample list
MAX_LIKED = 3  # of the row's own best columns beside it


def compare_with_rules(
    model: Completion, judged: Judged, kinds: tuple[str, str, str], rows: Names, cols: Names
) -> dict[str, Any]:
    """What the template shows of it."""
    rules = diagnostics.predict_by_rules(model, judged, kinds)
    best = min(rules, key=lambda rule: _figures(model, rule, judged)[0])
    lists = diagnostics.judge_lists(model, judged) if judged.cells.held_out else None
    return {
        "measures": ["RMSE", "mean absolute error"] if _scale(model) else ["mean loss"],
        "rules": [("this model", _shown(model, judged, judged))]
        + [(rule.name, _shown(model, rule, judged)) for rule in rules],
        "lists": None if lists is None else _lists(lists, kinds),
        "activity": [
            (kind, _groups(diagnostics.measure_error_by_activity(model, judged, best, side)))
            for side, kind in (("row", kinds[0]), ("column", kinds[1]))
        ],
        "rule": best.name,
        "samples": sample_lists(model, rows, cols, kinds[2]),
        "by_choice": _orders_by_choice(model),
        "baselines": [f"{best.name}: {shown}" for shown in _shown(model, best, judged)],
    }


def _scale(model: Completion) -> bool:
    return bool(model.loss_.regression and diagnostics.has_common_scale(model.loss_))


def _figures(model: Completion, found: Judged | Rule, judged: Judged) -> list[float]:
    if not _scale(model):
        return [float(found.losses.mean())]
    off = found.predicted - judged.observed
    return [float(np.sqrt(np.mean(off**2))), float(np.mean(np.abs(off)))]


def _shown(model: Completion, found: Judged | Rule, judged: Judged) -> list[str]:
    return [format_number(x) for x in _figures(model, found, judged)]


def _lists(found: Lists, kinds: tuple[str, str, str]) -> dict[str, Any]:
    row, column, cell = kinds
    k = found.model.k
    return {
        "words": f"The first {k} {column}s for each of {make_plural(found.model.users, row)} "
        f"against the held-out {cell}s of at least {format_number(found.threshold, 3)}, the mean. "
        f"Lists leave out what was fitted. Precision is the share of a list that was such "
        f"a {cell}, recall the share of those that are in the list, NDCG counts the first "
        "places more." + (_on_popularity(kinds) if found.popular.ndcg > found.model.ndcg else ""),
        "heads": [f"precision@{k}", f"recall@{k}", f"NDCG@{k}"],
        "rows": [
            (name, [f"{x:.4f}" for x in (ranked.precision, ranked.recall, ranked.ndcg)])
            for name, ranked in (
                ("this model", found.model),
                (f"most popular {column}s", found.popular),
            )
        ],
    }


def _on_popularity(kinds: tuple[str, str, str]) -> str:
    row, column, cell = kinds
    return (
        f" Popularity is ahead here: {cell}s are of {column}s that {row}s chose themselves, and "
        f"there are too few of them to learn more of that choice than what is popular."
    )


def _orders_by_choice(model: Completion) -> bool:
    """Whether lists are by more than what is predicted, as held-out cells weighed it."""
    lists = model.model_.lists
    return lists is not None and bool(np.isfinite(lists.power))


def _groups(groups: list[Group]) -> list[tuple[str, list[str]]]:
    return [
        (
            f"{group.low:,}" if group.low == group.high else f"{group.low:,} to {group.high:,}",
            [f"{group.cells:,}", format_number(group.error), format_number(group.rule)],
        )
        for group in groups
    ]


def sample_lists(model: Completion, rows: Names, cols: Names, cell: str) -> list[dict[str, Any]]:
    """Lists for rows with few, with the usual number and with many cells."""
    chosen = diagnostics.find_typical_rows(model)
    if not chosen:
        return []
    index = on(np.array(chosen), model.factors_.U)
    best = model.model_.best(index, MAX_LISTED)
    pointers, indices = host(model.seen_.pointers), host(model.seen_.indices)
    values, known = host(model.seen_.values), diagnostics.count_by_column(model)
    found = []
    for row, columns, scores in zip(chosen, host(best.columns), host(best.scores), strict=True):
        own = slice(int(pointers[row]), int(pointers[row + 1]))
        told = find_format([float(x) for x, j in zip(scores, columns, strict=True) if j >= 0], 2)
        liked = indices[own][np.argsort(-values[own], kind="stable")[:MAX_LIKED]]
        found.append(
            {
                "name": rows[row] if rows.ids is None else f"{rows.kind} {rows[row]}",
                "cells": make_plural(int(pointers[row + 1] - pointers[row]), cell),
                "liked": [cols[int(j)] for j in liked],
                "best": [
                    {
                        "name": cols[int(j)],
                        "count": f"{known[j]:,}",
                        "score": format(float(x), told),
                    }
                    for j, x in zip(columns, scores, strict=True)
                    if j >= 0
                ],
            }
        )
    return found
