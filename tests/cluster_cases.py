"""Tables of ratings with ids of any type, and folders of Parquet files."""

import datetime

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

KINDS = {
    "text": lambda k: f"user {k}",
    "integers": lambda k: 10**12 - 7 * k,
    "numbers": lambda k: k / 7,
    "dates": lambda k: datetime.date(2020, 1, 1) + datetime.timedelta(days=k),
    "times": lambda k: datetime.datetime(2020, 1, 1) + datetime.timedelta(seconds=k),
}


def ratings(cells=3000, users=97, items=41, *, seed=0, kind="text", repeats=False):
    """A table in a random order, of two tastes; half stars, so float32 holds them."""
    rng = np.random.default_rng(seed)
    at = rng.choice(users * items, cells, replace=repeats)
    likes = rng.standard_normal((users, 2)) @ rng.standard_normal((2, items))
    stars = 3 + likes.reshape(-1)[at] + 0.3 * rng.standard_normal(cells)
    return pa.table(
        {
            "user": [KINDS[kind](int(k)) for k in at // items],
            "item": [f"ï{k}" for k in at % items],
            "rating": np.clip(np.round(2 * stars) / 2, 0.5, 5),
        }
    )


def written(table, folder, files=4, **settings):
    """The table in files of unequal length."""
    ends = [0, *sorted(np.random.default_rng(5).integers(0, table.num_rows, files - 1))]
    ends.append(table.num_rows)
    for t in range(files):
        part = table.slice(ends[t], ends[t + 1] - ends[t])
        pq.write_table(part, folder / f"part-{t:03}.parquet", row_group_size=500, **settings)
    return folder
