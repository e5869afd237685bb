"""A prediction as a sum: what the prior, the attributes and each known cell of the row say."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pygeco.arrays.kinds import HOST, moved
from pygeco.arrays.low_rank import Array
from pygeco.bayes.attributes import AttributeValues
from pygeco.bayes.posterior import Posterior
from pygeco.bayes.ridge import PATTERN


class Contributions(NamedTuple):
    """Base, a part for each cell of a row, and one for each group of its attributes, by name."""

    base: float
    cells: Array
    attributes: dict[str, float]


def contributions(
    model: Posterior,
    cols: Array,
    values: Array,
    weights: Array,
    target: int,
    known: AttributeValues | None = None,
) -> Contributions:
    """A row's prediction at `target` as a sum.

    A row's vector is linear in its cells, in which of them are known, and in its attributes:
    `known`, of this row alone. One without cells is where the prior of such rows puts it.
    """
    c, p = moved(model.cols, HOST), moved(model.row_prior, HOST)
    if not len(cols) and p.cold is not None:
        p = p.cold
    Z = np.column_stack([c.factor, np.ones(len(c.bias))]).astype(float)
    rest = (values - model.mean) / model.scale - c.bias[cols]
    spread = np.append(weights @ c.variance[cols], 0.0)
    gram = (Z[cols] * weights[:, None]).T @ Z[cols]
    system = p.precision + model.tau * (gram + np.diag(spread))
    pull = np.linalg.solve(system, Z[target])
    base = c.bias[target] + pull @ p.precision @ p.center
    own = model.tau * weights * (Z[cols] @ pull) * rest
    attributes = {}
    for effect in p.effects:
        # By how much one unit of each attribute moves the prediction.
        moves = effect.coefficients.astype(float) @ (p.precision @ pull)
        if effect.source == PATTERN and len(cols):
            base -= effect.mean @ moves
            own += moves[cols] / np.sqrt(len(cols))
        elif known is not None and known.known[0] and effect.name in known.names:
            row = known.split()[known.names.index(effect.name)].toarray()[0]
            attributes[effect.name] = model.scale * float((row - effect.mean) @ moves)
    return Contributions(model.mean + model.scale * float(base), model.scale * own, attributes)
