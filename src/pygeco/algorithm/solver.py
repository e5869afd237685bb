"""Algorithm 1 of the paper: GECO, Greedy Efficient Component Optimization."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from pygeco.algorithm.certificates import Certificate, certify
from pygeco.algorithm.corrections import core as corrections
from pygeco.algorithm.corrections.base import Correction, State
from pygeco.algorithm.directions import (
    Direction,
    Lanczos,
    Pair,
    Power,
    Signs,
)
from pygeco.algorithm.events import Listener, join_listeners
from pygeco.algorithm.path import Path, Step, Stop
from pygeco.algorithm.penalties import Penalty
from pygeco.algorithm.refinements import refine
from pygeco.algorithm.symmetric import further, nothing, suited
from pygeco.arrays.kinds import moved
from pygeco.arrays.low_rank import LowRank
from pygeco.arrays.operators import Operator, Sum
from pygeco.arrays.streams import Purpose, seed_from, stream
from pygeco.engines import session
from pygeco.objectives.base import Gradient, Objective
from pygeco.objectives.scaled import original, scaled, to_scaled

# A decrease smaller than this share of R(0) is rounding, not progress.
NOISE = 1e-13
# The most Lanczos iterations that a proof of optimality may take.
SHARP = 400


@dataclass(frozen=True)
class Solver:
    """The choices of Algorithm 1 and of its variants (section 2.1), and when to stop.

    direction     step 4, ApproxSV: `Lanczos(tau, iterations, confidence)` or `Power(...)`
    signs         try the sign-alternation pair too at each growth; the larger decrease wins (2.1.1)
    replacements  q, the replacement attempts at each rank (2.1.2)
    replacement   "refit" minimises again at the lower rank, in the wider spans, before it
                  compares; "zero" is the paper's step: the smallest singular value is zeroed
    correction    "core" (all s × s cores), "diagonal" (2.1.4), "sweep": every row of V and of U
                  by itself, in turn, which fits closer at the same rank, or "descent": the core,
                  then L-BFGS over both factors until A rests. "auto" is the sweep for `Entries`
                  and `Dense` where the penalty allows it, the descent for other objectives with
                  `Trace`, and else the core
    pairs         singular pairs that a step adds, at most, while that many are still wanted twice
                  over: fewer steps to the same rank, each with its certificate
    refine        descend over both factors too at each rank (L-BFGS): spans move, rank does not
    target        stop when the objective is at or below this
    progress      stop when a rank lowers the objective by less than this share of it
    gap           stop when the certificate, at the solution's own trace norm, is at or below this
    time_limit    stop after this many seconds, at the end of a rank
    tolerance     with `Trace`, stop when no matrix at all is better by more than this share
    """

    direction: Direction = field(default_factory=Lanczos)
    signs: bool = False
    replacements: int = 0
    replacement: str = "refit"
    correction: str = "auto"
    pairs: int = 1
    refine: bool = False
    target: float | None = None
    progress: float | None = None
    gap: float | None = None
    time_limit: float | None = None
    tolerance: float = 1e-6

    def __post_init__(self) -> None:
        if self.replacements < 0:
            raise ValueError(f"replacements: must be at least 0, not {self.replacements!r}.")
        if self.replacement not in ("refit", "zero"):
            raise ValueError(f"replacement: use 'refit' or 'zero', not {self.replacement!r}.")
        if not isinstance(self.pairs, (int, np.integer)) or self.pairs < 1:
            raise ValueError(f"pairs: expected an integer of at least 1, not {self.pairs!r}.")
        if not self.tolerance > 0:
            raise ValueError(f"tolerance: must be positive, not {self.tolerance!r}.")
        if self.correction != "auto":
            corrections.named(self.correction, None)

    @classmethod
    def paper(cls) -> Solver:
        """The experiment of section 5, to the letter.

        30 power iterations, signs, q = 20 replacement attempts that zero the smallest singular
        value (2.1.2), the full core.
        """
        return replace(cls.refitted(), replacement="zero")

    @classmethod
    def refitted(cls) -> Solver:
        """As `paper`, but what a replacement keeps is minimised again before it is judged.

        More attempts succeed, so that the objective is lower at the same rank.
        """
        direction = Power(tau=0.0, iterations=30)
        return cls(direction=direction, signs=True, replacements=20, correction="core")

    def grow(self, objective: Objective, correction: Correction, at: Point, left: int) -> Growth:
        """One step of Algorithm 1, steps 5 to 8, and the replacements that follow it.

        `left` is how much the rank may still grow.
        """
        pairs = [at.pair]
        if left <= 0:  # a pair of zeros: the correction comes to rest at this rank
            pairs = [at.pair._replace(u=0 * at.pair.u, v=0 * at.pair.v)]
        elif self.signs:
            pairs.append(suited(Signs(), objective)(at.asked, at.rng))
        count = min(self.pairs, (left + 1) // 2) - 1
        more = further(at.asked, objective, count, at.rng) if count > 0 else nothing(objective)
        before = correction.start(objective, at.A)
        states = [
            correction.extend(
                before, np.column_stack([pair.u, more.U]), np.column_stack([pair.v, more.V])
            )
            for pair in pairs
        ]
        best = min(range(len(pairs)), key=lambda t: states[t].value)
        passes = before.passes + sum(state.passes - before.passes for state in states)
        passes += sum(pair.passes for pair in pairs[1:]) + more.passes
        growth = Growth(states[best], pairs[best].kind, 0, passes)
        growth = self._replace(objective, correction, growth, at)
        return self._refine(objective, correction, growth, at) if self.refine else growth

    def _replace(
        self, objective: Objective, correction: Correction, growth: Growth, at: Point
    ) -> Growth:
        """Up to q attempts to exchange the weakest component for a better one (2.1.2)."""
        state, kind, replaced, passes = growth
        gradient = None
        lower = correction.drop if self.replacement == "zero" else correction.shrink
        room = state.A.rank < min(objective.shape)  # an attempt has one column more for a while
        for _ in range(self.replacements if room else 0):
            if gradient is None:
                gradient = at.follow(objective.gradient(state.A), state.A)
                passes += 2
            pair = suited(Signs(), objective)(gradient, at.rng)
            if pair.sigma == 0.0:
                break
            other = lower(correction.extend(state, pair.u, pair.v))
            passes += pair.passes + other.passes - state.passes
            if other.value < state.value - at.noise:
                state, replaced, gradient = other, replaced + 1, None
        return Growth(state, kind, replaced, passes)

    def _refine(
        self, objective: Objective, correction: Correction, growth: Growth, at: Point
    ) -> Growth:
        """A descent over both factors, and the correction over the spans where it ends."""
        refined = refine(objective, growth.state.A, at.penalty)
        state = min(growth.state, correction.solve(objective, refined.A), key=lambda s: s.value)
        return growth._replace(state=state, passes=growth.passes + refined.passes)

    def reason(self, step: Step, before: float, rank: int) -> Stop | None:
        """The first stop rule that holds after this step."""
        if self.target is not None and step.objective <= self.target:
            return Stop.TARGET
        if self.gap is not None and step.gap <= self.gap:
            return Stop.CERTIFIED
        if self.progress is not None and before - step.objective < self.progress * abs(before):
            return Stop.PROGRESS
        if step.rank >= rank:
            return Stop.RANK
        if self.time_limit is not None and step.seconds >= self.time_limit:
            return Stop.TIME
        return None


class Growth(NamedTuple):
    """The state after a new rank, and how it came about."""

    state: State
    direction: str
    replaced: int
    passes: int


@dataclass(frozen=True, eq=False)
class Point:
    """What is known at A: the gradient of R + h, its leading pair, and the rank's own generator.

    The generator depends on the seed and the rank alone, so that a path continued later takes
    the same steps as one that was never interrupted.
    """

    A: LowRank
    value: float
    gradient: Operator | None  # kept only where it is asked again: it is as large as the data
    pair: Pair
    certificate: Certificate
    rng: np.random.Generator
    penalty: Penalty | None
    noise: float

    @classmethod
    def at(cls, A: LowRank, run: Run) -> Point:
        objective, solver, penalty = run.objective, run.solver, run.penalty
        rng = stream(Purpose.PATH, run.seed, A.rank)
        G = objective.gradient(A)
        s = A.svd().s if solver.correction == "diagonal" else np.abs(A.s)
        h = 0.0 if penalty is None else penalty.value(s)
        gradient = _with_penalty(G, A, penalty)
        pair = suited(solver.direction, objective)(gradient, rng)
        alpha = 0.0 if penalty is None or not run.correction.rests else penalty.threshold
        near = pair.sigma <= 1.01 * alpha and alpha < pair.upper  # only a tight bound is a proof
        if near and pair.confidence < 1:
            sharp = suited(Lanczos(solver.tolerance / 4, SHARP, pair.confidence), objective)
            tight = sharp(gradient, rng)
            pair = tight._replace(passes=tight.passes + pair.passes)
        certificate = certify(objective, A, G, pair, penalty=penalty, s=s)
        kept = gradient if solver.signs or solver.pairs > 1 else None
        return cls(A, G.value + h, kept, pair, certificate, rng, penalty, run.noise)

    @property
    def asked(self) -> Operator:
        """The gradient, where the solver asks it for more than the leading pair."""
        assert self.gradient is not None
        return self.gradient

    def follow(self, G: Gradient, A: LowRank) -> Operator:
        return _with_penalty(G, A, self.penalty)


class Run(NamedTuple):
    """What stays the same for a whole run."""

    objective: Objective
    solver: Solver
    correction: Correction
    penalty: Penalty | None
    rank: int
    seed: int
    noise: float
    began: float

    def excess(self, at: Point) -> float:
        """How far the objective may be above its global minimum, where A is brought to rest."""
        return at.certificate.excess(at.value) if self.correction.rests else math.inf

    def advance(self, at: Point) -> tuple[Point, Step | None, Stop | None]:
        """One more rank: the new point and its step, or none and the reason for it."""
        solver = self.solver
        excess = self.excess(at)
        if excess <= solver.tolerance * at.value:
            return at, None, Stop.OPTIMAL
        if at.pair.sigma == 0.0:
            return at, None, Stop.STATIONARY
        full = at.A.rank >= self.rank
        growth = solver.grow(self.objective, self.correction, at, self.rank - at.A.rank)
        # Through the unscaled matrix, which is what a path keeps and is continued from.
        A = original(self.objective, growth.state.A)
        point = Point.at(to_scaled(self.objective, A), self)
        step = self.step(point, A, growth)
        least = self.noise if step.rank > at.A.rank else 0.01 * solver.tolerance * at.value
        fell = point.value < at.value - max(self.noise, least)  # measured, not as the span says
        # Near an optimum the objective is flat to the last bit, while the proof still sharpens.
        now = self.excess(point)
        if not (fell or now < 0.9 * excess):
            return at, None, Stop.RANK if full else Stop.STALLED
        if now <= solver.tolerance * point.value:
            return point, step, Stop.OPTIMAL
        reason = solver.reason(step, at.value, self.rank)
        more = reason is Stop.RANK and self.correction.rests and not full
        return point, step, None if more else reason

    def step(self, point: Point, A: LowRank, growth: Growth | None = None) -> Step:
        """The step at a point; without a growth, that of a matrix to start from."""
        return Step(
            rank=point.A.rank,
            objective=point.value,
            A=A,
            certificate=point.certificate,
            seconds=time.perf_counter() - self.began,
            passes=(growth.passes if growth else 0) + point.pair.passes + 2,
            direction=growth.direction if growth else "start",
            replaced=growth.replaced if growth else 0,
        )


def minimize(
    objective: Objective,
    rank: int,
    solver: Solver | None = None,
    *,
    penalty: Penalty | None = None,
    start: LowRank | Path | None = None,
    random_state: int | np.random.Generator | None = None,
    callback: Callable[[Step], object] | None = None,
    observer: Listener | None = None,
) -> Path:
    """Min R(A) + h(σ(A)) over matrices of rank at most `rank`, by GECO.

    `start` continues from a matrix, whose own step then comes first, or from an earlier path,
    whose steps and seed are kept.
    `observer` is told of the start, of each step and of the reason for the stop; see `Listener`.
    `callback(step)` runs after each rank. A true answer to a step stops the run.
    """
    listener = join_listeners(observer, callback)
    solver = Solver() if solver is None else solver
    rank = checked_rank(rank, objective.shape)
    name = corrections.suited(solver.correction, objective, penalty, rank)
    solver = replace(solver, correction=name)
    steps = list(start.steps) if isinstance(start, Path) else []
    objective = objective if penalty is None else scaled(objective, penalty.gamma)
    correction = corrections.named(solver.correction, penalty, solver.tolerance)
    began = time.perf_counter()
    if random_state is None and isinstance(start, Path):
        random_state = start.seed
    seed = seed_from(random_state)
    with session(objective):
        A = _first(start, objective, solver)
        noise = NOISE * abs(objective.value(LowRank.zero(objective.shape, objective.kind)))
        run = Run(objective, solver, correction, penalty, rank, seed, noise, began)
        listener.on_start(objective, rank)
        point = Point.at(to_scaled(objective, A), run)
        if A.rank and not steps:
            steps.append(run.step(point, A))
        reason = Stop.RANK if A.rank >= rank and not correction.rests else None
        while reason is None:
            point, step, reason = run.advance(point)
            if step is None:
                break
            steps = [*(t for t in steps if t.rank < step.rank), step]
            if listener.on_step(step) and reason is not Stop.RANK:
                reason = Stop.CALLBACK
        assert reason is not None
        listener.on_stop(reason)
    return Path(tuple(steps), reason, seed, objective.shape)


def _with_penalty(G: Gradient, A: LowRank, penalty: Penalty | None) -> Operator:
    """∇(R + h): the gradient of a smooth h lies in the spans of A."""
    if penalty is None or not penalty.smooth or A.rank == 0:
        return G
    if penalty.quadratic is not None:
        return Sum(G, LowRank(A.U, 2 * penalty.quadratic * A.s, A.V))
    return Sum(G, LowRank(A.U, penalty.slope(A.s), A.V))


def checked_rank(rank: int, shape: tuple[int, int]) -> int:
    """The rank, if it is a whole number that the shape allows."""
    if not isinstance(rank, (int, np.integer)) or isinstance(rank, bool):
        raise ValueError(f"rank: expected an integer, not {rank!r}.")
    if not 1 <= rank <= min(shape):
        raise ValueError(f"rank: must be between 1 and min(m, n) = {min(shape)}, not {rank}.")
    return int(rank)


def _first(start: LowRank | Path | None, objective: Objective, solver: Solver) -> LowRank:
    shape = objective.shape
    A = LowRank.zero(shape) if start is None else start.A if isinstance(start, Path) else start
    if A.shape != shape:
        raise ValueError(f"start: has shape {A.shape}, but the objective's is {shape}.")
    A = moved(A, objective.kind).astype(float)
    return A if solver.correction == "diagonal" or A.orthonormal else A.svd()
