"""The model of a fit: on this machine, or on the cluster that holds its rows."""

from __future__ import annotations

import numpy as np

from pygeco.algorithm.penalties import Penalty
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.bayes.attributes import AttributeValues
from pygeco.bayes.average import Average
from pygeco.bayes.posterior import Posterior
from pygeco.losses import Loss
from pygeco.models.base import FittedModel
from pygeco.models.cluster import ClusterModel
from pygeco.models.completion import CompletionModel
from pygeco.models.seen import NO_TIMES, Positions, keep_cells
from pygeco.models.slab_arrays import is_in_slabs
from pygeco.models.updating import keep_factors
from pygeco.objectives import Entries
from pygeco.objectives.entries.biases import Biases


def build_model(
    entries: Entries,
    factors: LowRank,
    biases: Biases,
    *,
    loss: Loss,
    offsets: tuple[str, ...],
    penalty: Penalty | str | None,
    clips: bool,
    posterior: Posterior | None = None,
    average: Average | None = None,
    row_attributes: AttributeValues | None = None,
    column_attributes: AttributeValues | None = None,
    times: Array | None = None,
) -> FittedModel:
    """What a fit to the entries found, as a model where they are.

    `times` are those of the cells, row by row, where time says something.
    """
    kind = ClusterModel if is_in_slabs(entries.kind) else CompletionModel
    return kind(
        factors=keep_factors(factors, entries),
        biases=biases,
        loss=loss,
        seen=keep_cells(entries, NO_TIMES if times is None else times),
        offsets=offsets,
        penalty=penalty,
        total_weight=entries.total_weight,
        levels=mean_levels(penalty, *entries.counts()),
        bounds=loss.bounds(entries.by_row.values),
        clips=clips,
        posterior=posterior,
        average=average,
        row_attributes=row_attributes,
        column_attributes=column_attributes,
    )


def mean_levels(
    penalty: Penalty | str | None, rows: Array | Positions, cols: Array | Positions
) -> tuple[float, float]:
    """The mean of counts^gamma of the rows, and of the columns; see `Penalty`."""
    gamma = 0.0 if penalty is None or isinstance(penalty, str) else penalty.gamma
    row, col = (float(np.mean(np.maximum(count, 1.0) ** gamma)) for count in (rows, cols))
    return row, col
