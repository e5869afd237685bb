"""A low-rank part and a free linear part fitted together: z = 𝓜(A) + F c."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pygeco.algorithm.events import Listener
from pygeco.algorithm.penalties import Penalty
from pygeco.algorithm.refinements import DESCENT_TOLERANCE, Free, refine_jointly
from pygeco.algorithm.run import minimize
from pygeco.algorithm.solver import Solver
from pygeco.arrays.blas_threads import one_blas_thread
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.objectives.measured import Measured

# Between two ranks the descent need not end: the next rank moves everything again.
ROUGH_TOLERANCE = 1e-6


class Affine(NamedTuple):
    """The solution, and R + h + ridge ‖c‖² and (A, c) after each rank, c alone first."""

    A: LowRank
    c: Array
    objectives: tuple[float, ...]
    steps: tuple[tuple[LowRank, Array], ...]


def minimize_jointly(
    objective: Measured,
    rank: int,
    free: Free,
    solver: Solver | None = None,
    *,
    penalty: Penalty | None = None,
    random_state: int = 0,
    listener: Listener | None = None,
) -> Affine:
    """Min r(𝓜(A) + F c) + h(A) + ridge ‖c‖² over A of rank at most `rank` and all c.

    First c alone; then, rank by rank, a step of GECO in A with c held, and a descent over both
    factors and c. The objective never rises, so at each c the guarantees of GECO in A hold.
    `listener` is told of each of GECO's steps.
    """
    A, c = LowRank.zero(objective.shape), free.c

    def total(A: LowRank, c: Array) -> float:
        at = objective.measure(A) + free.F @ c
        h = 0.0 if penalty is None else penalty.value(A.s)
        return objective.risk.value(at) + h + float(np.sum(free.ridge * c * c))

    def refine_both(A: LowRank, c: Array, tol: float) -> tuple[LowRank, Array]:
        found = refine_jointly(objective, A, penalty, free._replace(c=c), tol)
        return min((A, c), (found.A, found.c), key=lambda pair: total(*pair))

    with one_blas_thread():
        A, c = refine_both(A, c, ROUGH_TOLERANCE)
        objectives, steps = [total(A, c)], [(A, c)]
        for k in range(1, rank + 1):
            held = objective.offset_by(free.F @ c)
            path = minimize(held, k, solver, penalty=penalty, start=A, random_state=random_state)
            if not len(path):
                break
            if listener is not None:
                listener.on_step(path[-1])
            A, c = refine_both(path.A, c, ROUGH_TOLERANCE if k < rank else DESCENT_TOLERANCE)
            objectives.append(total(A, c))
            steps.append((A, c))
    return Affine(A, c, tuple(objectives), tuple(steps))
