"""What columns of users, items, ratings, times and titles are called, and which these are.

Names are compared in lower case and without the signs between words: "User_ID", "user id" and
"userId" are one. A name is a word for somebody or something, with or without a sign that it is an
id: "member", "member_no", "memberId".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

# Of several columns for a role the one whose name comes first here is taken: plain words first.
PEOPLE = (
    *("user", "usr", "reviewer", "rater", "customer", "cust", "member", "visitor", "client"),
    *("consumer", "account", "profile", "reader", "viewer", "listener", "player", "person"),
    *("subscriber", "shopper", "buyer", "guest", "patron", "borrower", "student", "learner"),
    *("respondent", "participant", "subject", "judge", "critic", "voter", "worker", "annotator"),
    *("household", "patient", "employee", "author", "session"),
)
THINGS = (
    *("item", "movie", "film", "book", "isbn", "anime", "manga", "product", "prod", "asin"),
    *("parentasin", "track", "song", "artist", "album", "game", "show", "series", "episode"),
    *("video", "clip", "app", "article", "news", "story", "post", "page", "document", "doc"),
    *("business", "restaurant", "venue", "place", "poi", "hotel", "listing", "property"),
    *("recipe", "dish", "food", "beer", "wine", "joke", "course", "lesson", "question"),
    *("problem", "exercise", "sku", "offer", "ad", "brand", "podcast", "content", "media"),
    *("merchant", "store", "repo", "repository", "package"),
)
OPINIONS = (
    *("rating", "score", "star", "overall", "feedback", "grade", "mark", "preference", "pref"),
    *("opinion", "evaluation", "value", "val", "response", "vote", "y", "rui", "target"),
    *("label", "count", "playcount", "play", "listen", "listencount", "view", "click"),
    *("purchase", "quantity", "qty", "weight", "strength", "data", "interaction", "like"),
    *("recommended", "isrecommended", "correct", "hour", "playtime", "amount", "point"),
)
# Of these, names of counts: how often, not how much.
COUNT_NAMES = frozenset(
    (
        *("count", "counts", "n", "clicks", "plays", "playcount", "listens", "views", "visits"),
        *("purchases", "quantity", "qty", "times", "freq", "frequency", "weight", "strength"),
        *("events", "interactions", "hours"),
    )
)
TIMES = (
    *("timestamp", "time", "date", "datetime", "unixtime", "unixreviewtime", "reviewtime"),
    *("reviewdate", "ratingtime", "ratingtimestamp", "ratingdate", "eventtime", "created"),
    *("createdat", "createdon", "dateadded", "updated", "updatedat", "ts", "tstamp", "when"),
    *(
        "ratedat",
        "ratedon",
        "reviewedat",
        "eventtimestamp",
        "timestampms",
        "playedat",
        "listenedat",
    ),
    *("day", "epoch", "year", "month"),
)
# Of these a table may have one that says nothing of when a cell was known: of a film, its year.
VAGUE_TIMES = ("day", "year", "month", "when", "updated", "updatedat", "dateadded")
ID_ENDINGS = (
    *("id", "", "uid", "ids", "s", "key", "code", "no", "nr", "num", "number", "idx", "index"),
    *("uuid", "hash", "identifier", "ref"),
)
TYPE_ENDING = r":(token|float)(_seq)?$"  # RecBole's files write "user_id:token"
TITLE_ENDINGS = ("title", "name", "label", "caption")
RATING_ENDINGS = ("rating", "ratings", "score", "stars", "overall", "value", "grade")


def join_words(words: Iterable[str], endings: Iterable[str]) -> tuple[str, ...]:
    return tuple(word + ending for word in words for ending in endings)


NAMES: dict[str, tuple[str, ...]] = {
    "user": (
        *join_words(PEOPLE, ID_ENDINGS),
        *("uid", "u", "row", "rows", "rowid", "rowindex", "i", "profilename", "reviewprofilename"),
        *join_words(PEOPLE, ["name"]),
    ),
    "item": (
        *join_words(THINGS, ID_ENDINGS),
        *("iid", "column", "columns", "col", "cols", "colid", "columnid", "columnindex", "j"),
        *(2 * thing + "id" for thing in THINGS),
    ),
    "rating": (
        *join_words(OPINIONS, ("", "s")),
        *("ratingvalue", "ratingscore", "implicitfeedback"),
        # Of whom or of what: "Book-Rating", "review_score".
        *join_words(("review", "my", "user", "star", "overall", *THINGS), RATING_ENDINGS),
    ),
    "time": TIMES,
    "moment": tuple(name for name in TIMES if name not in VAGUE_TIMES),
    "title": (
        *("title", "titles", "name", "names"),
        *join_words(THINGS, TITLE_ENDINGS),
        *("originaltitle", "fulltitle", "primarytitle", "label", "caption"),
    ),
}
ORDER = {
    role: {name: at for at, name in reversed(list(enumerate(names)))}
    for role, names in NAMES.items()
}


def plain_name(name: str) -> str:
    """The name in lower case, without signs between its words, and without a type after it."""
    return re.sub(r"[\W_]", "", re.sub(TYPE_ENDING, "", name.lower()))


def find_role(names: Sequence[str], role: str) -> int | None:
    """The column whose name says best that it has this role; None where none does."""
    order = ORDER[role]
    known = [
        (order[plain], at) for at, plain in enumerate(map(plain_name, names)) if plain in order
    ]
    return min(known)[1] if known else None


def match_columns(names: Sequence[str], roles: Sequence[str]) -> list[int] | None:
    """The columns whose names say that they are users, items and so on; None unless all do."""
    found = [find_role(names, role) for role in roles]
    at = [one for one in found if one is not None]
    return at if len(set(at)) == len(roles) else None


def list_names(names: Sequence[str]) -> str:
    """Names of columns as sentences show them."""
    return ", ".join(repr(name) for name in names[:12]) + (", …" if len(names) > 12 else "")
