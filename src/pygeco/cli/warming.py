"""Small fits of every kind: what they need is compiled, and then there for all later processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

SHAPE, CELLS = (60, 40), 1_000
TALL_ROWS = 1 << 18  # enough for all cores to share them


def plan_fits() -> Iterator[tuple[str, Callable[[], None]]]:
    """What is fitted, and the fit; in both precisions."""
    import numpy as np

    for real in (np.float32, np.float64):
        for kind, fit in FITS.items():
            yield f"{kind}, {np.dtype(real).name}", partial(fit, real)


def _make_cells(real: Any) -> tuple[Any, ...]:
    from pygeco.data import make_ratings

    rows, cols, values, shape = make_ratings(SHAPE, CELLS)
    return rows, cols, values.astype(real), shape


def _fit_ratings(real: Any) -> None:
    import numpy as np

    from pygeco import MatrixCompletion
    from pygeco.data import make_low_rank

    exact = make_low_rank(SHAPE, 1, random_state=0).to_dense().astype(real)
    MatrixCompletion(rank=2, random_state=0).fit(exact)  # without noise, in double precision
    cells = _make_cells(real)
    for settings in ({}, {"rank": 2, "posterior": 2}, {"rank": 2, "loss": "huber"}):
        model = MatrixCompletion(random_state=0, **settings).fit(cells)
    MatrixCompletion(2, random_state=0).fit(cells, times=np.arange(len(cells[2])))
    model.predict(cells[0][:5], cells[1][:5])
    for by in ("value", "auto"):
        model.recommend(np.arange(3), 5, by=by)


def _work_on_tall_arrays(real: Any) -> None:
    """What fits of many rows need beside the kernels of small ones."""
    import numpy as np

    from pygeco.arrays.kinds import inner, stack, times
    from pygeco.engines.columns import steps_of

    X = np.ones((TALL_ROWS, 2), real)
    times(X, np.ones((2, 2), real))
    inner(X, X)
    stack([X, X])
    steps_of(X).leave_span(np.ones((1, TALL_ROWS)), np.ones(TALL_ROWS))


def _fit_paths(real: Any) -> None:
    from pygeco import Entries, Solver, minimize

    entries = Entries(*_make_cells(real))
    for correction in ("sweep", "core"):
        minimize(entries, 2, Solver(correction=correction), random_state=0)


def _fit_clicks(real: Any) -> None:
    from pygeco import Clicks, Solver, minimize

    for correction in ("sweep", "core"):
        clicks = Clicks(_make_cells(real), dtype=real)
        minimize(clicks, 2, Solver(correction=correction), random_state=0)


def _fit_tables(real: Any) -> None:
    import numpy as np

    from pygeco import LowRankImputer, RobustPCA
    from pygeco.data import make_low_rank

    table = make_low_rank(SHAPE, 2).to_dense().astype(real)
    RobustPCA(1, random_state=0).fit(table)
    table[::7, 3] = np.nan
    LowRankImputer().fit_transform(table)


FITS = {
    "ratings": _fit_ratings,
    "paths": _fit_paths,
    "clicks": _fit_clicks,
    "tables": _fit_tables,
    "tall arrays": _work_on_tall_arrays,
}
