"""How many components RobustPCA takes where nobody says: as many as the evidence finds."""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.kinds import host, on
from pygeco.arrays.streams import Purpose, stream
from pygeco.engines import session
from pygeco.estimators._choices import limit_rank
from pygeco.estimators._evidence_fit import settle_evidence
from pygeco.losses import Huber, Loss, Squared
from pygeco.objectives import Entries
from pygeco.objectives.dense.sample import find_varying
from pygeco.objectives.entries.biases import settle_scale

MAX_CELLS = 1 << 18  # by which components are counted; the evidence takes a second or two for them


def settle_components(count: int | str, X: Any, loss: Loss, seed: int, *, center: bool) -> int:
    """The number of components that was given, or what "auto" stands for."""
    return count_components(X, loss, seed, center=center) if isinstance(count, str) else count


def count_components(X: Any, loss: Loss, seed: int, *, center: bool) -> int:
    """The rank that the evidence finds under Huber's loss, at least one.

    A component that is an outlier in disguise says nothing of other cells, and is dropped. Of a
    large table, rows and columns that are drawn at random stand for all: components that only a
    few rows or columns have, or that are far below the noise of a cell, may be missed.
    """
    part = _leave_flat(_draw_part(X, seed), center=center)
    rows, cols = np.nonzero(np.isfinite(part))
    if not len(rows):
        return 1
    loss = Squared() if isinstance(loss, Squared) else Huber()
    cells = settle_scale(Entries(rows, cols, part[rows, cols], part.shape, loss=loss), loss)
    offsets = ("global", "column") if center else ()
    limit = limit_rank("auto", part.shape)
    with session(cells):
        found = settle_evidence(cells, loss, rank=limit, offsets=offsets, seed=seed)
    return max(1, found.posterior.rank)


def _leave_flat(part: NDArray[np.float64], *, center: bool) -> NDArray[np.float64]:
    """Without columns that a location meets exactly, or zero where there is none."""
    seen = part if center else np.vstack([part, np.zeros(part.shape[1])])
    return part[:, find_varying(seen, np.isfinite(seen))]


def _draw_part(X: Any, seed: int) -> NDArray[np.float64]:
    """All of X, or rows and columns of it, as many of its shorter side as of the other."""
    m, n = X.shape
    short = min(m, n, isqrt(MAX_CELLS))
    long = min(max(m, n), MAX_CELLS // short)
    rng = stream(Purpose.RANK_CHOICE, seed)
    sizes = (short, long) if m <= n else (long, short)
    rows, cols = (
        np.sort(rng.choice(whole, size, replace=False))
        for whole, size in zip((m, n), sizes, strict=True)
    )
    return host(X[on(rows, X)][:, on(cols, X)]).astype(float)
