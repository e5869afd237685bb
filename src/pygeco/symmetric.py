"""Step 4 where only symmetric matrices count: a pair u = ±v."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pygeco.directions import Direction, Operator, Pair
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
        values, E = np.linalg.eigh(Q.T @ np.column_stack([G.matvec(q) for q in Q.T]))
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


def suited(direction: Direction, objective: Objective) -> Direction:
    """The direction itself, or its symmetric pairs where only symmetric matrices count."""
    return Symmetric(direction) if getattr(objective, "symmetric", False) else direction
