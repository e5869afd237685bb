"""A Dask DataFrame from another, by way of what the slabs hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def exchange_parts(
    X: Any,
    slabs: Sequence[tuple[Any, ...]],
    split: Callable[[Any], Sequence[Any]],
    answer: Callable[..., Any],
    join: Callable[[Any, Sequence[Any], Sequence[Any]], Any],
    meta: Any,
) -> Any:
    """join(part, pieces, answers) of each part of X, lazy.

    `split(part)` gives one piece a slab, and answer(piece, *slab) is made where the slab is.
    """
    import dask.dataframe as dd
    from dask import delayed

    parts = []
    for part in X.to_delayed():
        pieces = delayed(split, nout=len(slabs))(part)
        own = [delayed(answer)(pieces[t], *slab) for t, slab in enumerate(slabs)]
        parts.append(delayed(join)(part, pieces, own))
    return dd.from_delayed(parts, meta=meta, divisions=X.divisions)
