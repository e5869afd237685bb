"""Components that the evidence may have missed, from which chains of draws start beside the others.

Where rows have few cells the evidence drops what draws can use. But a chain that starts with strong
random components keeps them where there are few rows or columns: the prior of their variances,
which counts as many rows as there are components, lies where they started.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pygeco.arrays.kinds import on
from pygeco.bayes.posterior import Posterior
from pygeco.bayes.priors import FLOAT
from pygeco.objectives.entries.objective import Entries

HIDDEN_SHARE = 0.3  # of the strength at which the cells show a component: what hidden ones have


def measure_hidden(data: Entries, start: Posterior) -> tuple[float, float]:
    """The variances of rows and of columns in a component that the evidence may have missed.

    With r cells a row, c a column and noise of precision τ, one of variances a and b shows where
    a b τ √(r c) > 1 (Baik, Ben Arous and Péché 2005). Hidden ones are weaker than that, and no
    stronger than the weak ones that were found.
    """
    priors = start.row_prior, start.col_prior
    row, col = (
        float(np.quantile(np.diag(np.linalg.inv(p.precision))[:-1], 0.1)) if start.rank else 0.01
        for p in priors
    )
    lines = float(np.prod([max(int(p.some.sum()), 1) for p in priors]))
    shows = lines**0.5 / (start.tau * data.total_weight)
    share = min(1.0, HIDDEN_SHARE * shows / (row * col)) ** 0.5
    return share * row, share * col


def add_hidden(
    start: Posterior, rank: int, rng: np.random.Generator, variances: tuple[float, float]
) -> Posterior:
    """More components, small and random: the sampler lets the data raise those that help.

    Their vectors have these variances, on either side.
    """
    extra, normal = rank - start.rank, rng.standard_normal
    if extra <= 0:
        return start
    rows, cols = (
        side._replace(
            factor=np.column_stack(
                [side.factor, on(FLOAT(w**0.5) * normal((len(side.bias), extra)), side.bias)]
            ).astype(FLOAT)
        )
        for side, w in zip((start.rows, start.cols), variances, strict=True)
    )
    row_prior, col_prior = (
        p.add_components(np.full(extra, w))
        for p, w in zip((start.row_prior, start.col_prior), variances, strict=True)
    )
    return replace(start, rows=rows, cols=cols, row_prior=row_prior, col_prior=col_prior)
