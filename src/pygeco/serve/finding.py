"""Users and items by a part of their id or title, the best known first."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pygeco.serve.requests import Match
from pygeco.serve.served import Served

MAX_LOOKED_AT = 1_000  # places where a text is found that are looked at


@dataclass(frozen=True, eq=False)
class TextIndex:
    """All names in one text, a line each, the best known first: looked through at C's speed."""

    text: str
    starts: list[int]
    order: NDArray[np.int64]

    def find(self, wanted: str, k: int) -> list[int]:
        """Positions of names with `wanted` in them; those that begin with it come first."""
        asked = fold_text(wanted)
        if not asked:
            return self.order[:k].tolist()
        found: dict[int, None] = {}
        for pattern in (f"\n{asked}", asked):
            at = self.text.find(pattern)
            for _ in range(MAX_LOOKED_AT):
                if at < 0 or len(found) >= k:
                    break
                line = bisect_right(self.starts, at + len(pattern) - 1) - 1
                found.setdefault(line)
                at = self.text.find(pattern, self.starts[line + 1] - 1)
        return self.order[list(found)[:k]].tolist() if found else []


def fold_text(text: str) -> str:
    """The text on one line without case and accents, which people leave out when they type."""
    if text.isascii():
        return " ".join(text.lower().split())
    apart = unicodedata.normalize("NFKD", text).casefold()
    letters = "".join(one for one in apart if not unicodedata.combining(one))
    return " ".join(letters.split())


def build_index(served: Served, side: int) -> TextIndex:
    """The index of the items, by title and id, or of the users, by id."""
    order = np.argsort(-served.counts[side], kind="stable")
    names = [str(name) for name in served.name(side, order)]
    if side and served.titles is not None:
        titles = served.titles
        names = [f"{titles[j]} #{name}" for j, name in zip(order.tolist(), names, strict=True)]
    lines = [fold_text(name) for name in names]
    starts, at = [], 1
    for line in lines:
        starts.append(at)
        at += len(line) + 1
    return TextIndex("\n" + "\n".join(lines) + "\n", [*starts, at], order)


def name_matches(served: Served, side: int, found: list[int]) -> list[Match]:
    at = np.array(found, np.int64)
    counts = served.counts[side][at].tolist()
    return [
        {"id": name, "title": served.title(j) if side else None, "count": count}
        for name, j, count in zip(served.name(side, at), found, counts, strict=True)
    ]
