"""Step 4 where only symmetric matrices count, a pair u = ±v; and several pairs at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pygeco.algorithm.directions import Direction, Pair, leading_block
from pygeco.arrays.kinds import zeros
from pygeco.arrays.low_rank import Array
from pygeco.arrays.operators import Operator
from pygeco.objectives.base import Objective


@dataclass(frozen=True)
class Symmetric:
    """A pair u = ±v for a symmetric G, at least as good as the pair that `direction` finds.

    The best w in span(u, v) has |wᵀGw| ≥ uᵀGv, since uᵀGv = (|u+v|²ρ₊ − |u−v|²ρ₋)/4 with Rayleigh
    quotients ρ and |u+v|² + |u−v|² = 4. Two more products.
    """

    direction: Direction

    def __call__(self, G: Operator, rng: np.random.Generator) -> Pair:
        pair = self.direction(G, rng)
        if pair.sigma == 0.0:
            return pair
        Q = np.linalg.qr(np.column_stack([pair.u, pair.v]))[0]
        values, E = np.linalg.eigh(Q.T @ G.matmat(Q))
        best = int(np.argmax(np.abs(values)))
        w, sigma = Q @ E[:, best], float(abs(values[best]))
        w = w / np.linalg.norm(w)
        return pair._replace(
            u=w if values[best] >= 0 else -w,
            v=w,
            sigma=sigma,
            upper=max(pair.upper, sigma),
            passes=pair.passes + Q.shape[1],
        )


def adapt_direction(direction: Direction, objective: Objective) -> Direction:
    """The direction itself, or its symmetric pairs where only symmetric matrices count."""
    return Symmetric(direction) if objective.symmetric else direction


class Further(NamedTuple):
    """Pairs that follow the leading one, as columns, and the passes that they took."""

    U: Array
    V: Array
    passes: int


def empty_pairs(objective: Objective) -> Further:
    """No further pair."""
    like = objective.kind
    m, n = objective.shape
    return Further(zeros((m, 0), like), zeros((n, 0), like), 0)


def find_further_pairs(
    G: Operator, objective: Objective, count: int, rng: np.random.Generator
) -> Further:
    """`count` singular pairs after the first, u = ±v where only symmetric matrices count."""
    U, _, V = leading_block(G, count + 1, rng)
    if not objective.symmetric:
        return Further(U[:, 1:], V[:, 1:], 7)
    T = V.T @ G.matmat(V)
    values, E = np.linalg.eigh((T + T.T) / 2)
    order = np.argsort(-np.abs(values))[1:]
    W = V @ E[:, order]
    return Further(W * np.sign(values[order]), W, 8)
