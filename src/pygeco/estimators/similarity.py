"""Lines of a factor that point the same way: rows or columns alike."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.low_rank import Array
from pygeco.engines import choose_local_engine
from pygeco.estimators._cluster import asked, slab_models
from pygeco.estimators.ranking import Best, list_length, rank_lines


def alike(vectors: Array, index: NDArray[Any], k: int) -> Best:
    """The k lines of `vectors` (p, r) with the largest cosine to each line of index."""
    V = _unit(vectors)

    def scores(flat: NDArray[Any]) -> Array:
        table = V[flat] @ V.T
        table[np.arange(len(table), like=flat), flat] = -np.inf
        return table

    return Best(*rank_lines(index, list_length(k, len(V)), scores, V))


def alike_on_cluster(model: Any, index: NDArray[Any], k: int) -> Best:
    """The same for rows on a cluster: the best of each slab, then the best of these."""
    from pygeco.engines.dask.cluster import submit_call

    U = model.factors_.U
    wanted = list_length(k, len(U))
    flat = index.reshape(-1)
    vectors = asked(model, _left_of, flat)
    client = U.engine.slabs.client
    tasks = [
        submit_call(client, _nearest, slab, vectors, wanted + 1) for slab in slab_models(model)
    ]
    parts = client.gather(tasks)
    rows = np.hstack([part.columns + start for part, start in zip(parts, U.bounds, strict=False)])
    scores = np.hstack([part.scores for part in parts])
    scores[rows == flat[:, None]] = -np.inf
    order = np.lexsort((rows, -scores), axis=1)[:, :wanted]
    best = np.take_along_axis(scores, order, 1)
    found = np.where(np.isfinite(best), np.take_along_axis(rows, order, 1), -1)
    return Best(found.reshape(*index.shape, wanted), best.reshape(*index.shape, wanted))


def _left_of(model: Any, rows: NDArray[Any]) -> Array:
    return model.factors_.left[rows]


def _nearest(model: Any, vectors: Array, k: int) -> Best:
    """On a worker: the k of a slab's rows with the largest cosine to each vector."""
    own = _unit(model.factors_.left[:-1])  # the last line is the average of all rows
    table = _unit(vectors) @ own.T
    found, best = choose_local_engine(own).top_k(table, min(k, len(own)))
    return Best(found, best)


def _unit(vectors: Array) -> Array:
    """Lines of length 1 in double precision; zeros stay."""
    V = vectors.astype(float)
    size = np.linalg.norm(V, axis=1, keepdims=True)
    return V / np.where(size > 0, size, 1)
