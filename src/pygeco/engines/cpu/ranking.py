"""The k largest numbers of every row (numba)."""

from __future__ import annotations

import numpy as np

from pygeco.engines.cpu.parallel import spread


@spread("scores")
def top_k(i, scores, found, values):
    """Columns and values of the k largest of each row, largest first; −1 where fewer are finite.

    A number below the k-th found so far costs one comparison; of equals the first column wins.
    """
    k = found.shape[1]
    columns = np.uint64(scores.shape[1])
    filled = 0
    least = scores.dtype.type(-np.inf)
    for j in range(columns):
        x = scores[i, j]
        if not x > least:
            continue
        at = min(filled, k - 1)
        while at > 0 and values[i, at - 1] < x:
            values[i, at] = values[i, at - 1]
            found[i, at] = found[i, at - 1]
            at -= 1
        values[i, at] = x
        found[i, at] = j
        filled = min(filled + 1, k)
        if filled == k:
            least = values[i, k - 1]
    for t in range(filled, k):
        found[i, t] = -1
        values[i, t] = -np.inf
