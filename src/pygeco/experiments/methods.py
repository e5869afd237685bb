"""The methods of the figure: each takes a split and gives errors against rank."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from pygeco.algorithm.directions import Lanczos
from pygeco.algorithm.path import Path, Step
from pygeco.algorithm.run import minimize
from pygeco.algorithm.solver import Solver
from pygeco.arrays.low_rank import LowRank
from pygeco.arrays.streams import Purpose, stream
from pygeco.estimators import MatrixCompletion
from pygeco.experiments.tasks import Halves, Point
from pygeco.rivals import admira, hazan, js, optspace, r1mp, soft_impute, svt

GECO_RANK = 15
RANKS = (1, 2, 3, 4, 5, 7, 10)  # of methods that run anew for each rank
JS_RANK = 200
SOFT_RANK = 50
SVT_RANK = 30
PATIENCE = 40  # ranks without a better validation error before a trace bound is given up
BOUNDS = tuple(2.0 ** (k / 2) for k in range(-4, 5))  # times √(mn) RMS(ratings): 1/4 to 4


class Method(NamedTuple):
    """A name for files, a label for people, and how to run it from a seed.

    What the paper's claims speak of is `repeated` for several seeds.
    """

    name: str
    label: str
    run: Callable[[Halves, int], list[Point]]
    repeated: bool = False


def geco(data: Halves, seed: int) -> list[Point]:
    """Section 5 of the paper, on the ratings as they are."""
    return data.points(minimize(data.train, GECO_RANK, Solver.paper(), random_state=seed))


def geco_refitted(data: Halves, seed: int) -> list[Point]:
    return data.points(minimize(data.train, GECO_RANK, Solver.refitted(), random_state=seed))


def geco_centered(data: Halves, seed: int) -> list[Point]:
    return geco(data.centered, seed)


def js_raw(data: Halves, seed: int) -> list[Point]:
    """JS on the ratings as they are, its trace bound chosen on a part of the cells to fit."""
    bound = best_bound(data.inner, seed)
    path = js(data.train, JS_RANK, bound * data.spread, random_state=seed)
    return data.points(path, _bound(bound))


def js_centered(data: Halves, seed: int) -> list[Point]:
    return js_raw(data.centered, seed)


def hazan_centered(data: Halves, seed: int) -> list[Point]:
    """Hazan with the trace bound of JS."""
    bound = best_bound(data.centered.inner, seed)
    path = hazan(data.centered.train, JS_RANK, bound * data.centered.spread, random_state=seed)
    return data.centered.points(path, _bound(bound))


def _bound(bound: float) -> str:
    return f"trace bound {bound:.3g} √(mn) RMS"


@lru_cache(maxsize=2)
def best_bound(data: Halves, seed: int) -> float:
    """The multiple in BOUNDS with the least validation error at any rank.

    The error is a valley in the bound: walk down from the middle, and stop when it rises.
    """
    found: dict[int, float] = {}

    def error(k: int) -> float:
        if not 0 <= k < len(BOUNDS):
            return math.inf
        if k not in found:
            found[k] = _least_error(data, BOUNDS[k] * data.spread, seed)
        return found[k]

    at = len(BOUNDS) // 2
    while (better := min((at - 1, at, at + 1), key=error)) != at:
        at = better
    return BOUNDS[at]


def _least_error(data: Halves, bound: float, seed: int) -> float:
    errors: list[float] = []

    def watch(step: Step) -> bool:
        errors.append(data.error(step.A))
        return len(errors) - 1 - int(np.argmin(errors)) >= PATIENCE

    js(data.train, JS_RANK, bound, random_state=seed, callback=watch)
    return min(errors, default=math.inf)


def pursuit(data: Halves, seed: int) -> list[Point]:
    return data.centered.points(r1mp(data.centered.train, 30, random_state=seed))


def economic_pursuit(data: Halves, seed: int) -> list[Point]:
    path = r1mp(data.centered.train, 50, economic=True, random_state=seed)
    return data.centered.points(path)


def soft(data: Halves, seed: int) -> list[Point]:
    """Soft-Impute by alternating least squares, ten penalties from 0.6 to 0.1 of the largest.

    The first one at which the limit of the rank binds is the last: below it the solution is not
    the convex program's.
    """
    most = min(SOFT_RANK, *data.train.shape)
    start = data.centered.train.gradient(LowRank.zero(data.train.shape))
    top = Lanczos()(start, stream(Purpose.EXPERIMENT, seed)).sigma
    path = soft_impute(
        data.centered.train,
        most,
        top * np.geomspace(0.6, 0.1, 10),
        als=True,
        tol=1e-3,
        random_state=seed,
        callback=lambda step: step.rank == most,
    )
    return [p for p in data.centered.points(path) if p.rank]


def atoms(data: Halves, seed: int) -> list[Point]:
    return _each_rank(data.centered, lambda d, r: admira(d.train, r, random_state=seed))


def subspaces(data: Halves, seed: int) -> list[Point]:
    return _each_rank(
        data.centered,
        lambda d, r: optspace(d.train, r, max_iter=100, tol=1e-3, random_state=seed),
    )


def thresholding(data: Halves, seed: int) -> list[Point]:
    """SVT, whose step is safe below 2; τ on the scale of the ratings. It fits cells exactly."""
    tau = 5 * data.centered.spread
    path = svt(
        data.centered.train,
        SVT_RANK,
        tau=tau,
        delta=1.9,
        max_iter=150,
        random_state=seed,
        callback=lambda step: step.rank == SVT_RANK,
    )
    last = {step.rank: step for step in path if step.rank}
    return data.centered.points(last.values())


def default(data: Halves, seed: int) -> list[Point]:
    """MatrixCompletion() at given ranks, and at the one that the evidence chooses."""
    points = []
    for rank in (*RANKS, 15, 20, "auto"):
        model = MatrixCompletion(rank, random_state=seed).fit(data.triplets())
        offsets = model.biases_.mean + model.biases_.row, model.biases_.col
        judged = Halves(data.train.shift(*offsets), data.test.shift(*offsets))
        note = "rank left to the evidence" if rank == "auto" else ""
        points += judged.points(model.path_, note)
    return points


def _each_rank(data: Halves, fit: Callable[[Halves, int], Path]) -> list[Point]:
    return [point for rank in RANKS for point in data.points(fit(data, rank)[-1:])]


# The first names are those of the files of results, and stay as they are.
METHODS = {
    method.name: method
    for method in (
        Method("geco", "GECO (paper)", geco, repeated=True),
        Method("geco-refitted", "GECO, refitted replacements", geco_refitted, repeated=True),
        Method("js", "JS", js_raw, repeated=True),
        Method("geco-centred", "GECO (paper), centered", geco_centered),
        Method("js-centred", "JS, centered", js_centered, repeated=True),
        Method("hazan", "Hazan, centered", hazan_centered),
        Method("r1mp", "R1MP, centered", pursuit),
        Method("er1mp", "economic R1MP, centered", economic_pursuit),
        Method("soft-impute", "Soft-Impute (ALS), centered", soft),
        Method("admira", "ADMiRA, centered", atoms),
        Method("optspace", "OptSpace, centered", subspaces),
        Method("svt", "SVT, centered", thresholding),
        Method("default", "pygeco's default", default),
    )
}
