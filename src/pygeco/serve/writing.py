"""Lists as JSON, from pieces of text that are written once for each item."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from pygeco.serve.answers import find_lists, recommend
from pygeco.serve.requests import Recommend
from pygeco.serve.served import Served


def write_lists(served: Served, users: list[Any], asked: Recommend) -> list[bytes]:
    """The JSON of each user's list: what `recommend` gives, encoded."""
    if asked.deviation or asked.reasons:
        return [msgspec.json.encode(one) for one in recommend(served, users, asked)]
    at, columns, scores = find_lists(served, users, asked)
    names = served.name_as_asked(0, users, at)
    known = b"false", b"true"
    return [
        b'{"user":%b,"known":%b,"items":[%b]}' % (msgspec.json.encode(name), known[t >= 0], items)
        for name, t, items in zip(
            names, at.tolist(), _write_items(served, columns, scores), strict=True
        )
    ]


def _write_items(served: Served, columns: NDArray[Any], scores: NDArray[Any]) -> list[bytes]:
    """The items of each line, with commas between them; empty places, at the end, are left out."""
    flat, (lines, k) = columns.ravel().tolist(), columns.shape
    numbers = np.round(np.where(columns < 0, 0.0, np.asarray(scores, float)), served.places)
    pieces = [b""] * (2 * lines * k)
    pieces[0::2] = _write_heads(served, flat)
    pieces[1::2] = msgspec.json.encode(numbers.ravel().tolist())[1:-1].split(b",")
    found = []
    for t, count in enumerate(np.count_nonzero(columns >= 0, axis=1).tolist()):
        start = 2 * k * t
        # Each head closes the item before it; that of the first has none.
        found.append(b"".join(pieces[start : start + 2 * count])[2:] + (b"}" if count else b""))
    return found


def _write_heads(served: Served, flat: list[int]) -> list[bytes]:
    """What stands before the score of each item: the end of another, then its id and title."""
    heads = served.item_heads
    for j in set(flat) - heads.keys():
        name = msgspec.json.encode(served.name(1, np.array([j]))[0])
        title = msgspec.json.encode(served.title(j))
        heads[j] = b'},{"item":%b,"title":%b,"score":' % (name, title)
    return list(map(heads.__getitem__, flat))
