"""How well cells of new rows are predicted, each from the others of its row."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pygeco.arrays.kinds import host
from pygeco.arrays.low_rank import Array
from pygeco.models.base import FittedModel
from pygeco.objectives import Entries

HIDDEN_PARTS = 5  # of the cells of a new row: each part is predicted from the others


class Hidden(NamedTuple):
    """Linear predictions at cells, and the targets there."""

    linear: Array
    targets: Array


def predict_hidden(model: FittedModel, held: Entries) -> Hidden:
    """Linear predictions at the cells of new rows, each from others of its row."""
    cells, rows = held.by_row, held.rows()
    cols, values = host(cells.indices), host(cells.values)
    place = np.arange(len(rows)) - host(cells.pointers)[rows]
    part = (place + rows) % HIDDEN_PARTS
    V, biases = host(model.factors.V).astype(float), model.biases
    z = np.empty(len(rows))
    for hidden in (part == p for p in range(HIDDEN_PARTS)):
        rest = rows[~hidden], cols[~hidden], values[~hidden]
        known = Entries(*rest, held.shape, allow_empty=True, engine=model.engine)
        found = model.fold_rows(known.with_loss(held.loss))
        W, offsets = host(found.coordinates), host(found.offsets)
        i, j = rows[hidden], cols[hidden]
        z[hidden] = np.sum(W[i] * V[j], axis=1) + offsets[i] + biases.mean + host(biases.col)[j]
    return Hidden(z, values)
