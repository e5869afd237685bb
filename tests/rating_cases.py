"""Ratings as a table and as text, and what is read of a file."""

import numpy as np
import pyarrow as pa

RNG = np.random.default_rng(0)


ROWS = [(int(u), f"it,em {i}", float(r)) for u, i, r in RNG.integers(1, 9, (200, 3)) / [1, 1, 2]]


TABLE = pa.table(dict(zip(("userId", "item id", "rating"), zip(*ROWS, strict=True), strict=True)))


def text(separator=",", header=True) -> bytes:
    lines = [separator.join(("userId", "item id", "rating"))] if header else []
    for user, item, rating in ROWS:
        name = f'"{item}"' if separator in item else item
        lines.append(separator.join((str(user), name, str(rating))))
    return ("\n".join(lines) + "\n").encode()


def rows_of(table: pa.Table) -> list:
    return list(zip(*(table.column(k).to_pylist() for k in range(3)), strict=True))
