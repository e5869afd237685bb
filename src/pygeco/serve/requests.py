"""What can be asked of a served model, and the shape of its answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, NotRequired, TypedDict

from pygeco.serve.typed import Between

MAX_BATCH = 10_000  # rows of one request
MAX_LENGTH = 1_000  # items of one list
MAX_REASONS = 10  # reasons of one item
MAX_EXPLAINED = 1_000  # items of one request whose reasons are given
MAX_FILTER = 100_000  # items of a filter
MAX_PEOPLE = 1_000  # new people of one request
MAX_KNOWN = 10_000  # ratings or clicks of one new person

Id = str | int | float
Ids = Annotated[list[Id], Between(1, MAX_BATCH)]
Filter = Annotated[list[Id], Between(0, MAX_FILTER)]
Length = Annotated[int, Between(1, MAX_LENGTH)]
Reasons = Annotated[int, Between(0, MAX_REASONS)]
By = Literal["auto", "value", "choice"]
Unknown = Literal["mean", "error"]


@dataclass(frozen=True, kw_only=True)
class Predict:
    """One cell by `user` and `item`, or many by `users` and `items`, which belong in pairs."""

    user: Id | None = None
    item: Id | None = None
    users: Ids | None = None
    items: Ids | None = None
    deviation: bool = False
    unknown: Unknown = "mean"


@dataclass(frozen=True, kw_only=True)
class Recommend:
    """A list for one `user`, or for each of `users`."""

    user: Id | None = None
    users: Ids | None = None
    k: Length = 10
    by: By = "auto"
    only: Filter | None = None
    without: Filter | None = None
    include_seen: bool = False
    deviation: bool = False
    reasons: Reasons = 0
    unknown: Unknown = "mean"


@dataclass(frozen=True, kw_only=True)
class Similar:
    """What is like one item or user, or like each of many."""

    item: Id | None = None
    items: Ids | None = None
    user: Id | None = None
    users: Ids | None = None
    k: Length = 10
    only: Filter | None = None
    without: Filter | None = None


@dataclass(frozen=True, kw_only=True)
class Explain:
    """Why a user's prediction at an item is what it is; or those of many pairs."""

    user: Id | None = None
    item: Id | None = None
    users: Annotated[list[Id], Between(1, MAX_EXPLAINED)] | None = None
    items: Annotated[list[Id], Between(1, MAX_EXPLAINED)] | None = None
    k: Length = 5


@dataclass(frozen=True, kw_only=True)
class Known:
    """An item that a new person rated; of clicks, one that they clicked, without a value."""

    item: Id
    value: float | None = None


@dataclass(frozen=True, kw_only=True)
class FoldIn:
    """A list for one new person by what they `know`, or for each of `people`."""

    known: Annotated[list[Known], Between(0, MAX_KNOWN)] | None = None
    people: (
        Annotated[list[Annotated[list[Known], Between(0, MAX_KNOWN)]], Between(1, MAX_PEOPLE)]
        | None
    ) = None
    k: Length = 10
    by: By = "auto"
    only: Filter | None = None
    without: Filter | None = None
    deviation: bool = False
    reasons: Reasons = 0


@dataclass(frozen=True, kw_only=True)
class Find:
    """Users or items whose id or title has this text in it."""

    text: str = ""
    side: Literal["item", "user"] = "item"
    k: Annotated[int, Between(1, 100)] = 10


class Reason(TypedDict):
    item: Id
    title: str | None
    adds: float


class Listed(TypedDict):
    item: Id
    title: str | None
    score: float
    deviation: NotRequired[float | None]
    reasons: NotRequired[list[Reason]]


class UserList(TypedDict):
    user: Id
    known: bool
    items: list[Listed]


class Prediction(TypedDict):
    model: str
    user: Id
    item: Id
    known: bool
    score: float
    deviation: NotRequired[float | None]


class Predictions(TypedDict):
    model: str
    scores: list[float]
    known: list[bool]
    deviations: NotRequired[list[float | None]]


class Recommendation(TypedDict):
    model: str
    user: Id
    known: bool
    items: list[Listed]


class Recommendations(TypedDict):
    model: str
    lists: list[UserList]


class Alike(TypedDict):
    item: NotRequired[Id]
    user: NotRequired[Id]
    title: NotRequired[str | None]
    similarity: float


class Similarity(TypedDict):
    model: str
    to: Id
    alike: list[Alike]


class AlikeList(TypedDict):
    to: Id
    alike: list[Alike]


class Similarities(TypedDict):
    model: str
    lists: list[AlikeList]


class Explanation(TypedDict):
    user: Id
    item: Id
    score: float
    base: float
    attributes: dict[str, float]
    time: float
    reasons: list[Reason]


class ExplanationAnswer(Explanation):
    model: str


class Explanations(TypedDict):
    model: str
    explanations: list[Explanation]


class FoldedList(TypedDict):
    items: list[Listed]


class FoldedAnswer(TypedDict):
    model: str
    items: list[Listed]


class FoldedAnswers(TypedDict):
    model: str
    lists: list[FoldedList]


class Match(TypedDict):
    id: Id
    title: str | None
    count: int


class Found(TypedDict):
    model: str
    matches: list[Match]


class ItemMap(TypedDict):
    model: str
    items: list[Id]
    titles: list[str] | None
    x: list[float]
    y: list[float]
    counts: list[int]


class Figure(TypedDict):
    label: str
    value: str
    note: str


class About(TypedDict):
    model: str
    kind: Literal["ratings", "clicks"]
    saved: str
    users: int
    items: int
    known: int
    rank: int
    low: float
    high: float
    explains: bool
    has_titles: bool
    figures: list[Figure]


class Failure(TypedDict):
    code: str
    message: str


class ErrorAnswer(TypedDict):
    error: Failure
