"""Ratings as a pandas table under any names."""

import numpy as np
import pandas as pd

from pygeco import MatrixCompletion
from pygeco.data import make_ratings

R = make_ratings((60, 40), 900, dtype=np.float64)


USERS, ITEMS = R.rows * 7 + 100, R.cols * 3 + 5


STARS = np.clip(np.round(R.values), 1, 5)


TIMES = 1_200_000_000 + np.random.default_rng(0).integers(0, 10**8, 900)


def frame(*names: str, text: bool = False) -> pd.DataFrame:
    items = [f"film {k}" for k in ITEMS] if text else ITEMS
    given = dict(zip(names, (USERS, items, STARS, TIMES), strict=False))
    return pd.DataFrame(given)


def small(**settings) -> MatrixCompletion:
    return MatrixCompletion(**{"rank": 2, "random_state": 0, **settings})
