"""What every rival shares: iterates in, a path out."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from typing import NamedTuple

import numpy as np

from pygeco.algorithm.certificates import certify
from pygeco.algorithm.directions import Lanczos, Pair
from pygeco.algorithm.path import Path, Step, Stop
from pygeco.arrays.blas_threads import one_blas_thread
from pygeco.arrays.checks import is_real
from pygeco.arrays.low_rank import LowRank
from pygeco.arrays.streams import Purpose, RandomState, seed_from, stream
from pygeco.objectives import Entries
from pygeco.objectives.base import Gradient, Objective

Callback = Callable[[Step], object]


class Iterate(NamedTuple):
    """A matrix on the way, its gradient, and the passes over the data since the last one.

    `pair` is the gradient's leading pair and `trace_norm` that of A (or a bound that is the
    algorithm's own), where the algorithm knows them anyway.
    """

    A: LowRank
    gradient: Gradient
    passes: int
    pair: Pair | None = None
    trace_norm: float | None = None
    kind: str = "singular"


Iterates = Generator[Iterate, None, Stop]


def follow(
    objective: Objective,
    algorithm: Callable[[np.random.Generator], Iterates],
    random_state: RandomState,
    callback: Callback | None,
) -> Path:
    """Run an algorithm to its end, one `Step` for each iterate, each with its certificate."""
    check_on_host(objective)
    seed, began = seed_from(random_state), time.perf_counter()
    rng, own = stream(Purpose.RIVAL, seed), stream(Purpose.RIVAL_CERTIFICATE, seed)
    iterates = algorithm(rng)
    steps: list[Step] = []
    with one_blas_thread():  # the same bits however many threads BLAS would use
        while True:
            try:
                at = next(iterates)
            except StopIteration as end:
                return Path(tuple(steps), end.value, seed, objective.shape)
            steps.append(_step(objective, at, own, began))
            if callback is not None and callback(steps[-1]):
                return Path(tuple(steps), Stop.CALLBACK, seed, objective.shape)


def _step(objective: Objective, at: Iterate, rng: np.random.Generator, began: float) -> Step:
    G, pair = at.gradient, at.pair
    passes = at.passes
    if pair is None:
        pair = Lanczos()(G, rng)
        passes += pair.passes
    certificate = certify(objective, at.A, G, pair, trace_norm=at.trace_norm)
    seconds = time.perf_counter() - began
    return Step(at.A.rank, G.value, at.A, certificate, seconds, passes, at.kind, 0)


def check_on_host(objective: Objective) -> None:
    """An error where an objective's passes run on a GPU: its arrays are of no use to SciPy."""
    if not isinstance(objective.kind, np.ndarray):
        raise ValueError(
            "objective: rivals run on the CPU, and this one's data are on a GPU; make it of NumPy "
            "arrays, with engine='cpu'."
        )


def check_squared_entries(name: str, objective: Objective) -> Entries:
    """The objective, if it is the plain mean squared error over observed cells."""
    if not (isinstance(objective, Entries) and objective.squared and not objective.weighted):
        raise ValueError(
            f"objective: {name} is made for the squared loss over observed cells without "
            f"weights; give it Entries(rows, cols, values), not {objective!r}."
        )
    return objective


def check_positive(name: str, value: float) -> float:
    """The value, if it is a number above zero."""
    if not (is_real(value) and 0 < value < np.inf):
        raise ValueError(f"{name}: must be a finite number > 0, not {value!r}.")
    return float(value)
