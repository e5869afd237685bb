"""How good predictions and rankings are."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.low_rank import Array

__all__ = ["Errors", "Ranked", "coverage", "errors", "ranking"]

NORMAL_95 = 1.959963984540054  # quantiles of the normal distribution
NORMAL_90 = 1.6448536269514722  # both tails together: 5 % and 10 %


class Errors(NamedTuple):
    """Errors over held-out values.

    Attributes
    ----------
    rmse : float
        The root mean squared error.
    low, high : float
        The true RMSE lies between them with probability 95 %; of one value, 0 and infinity.
    mae : float
        The mean absolute error.
    cells : int
        The number of values.
    """

    rmse: float
    low: float
    high: float
    mae: float
    cells: int


class Ranked(NamedTuple):
    """Means over users, of the first k of their lists.

    Attributes
    ----------
    precision, recall, ndcg : float
        See `ranking`.
    k : int
        The length of a list.
    users : int
        The number of users with a relevant item.
    """

    precision: float
    recall: float
    ndcg: float
    k: int
    users: int


def errors(predicted: Array, observed: Array) -> Errors:
    """Measure RMSE with its interval, and mean absolute error.

    The mean squared error is normal for many values; the interval is that of its square root.

    Parameters
    ----------
    predicted, observed : arrays
        Arrays of the same length.

    Returns
    -------
    Errors

    Examples
    --------
    >>> import numpy as np
    >>> from pygeco import metrics
    >>> metrics.errors(np.array([3.0, 4.0]), np.array([3.0, 2.0])).mae
    1.0
    """
    _check_lengths(predicted=predicted, observed=observed)
    error = np.asarray(predicted, dtype=float) - observed
    squares = error**2
    mean = float(squares.mean())
    half = NORMAL_95 * float(squares.std()) / len(squares) ** 0.5
    if len(squares) == 1:  # which says nothing of how far others are off
        half = np.inf
    low, high = max(0.0, mean - half), mean + half
    return Errors(mean**0.5, low**0.5, high**0.5, float(np.abs(error).mean()), len(error))


def coverage(predicted: Array, deviation: Array, observed: Array) -> float:
    """Measure the share of the values inside their 90 % intervals, predicted ± 1.645 deviations.

    Parameters
    ----------
    predicted, deviation, observed : arrays
        Arrays of the same length.

    Returns
    -------
    float
        Near 0.9 where the deviations are right.
    """
    _check_lengths(predicted=predicted, deviation=deviation, observed=observed)
    half = NORMAL_90 * np.asarray(deviation, dtype=float)
    inside = np.abs(np.asarray(predicted, dtype=float) - observed) <= half
    return float(inside.mean())


def ranking(lists: NDArray[Any], users: NDArray[Any], items: NDArray[Any]) -> Ranked:
    """Measure precision, recall and NDCG of lists.

    Precision is hits / k, recall hits / relevant, NDCG counts a hit at place p as 1 / log₂(p + 1)
    of the best order. A user without a relevant item does not count; a pair given twice counts
    once.

    Parameters
    ----------
    lists : int array (users, k)
        Row u is the list of user u, best first; −1 fills a short one.
    users, items : int arrays
        The relevant pairs, of the same length. A negative item, such as −1 for an unknown id, is
        refused, because no list can contain it: decide yourself whether to count it as missed.

    Returns
    -------
    Ranked

    Examples
    --------
    >>> import numpy as np
    >>> from pygeco import metrics
    >>> metrics.ranking(np.array([[5, 7]]), np.array([0, 0]), np.array([7, 9])).precision
    0.5
    """
    _check_lengths(users=users, items=items)
    lists, users, items = (np.asarray(x) for x in (lists, users, items))
    count, k = lists.shape
    if users.size and not 0 <= users.min() <= users.max() < count:
        wrong = int(users.min() if users.min() < 0 else users.max())
        raise ValueError(
            f"users: has user {wrong}, but lists has {count} rows; row u of lists is the list of "
            "user u."
        )
    if items.size and items.min() < 0:
        raise ValueError(
            f"items: has item {int(items.min())}, which no list can hold; leave such pairs out, or "
            "give items that are not known numbers of their own."
        )
    width = int(max(lists.max(initial=0), items.max(initial=0))) + 1
    keys = np.unique(users.astype(np.int64) * width + items)
    relevant = np.bincount(keys // width, minlength=count)
    asked = np.arange(count)[:, None] * width + lists
    hits = np.isin(asked, keys) & (lists >= 0)
    gains = 1 / np.log2(np.arange(2, k + 2))
    best = np.concatenate([[0.0], np.cumsum(gains)])[np.minimum(relevant, k)]
    some = relevant > 0
    if not some.any():
        return Ranked(np.nan, np.nan, np.nan, k, 0)
    found = hits.sum(axis=1)[some]
    return Ranked(
        float(np.mean(found / k)),
        float(np.mean(found / relevant[some])),
        float(np.mean((hits @ gains)[some] / best[some])),
        k,
        int(some.sum()),
    )


def _check_lengths(**arrays: Array) -> None:
    """An error unless all have one dimension and one length."""
    shapes = {name: np.shape(x) for name, x in arrays.items()}
    shape = next(iter(shapes.values()))
    wrong = [other for other in shapes if len(shape) != 1 or shapes[other] != shape]
    if wrong:
        told = ", ".join(f"{other} {shapes[other]}" for other in shapes)
        raise ValueError(
            f"{wrong[-1]}: expected arrays of one length, not of the shapes of {told}."
        )
