"""Ratings as a table under ids of every kind."""

import datetime as dt

import numpy as np
import pyarrow as pa

from pygeco import MatrixCompletion
from pygeco.data import make_ratings

RATINGS = make_ratings((60, 40), 900, dtype=np.float64)


NAMES = {
    "int": lambda k: 10 * k - 77,
    "text": lambda k: f"id {chr(0x3B1 + k % 20)}{k}",
    "date": lambda k: dt.date(2020, 1, 1) + dt.timedelta(days=3 * k),
    "time": lambda k: dt.datetime(2020, 1, 1) + dt.timedelta(microseconds=7 * k),
    "number": lambda k: k / 8 - 1,
    "decimal": lambda k: f"{k}.50",
}


def table(kind: str = "int", shuffle: int = 1) -> pa.Table:
    """The ratings under ids, in another order."""
    order = np.random.default_rng(shuffle).permutation(len(RATINGS.values))
    name = NAMES[kind]
    user = pa.array([name(int(k)) for k in RATINGS.rows[order]])
    if kind == "decimal":
        user = user.cast(pa.decimal128(9, 2))
    item = pa.array([f"film {k:03d}" for k in RATINGS.cols[order]])
    return pa.table({"user_id": user, "movieId": item, "Rating": RATINGS.values[order]})


def fitted(X, **settings) -> MatrixCompletion:
    return MatrixCompletion(random_state=0, **settings).fit(X)
