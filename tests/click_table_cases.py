"""Clicks of users in four groups, as a table."""

import numpy as np
import pandas as pd


def make_click_table(users: int = 120, items: int = 40, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    group = rng.integers(4, size=users)
    own = np.arange(items) % 4 == group[:, None]
    chance = np.where(own, 0.4, 0.04) * np.linspace(1.4, 0.6, items)
    rows, cols = np.nonzero(rng.random((users, items)) < chance)
    order = rng.permutation(len(rows))
    return pd.DataFrame({"user": rows[order] + 1, "item": [f"film-{k}" for k in cols[order]]})
