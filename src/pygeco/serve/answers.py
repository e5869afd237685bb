"""Answers to questions about a served model: plain functions of the model and the request."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.models.ranking import Best
from pygeco.serve.listing import list_rows
from pygeco.serve.requests import (
    MAX_EXPLAINED,
    Explain,
    Explanation,
    FoldIn,
    Listed,
    Predict,
    Reason,
    Recommend,
    Similar,
    UserList,
)
from pygeco.serve.served import Served
from pygeco.serve.typed import RequestError


def take_one_or_many(one: Any, many: list[Any] | None, names: str) -> tuple[list[Any], bool]:
    """What is asked about, and whether it is one; exactly one of both must be given."""
    if (one is None) == (many is None):
        raise RequestError(422, "missing_field", f"{names}: give one of them.")
    return ([one], True) if many is None else (many, False)


def take_pairs(asked: Predict | Explain) -> tuple[list[Any], list[Any], bool]:
    """Users and items that belong in pairs, and whether it is one pair."""
    users, is_one = take_one_or_many(asked.user, asked.users, "user, users")
    items, _ = take_one_or_many(asked.item, asked.items, "item, items")
    if len(users) != len(items) or (asked.item is None) == is_one:
        raise RequestError(
            422,
            "bad_length",
            f"items: {len(items):,} for {len(users):,} users; give user and item, or users and "
            "items of the same length.",
        )
    return users, items, is_one


def predict(served: Served, asked: Predict) -> dict[str, Any]:
    """The values of cells, and their deviations where they are asked for."""
    users, items, is_one = take_pairs(asked)
    strict = asked.unknown == "error"
    rows = served.find(0, users, "user", strict=strict)
    cols = served.find(1, items, "item", strict=strict)
    known = ((rows >= 0) & (cols >= 0)).tolist()
    scores = _numbers(served, served.model.predict(rows, cols))
    deviations: list[float | None] | None = None
    if asked.deviation:
        can = served.model.posterior is not None and not served.is_of_clicks
        found = _numbers(served, served.model.deviation(rows, cols)) if can else [None] * len(rows)
        deviations = list(found)
    if not is_one:
        more = {} if deviations is None else {"deviations": deviations}
        return {"scores": scores, "known": known} | more
    users, items = served.name_as_asked(0, users, rows), served.name_as_asked(1, items, cols)
    one = {"user": users[0], "item": items[0], "known": known[0], "score": scores[0]}
    return one if deviations is None else one | {"deviation": deviations[0]}


class FoundLists(NamedTuple):
    """Lists of users in positions: of the users, −1 for one that is unknown, and of the items."""

    at: NDArray[np.int64]
    columns: NDArray[Any]
    scores: NDArray[Any]


def find_lists(served: Served, users: list[Any], asked: Recommend) -> FoundLists:
    """A list for each user; unknown ones get that of the average user."""
    check_by(served, asked.by)
    k, allowed = asked.k, served.allow(asked.only, asked.without)
    if asked.reasons and len(users) * k > MAX_EXPLAINED:
        raise RequestError(
            413, "too_many", f"reasons: are given for at most {MAX_EXPLAINED:,} items in a request."
        )
    at = served.find(0, users, "user", strict=asked.unknown == "error")
    own, place = np.unique(np.maximum(at, 0), return_inverse=True)
    best = list_rows(
        served.model,
        served.list_parts,
        own,
        k,
        by=asked.by,
        hides=not asked.include_seen,
        allowed=allowed,
    )
    columns, scores = best.columns[place], best.scores[place]
    lost = at < 0
    if lost.any():
        width = columns.shape[1]
        columns[lost], scores[lost] = served.model.rank_for_average(width, allowed)
    return FoundLists(at, columns, scores)


def recommend(served: Served, users: list[Any], asked: Recommend) -> list[UserList]:
    """The list of each user, with deviations and reasons where they are asked for."""
    at, columns, scores = find_lists(served, users, asked)
    spread = _find_deviations(served, at, columns) if asked.deviation else None
    lists = name_lists(served, Best(columns, scores), spread)
    if asked.reasons and served.explains:
        _add_reasons(served, at, columns, lists, asked.reasons)
    return [
        {"user": user, "known": known, "items": items}
        for user, known, items in zip(
            served.name_as_asked(0, users, at), (at >= 0).tolist(), lists, strict=True
        )
    ]


def similar(served: Served, asked: Similar) -> dict[str, Any]:
    """What is most like each of some items, or users: the cosine of their vectors."""
    side = 1 if asked.user is None and asked.users is None else 0
    kinds = ("user", "item")
    one, many = (asked.item, asked.items) if side else (asked.user, asked.users)
    if not side and (asked.item is not None or asked.items is not None):
        raise RequestError(422, "bad_value", "user: items or users are alike, not both.")
    if not side and (asked.only is not None or asked.without is not None):
        raise RequestError(422, "bad_value", "only: is a filter of items; leave it out for users.")
    wanted, is_one = take_one_or_many(one, many, "item, items, user, users")
    at = served.find(side, wanted, kinds[side], strict=True)
    allowed = served.allow(asked.only, asked.without)
    n = served.model.shape[side]
    # With a filter all are ranked first: what it leaves may be anywhere in the order.
    k = n if allowed is not None else min(asked.k + 1, n)
    find = served.model.similar_columns if side else served.model.similar_rows
    lists = []
    for block in range(0, len(at), 256):
        best = find(at[block : block + 256], k)
        for columns, scores in zip(best.columns, np.asarray(best.scores), strict=True):
            keep = np.isfinite(scores) & (columns >= 0)
            if allowed is not None:
                keep &= allowed[columns]
            lists.append(_name_alike(served, side, columns[keep], scores[keep], asked.k))
    named = [
        {"to": to, "alike": alike} for to, alike in zip(served.name(side, at), lists, strict=True)
    ]
    return named[0] if is_one else {"lists": named}


def explain(served: Served, asked: Explain) -> dict[str, Any]:
    """What each known cell of a user adds to a prediction, strongest first."""
    if not served.explains:
        raise RequestError(
            422, "not_explained", "model: was fitted without the evidence, so it has no reasons."
        )
    users, items, is_one = take_pairs(asked)
    rows = served.find(0, users, "user", strict=True)
    cols = served.find(1, items, "item", strict=True)
    scores = _numbers(served, served.model.predict(rows, cols))
    users, items = served.name(0, rows), served.name(1, cols)
    found: list[Explanation] = []
    for i, j, user, item, score in zip(rows, cols, users, items, scores, strict=True):
        why = served.model.explain(int(i), int(j), asked.k)
        found.append(
            {
                "user": user,
                "item": item,
                "score": score,
                "base": round(float(why.base), served.places),
                "attributes": {
                    name: round(add, served.places) for name, add in why.attributes.items()
                },
                "time": round(float(why.time), served.places),
                "reasons": name_reasons(served, why.columns, why.contributions),
            }
        )
    return dict(found[0]) if is_one else {"explanations": found}


def fold_in(served: Served, asked: FoldIn) -> dict[str, Any]:
    """Lists for new people, by what they know."""
    from pygeco.serve.newcomers import fold_people

    check_by(served, asked.by)
    people, is_one = take_one_or_many(asked.known, asked.people, "known, people")
    if asked.reasons and len(people) * asked.k > MAX_EXPLAINED:
        raise RequestError(
            413, "too_many", f"reasons: are given for at most {MAX_EXPLAINED:,} items in a request."
        )
    lists = fold_people(served, people, asked, served.allow(asked.only, asked.without))
    return {"items": lists[0]} if is_one else {"lists": [{"items": items} for items in lists]}


def check_by(served: Served, by: str) -> None:
    if by == "choice" and (served.is_of_clicks or served.model.lists is None):
        raise RequestError(422, "bad_value", "by: the model has not learned choices; use value.")


def name_lists(served: Served, best: Best, spread: NDArray[Any] | None) -> list[list[Listed]]:
    """Lists of positions in the words of the interface; places that are empty are left out."""
    names = served.name(1, np.maximum(best.columns, 0))
    columns, titles, places = best.columns.tolist(), served.titles, served.places
    scores = np.round(np.asarray(best.scores, float), places).tolist()
    lists: list[list[Listed]] = []
    for t, line in enumerate(columns):
        found: list[Listed] = [
            {"item": name, "title": None if titles is None else titles[j], "score": score}
            for j, name, score in zip(line, names[t], scores[t], strict=True)
            if j >= 0
        ]
        if spread is not None:
            for one, deviation in zip(found, spread[t].tolist(), strict=False):
                one["deviation"] = None if np.isnan(deviation) else round(deviation, places)
        lists.append(found)
    return lists


def name_reasons(served: Served, columns: NDArray[Any], adds: NDArray[Any]) -> list[Reason]:
    return [
        {"item": name, "title": served.title(j), "adds": round(add, served.places)}
        for name, j, add in zip(
            served.name(1, columns), columns.tolist(), np.asarray(adds).tolist(), strict=True
        )
    ]


def _find_deviations(served: Served, at: NDArray[Any], columns: NDArray[Any]) -> NDArray[Any]:
    if served.is_of_clicks or served.model.posterior is None:
        return np.full(columns.shape, np.nan)
    return np.asarray(served.model.deviation(at[:, None], np.maximum(columns, 0)), float)


def _add_reasons(
    served: Served, at: NDArray[Any], columns: NDArray[Any], lists: list[list[Listed]], k: int
) -> None:
    for i, line, listed in zip(at.tolist(), columns, lists, strict=True):
        for j, one in zip(line[line >= 0].tolist(), listed, strict=True):
            if i < 0:  # the average user rated nothing
                one["reasons"] = []
                continue
            why = served.model.explain(i, j, k)
            one["reasons"] = name_reasons(served, why.columns, why.contributions)


def _name_alike(
    served: Served, side: int, at: NDArray[Any], scores: NDArray[Any], k: int
) -> list[dict[str, Any]]:
    at, scores = at[:k], scores[:k]
    kind = ("user", "item")[side]
    named = [
        {kind: name, "similarity": round(score, 4)}
        for name, score in zip(served.name(side, at), scores.tolist(), strict=True)
    ]
    if side:
        for one, j in zip(named, at.tolist(), strict=True):
            one["title"] = served.title(j)
    return named


def _numbers(served: Served, values: Any) -> list[float]:
    return np.round(np.asarray(values, float), served.places + 2).tolist()
