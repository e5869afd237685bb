"""Algorithm 1 of the paper, GECO: gradient → direction → correction → judge, from top to bottom.

Step numbers are those of Algorithm 1, section numbers those of its variants. `minimize` is the
loop (step 3), `take_step` its body.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np

from pygeco.algorithm.certificates import certify
from pygeco.algorithm.corrections.factory import choose_name, make_correction
from pygeco.algorithm.directions import Lanczos, Pair, Signs
from pygeco.algorithm.events import Listener, join_listeners
from pygeco.algorithm.path import Path, Step, Stop
from pygeco.algorithm.penalties import Penalty
from pygeco.algorithm.refinements import refine
from pygeco.algorithm.run_values import Growth, Move, Point, Run
from pygeco.algorithm.solver import Solver, check_problem, check_solver, find_stop
from pygeco.algorithm.symmetric import adapt_direction, empty_pairs, find_further_pairs
from pygeco.arrays.checks import check_rank, check_start
from pygeco.arrays.kinds import moved
from pygeco.arrays.low_rank import LowRank
from pygeco.arrays.operators import Operator, Sum
from pygeco.arrays.streams import Purpose, RandomState, seed_from, stream
from pygeco.engines import session
from pygeco.objectives.base import Gradient, Objective
from pygeco.objectives.scaled import scale_matrix, scale_objective, unscale_matrix

MIN_DECREASE = 1e-13  # share of R(0): a smaller decrease is rounding, not progress
MIN_REST_DECREASE = 0.01  # share of `tol`: the same where the rank stays
SHARPER_PROOF = 0.9  # of the last bound: near an optimum the objective is flat to the last bit
NEAR_THRESHOLD = 1.01  # σ₁ over α up to which a tight bound on σ₁ may prove optimality
MAX_PROOF_ITERATIONS = 400  # of Lanczos, for such a bound


def minimize(
    objective: Objective,
    rank: int,
    solver: Solver | None = None,
    *,
    penalty: Penalty | None = None,
    start: LowRank | Path | None = None,
    random_state: RandomState = None,
    callback: Callable[[Step], object] | None = None,
    observer: Listener | None = None,
) -> Path:
    """Minimize R(A) + h(σ(A)) over matrices of rank at most `rank`, by GECO.

    Parameters
    ----------
    objective : Objective
        R: `Entries`, `Clicks`, `Dense`, `Features`, `Quadratic`, `Sensing`, `Custom`, or your own.
    rank : int
        The highest rank; the path holds every rank up to it.
    solver : Solver or None, default=None
        Settings of the algorithm; None is `Solver()`.
    penalty : Penalty or None, default=None
        h: `Ridge`, `Trace` or `Schatten`.
    start : LowRank, Path or None, default=None
        Continue from a matrix, which becomes the first step, or from an earlier path, whose steps
        and seed are kept.
    random_state : int, Generator or None, default=None
        The same seed gives the same bits.
    callback : callable or None, default=None
        Called with each `Step`. If it returns true, the run stops.
    observer : Listener or None, default=None
        Receives the start, each step, and the reason for the stop. If it returns true for a step,
        the run stops.

    Returns
    -------
    Path
        One step a rank, and why it stopped.

    Examples
    --------
    >>> import numpy as np
    >>> from pygeco import Entries, minimize
    >>> rows, cols = np.nonzero(np.ones((4, 3)))
    >>> Y = np.outer([1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0])
    >>> path = minimize(Entries(rows, cols, Y[rows, cols]), 1, random_state=0)
    >>> bool(np.allclose(path.A.to_dense(), Y))
    True
    """
    began, listener = time.perf_counter(), join_listeners(observer, callback)
    steps = list(start.steps) if isinstance(start, Path) else []
    if random_state is None and isinstance(start, Path):
        random_state = start.seed
    run = _begin_run(objective, rank, solver, penalty, seed_from(random_state), began)  # step 1
    with session(run.objective):
        A = run.correction.prepare(_initial_matrix(start, run.objective))  # step 2
        run = run._replace(noise=MIN_DECREASE * abs(_value_at_zero(run.objective)))
        listener.on_start(run.objective, run.rank)
        at = find_direction(run, scale_matrix(run.objective, A))
        if A.rank and not steps:
            steps.append(_make_step(run, at, A))
        reason = Stop.RANK if A.rank >= run.rank and not run.correction.rests else None
        while reason is None:  # step 3
            at, step, reason = take_step(run, at)
            if step is None:
                break
            steps = [*(t for t in steps if t.rank < step.rank), step]
            if listener.on_step(step) and reason is not Stop.RANK:
                reason = Stop.CALLBACK
        assert reason is not None
        listener.on_stop(reason)
    return Path(tuple(steps), reason, run.seed, run.objective.shape)


def take_step(run: Run, at: Point) -> Move:
    """The body of the loop. Step 4 at A was done when A was found: its pair is in `at`."""
    proof = _find_proof(run, at)
    if proof is not None:
        return Move(at, None, proof)
    growth = add_pairs(run, at)  # steps 5 to 8
    growth = replace_weakest(run, at, growth)  # section 2.1.2
    growth = move_spans(run, growth)
    # Through the unscaled matrix, which is what a path keeps and is continued from.
    A = unscale_matrix(run.objective, growth.state.A)
    new = find_direction(run, scale_matrix(run.objective, A))  # step 4 of the next round
    return judge(run, at, new, _make_step(run, new, A, growth))


def find_direction(run: Run, A: LowRank) -> Point:
    """Step 4, ApproxSV: the gradient at A and its leading pair, with what they prove."""
    objective, solver, penalty = run.objective, run.solver, run.penalty
    rng = stream(Purpose.PATH, run.seed, A.rank)
    G = objective.gradient(A)
    gradient = _add_penalty(G, A, penalty)
    pair = adapt_direction(solver.direction, objective)(gradient, rng)
    pair = _sharpen_bound(run, gradient, pair, rng)
    s = run.correction.singular_values(A)
    certificate = certify(objective, A, G, pair, penalty=penalty, s=s)
    value = G.value + (0.0 if penalty is None else penalty.value(s))
    asked_again = solver.signs or solver.pairs > 1
    return Point(A, value, gradient if asked_again else None, pair, certificate, rng)


def add_pairs(run: Run, at: Point) -> Growth:
    """Steps 5 to 8: U and V with a new pair (or several), and what the correction makes of it.

    With `signs` the better of two pairs (section 2.1.1). Where the rank may not grow, a pair of
    zeros: the correction comes to rest at this rank.
    """
    objective, solver, correction = run.objective, run.solver, run.correction
    left, pairs = run.rank - at.A.rank, [at.pair]
    if left <= 0:
        pairs = [at.pair._replace(u=0 * at.pair.u, v=0 * at.pair.v)]
    elif solver.signs:
        pairs.append(adapt_direction(Signs(), objective)(at.known_gradient, at.rng))
    count = min(solver.pairs, (left + 1) // 2) - 1
    more = (
        find_further_pairs(at.known_gradient, objective, count, at.rng)
        if count > 0
        else empty_pairs(objective)
    )
    before = correction.start(objective, at.A, at.value)
    states = [
        correction.extend(
            before, np.column_stack([pair.u, more.U]), np.column_stack([pair.v, more.V])
        )
        for pair in pairs
    ]
    best = min(range(len(pairs)), key=lambda t: states[t].value)
    passes = before.passes + sum(state.passes - before.passes for state in states)
    passes += sum(pair.passes for pair in pairs[1:]) + more.passes
    return Growth(states[best], pairs[best].kind, 0, passes)


def replace_weakest(run: Run, at: Point, growth: Growth) -> Growth:
    """Up to q attempts to exchange the weakest component for a better one (section 2.1.2)."""
    objective, solver, correction = run.objective, run.solver, run.correction
    state, kind, replaced, passes = growth
    gradient = None
    lower = correction.drop if solver.replacement == "zero" else correction.shrink
    room = state.A.rank < min(objective.shape)  # an attempt has one column more for a while
    for _ in range(solver.replacements if room else 0):
        if gradient is None:
            gradient = _add_penalty(objective.gradient(state.A), state.A, run.penalty)
            passes += 2
        pair = adapt_direction(Signs(), objective)(gradient, at.rng)
        if pair.sigma == 0.0:
            break
        other = lower(correction.extend(state, pair.u, pair.v))
        passes += pair.passes + other.passes - state.passes
        if other.value < state.value - run.noise:
            state, replaced, gradient = other, replaced + 1, None
    return Growth(state, kind, replaced, passes)


def move_spans(run: Run, growth: Growth) -> Growth:
    """With `refine`: a descent over both factors, and the correction where it ends."""
    if not run.solver.refine:
        return growth
    refined = refine(run.objective, growth.state.A, run.penalty)
    other = run.correction.solve(run.objective, refined.A)
    state = min(growth.state, other, key=lambda s: s.value)
    return growth._replace(state=state, passes=growth.passes + refined.passes)


def judge(run: Run, at: Point, new: Point, step: Step) -> Move:
    """Whether the new point is taken, and whether the run ends there."""
    tol, full = run.solver.tol, at.A.rank >= run.rank
    grew = step.rank > at.A.rank
    least = run.noise if grew else MIN_REST_DECREASE * tol * at.value
    fell = new.value < at.value - max(run.noise, least)  # measured, not as the span says
    excess = _bound_excess(run, new)
    if not (fell or excess < SHARPER_PROOF * _bound_excess(run, at)):
        return Move(at, None, Stop.RANK if full else Stop.STALLED)
    if excess <= tol * new.value:
        return Move(new, step, Stop.OPTIMAL)
    reason = find_stop(run.solver, step, at.value, run.rank)
    rests_yet = reason is Stop.RANK and run.correction.rests and not full
    return Move(new, step, None if rests_yet else reason)


def _find_proof(run: Run, at: Point) -> Stop | None:
    """Whether nothing better than A is possible."""
    if _bound_excess(run, at) <= run.solver.tol * at.value:
        return Stop.OPTIMAL
    return Stop.STATIONARY if at.pair.sigma == 0.0 else None


def _bound_excess(run: Run, at: Point) -> float:
    """How far the objective may be above its global minimum."""
    return at.certificate.excess(at.value) if run.correction.proves else math.inf


def _sharpen_bound(run: Run, gradient: Operator, pair: Pair, rng: np.random.Generator) -> Pair:
    """A tighter bound on σ₁ where σ₁ ≤ α, a proof, depends on it."""
    penalty = run.penalty
    alpha = 0.0 if penalty is None or not run.correction.proves else penalty.threshold
    near = pair.sigma <= NEAR_THRESHOLD * alpha and alpha < pair.upper
    if not (near and pair.confidence < 1):
        return pair
    search = Lanczos(run.solver.tol / 4, MAX_PROOF_ITERATIONS, pair.confidence)
    tight = adapt_direction(search, run.objective)(gradient, rng)
    return tight._replace(passes=tight.passes + pair.passes)


def _make_step(run: Run, at: Point, A: LowRank, growth: Growth | None = None) -> Step:
    """The step at a point; without a growth, that of a matrix to start from."""
    return Step(
        rank=at.A.rank,
        objective=at.value,
        A=A,
        certificate=at.certificate,
        seconds=time.perf_counter() - run.began,
        passes=(growth.passes if growth else 0) + at.pair.passes + 2,
        direction=growth.direction if growth else "start",
        replaced=growth.replaced if growth else 0,
    )


def _begin_run(
    objective: Objective,
    rank: int,
    solver: Solver | None,
    penalty: Penalty | None,
    seed: int,
    began: float,
) -> Run:
    """Step 1, the input: what the choices come to for this objective and penalty."""
    solver = check_solver(solver)
    check_problem(objective, penalty)
    rank = check_rank(rank, objective.shape)
    name = choose_name(solver.correction, objective, penalty, rank)
    correction = make_correction(name, penalty, solver.tol)
    objective = objective if penalty is None else scale_objective(objective, penalty.gamma)
    return Run(objective, solver, correction, penalty, rank, seed, 0.0, began)


def _initial_matrix(start: LowRank | Path | None, objective: Objective) -> LowRank:
    """Step 2: zero, or what was given, of the kind that the engine takes."""
    shape = objective.shape
    A = LowRank.zero(shape) if start is None else start.A if isinstance(start, Path) else start
    check_start(A, shape)
    return moved(A, objective.kind).astype(float)


def _value_at_zero(objective: Objective) -> float:
    return objective.value(LowRank.zero(objective.shape, objective.kind))


def _add_penalty(G: Gradient, A: LowRank, penalty: Penalty | None) -> Operator:
    """∇(R + h): the gradient of a smooth h lies in the spans of A."""
    if penalty is None or not penalty.smooth or A.rank == 0:
        return G
    if penalty.quadratic is not None:
        return Sum(G, LowRank(A.U, 2 * penalty.quadratic * A.s, A.V))
    return Sum(G, LowRank(A.U, penalty.slope(A.s), A.V))
