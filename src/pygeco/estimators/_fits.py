"""The two ways in which MatrixCompletion is fitted: by the evidence, or along the solver's path."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from pygeco.algorithm.certificates import certify
from pygeco.algorithm.directions import Lanczos
from pygeco.algorithm.path import Path, Step, Stop, Trial
from pygeco.algorithm.penalties import Penalty
from pygeco.algorithm.solver import Observer, Solver
from pygeco.arrays.low_rank import LowRank
from pygeco.arrays.streams import Purpose, stream
from pygeco.bayes.evidence import Sweep, fit_evidence
from pygeco.bayes.posterior import Posterior
from pygeco.bayes.sampling import Average, sample_posterior
from pygeco.engines import session
from pygeco.estimators._checkpoint import Checkpoint, kept_steps, resumable, seed_of
from pygeco.estimators._cluster import sent_out
from pygeco.losses import Loss
from pygeco.losses.weighted_squares import Weighing
from pygeco.objectives import Entries
from pygeco.objectives.entries.biases import Biases, fit_biases

MOST = 200  # components that rank="auto" may reach
ROUNDS = 4  # fits of the evidence under a robust loss, each to cells that are weighted anew
PATIENCE = 3  # ranks without a better validation error before rank="auto" stops


class Fitted(NamedTuple):
    """What a fit found."""

    factors: LowRank
    biases: Biases
    path: Path
    sweeps: int
    posterior: Posterior | None = None
    average: Average | None = None
    loss: Loss | None = None  # where the residuals settled what it leaves open


def by_evidence(
    entries: Entries,
    rank: int | str,
    offsets: tuple[str, ...],
    posterior: int,
    seed: int,
    *,
    loss: Loss,
    callback: Callable[[Any], object] | None = None,
    store: Checkpoint | None = None,
) -> Fitted:
    """Empirical Bayes; then, if asked for, draws from the posterior and their mean.

    `loss` is that of the entries, before the data settled what it leaves open.
    """
    began = time.perf_counter()
    limit = min(MOST, *entries.shape) if rank == "auto" else _checked(rank, entries.shape)
    average = None
    with session(entries):
        found, sweeps, stop = _in_rounds(entries, loss, limit, offsets, seed, callback, store)
        cells = entries
        if loss.robust:
            cells, weighing = _weighed(entries, loss, offsets, found)
            entries, found = entries.with_loss(weighing.loss), replace(found, weighing=weighing)
        factors, biases = found.factors(), found.biases()
        if posterior and stop is not Stop.CALLBACK:
            listener, most = _Listener(callback), None if rank == "auto" else limit
            average = sample_posterior(
                cells,
                found,
                posterior,
                rank=2 * found.rank + 4 if most is None else min(2 * found.rank + 4, most),
                most=most,
                seed=seed,
                watch=listener,
            )
            stop = Stop.CALLBACK if listener.stopped else stop
        drawn = 0
        if average is not None:
            factors, drawn = average.factors, average.sweeps
            biases = Biases(average.mean, average.row, average.col)
        path = _one_step(entries, factors, biases, began, sweeps, seed, stop)
    return Fitted(factors, biases, path, sweeps + drawn, found, average, entries.loss)


class _Listener:
    """A callback that remembers whether it asked to stop."""

    def __init__(self, callback: Callable[[Any], object] | None) -> None:
        self.callback, self.stopped = callback, False

    def __call__(self, told: Any) -> bool:
        self.stopped = bool(self.callback is not None and self.callback(told))
        return self.stopped


def _in_rounds(
    entries: Entries,
    loss: Loss,
    rank: int,
    offsets: tuple[str, ...],
    seed: int,
    callback: Callable[[Sweep], object] | None,
    store: Checkpoint | None,
) -> tuple[Posterior, int, Stop]:
    """The posterior, the number of sweeps, and whether the callback stopped them.

    Under a robust loss the evidence is that of weighted squares in its place, about the offsets at
    first, and then about the model, a few times anew.
    """
    kept = store.parts if store else {}
    found, sweeps = sent_out(kept.get("found"), entries), kept.get("sweeps", 0)
    done = 0 if found is None else kept.get("rounds", 1)
    for turn in range(done, ROUNDS if loss.robust else 1):
        cells = _weighed(entries, loss, offsets, found)[0] if loss.robust else entries
        found, sweeps, stopped = _evidence(cells, rank, offsets, seed, sweeps, callback, store)
        if stopped:
            return found, sweeps, Stop.CALLBACK
        if store:
            store.keep(found=found, sweeps=sweeps, rounds=turn + 1, stage=None)
    full = found.rank >= rank and rank < min(entries.shape)
    return found, sweeps, Stop.CAPPED if full else Stop.EVIDENCE


def _weighed(
    entries: Entries, loss: Loss, offsets: tuple[str, ...], found: Posterior | None
) -> tuple[Entries, Weighing]:
    """See `Entries.reweighted`: about the model, or about the offsets where there is none yet."""
    if found is None:
        factors, biases = LowRank.zero(entries.shape, entries.kind), fit_biases(entries, offsets)
    else:
        factors, biases = found.factors(), found.biases()
    return entries.reweighted(factors, biases.mean + biases.row, biases.col, loss)


def _evidence(
    entries: Entries,
    rank: int,
    offsets: tuple[str, ...],
    seed: int,
    before: int,
    callback: Callable[[Sweep], object] | None,
    store: Checkpoint | None,
) -> tuple[Posterior, int, bool]:
    """The posterior, the number of sweeps with those before, and whether the callback stopped."""
    kept = store.parts if store else {}
    listener, last = _Listener(callback), before

    def watch(sweep: Sweep) -> bool:
        nonlocal last
        last = before + sweep.sweeps
        return listener(sweep._replace(sweeps=last))

    found = fit_evidence(
        entries,
        rank=rank,
        offsets=offsets,
        seed=seed,
        watch=watch,
        start=sent_out(kept.get("stage"), entries),
        keep=(lambda stage: store.keep_now_and_then(stage=stage)) if store else None,
    )
    return found, last, listener.stopped


def _one_step(
    entries: Entries,
    A: LowRank,
    biases: Biases,
    began: float,
    sweeps: int,
    seed: int,
    stop: Stop,
) -> Path:
    """The fit as a path of one step, with its certificate for the mean loss."""
    row = biases.mean + biases.row
    G = entries.gradient_beyond(A, row, biases.col)
    pair = Lanczos()(G, stream(Purpose.CERTIFICATE, seed, A.rank))
    # Squares need nothing of the objective beyond the gradient: no cell is copied for them.
    objective = entries if entries.squared else entries.shifted(row, biases.col)
    certificate = certify(objective, A, G, pair, s=A.s)
    seconds = time.perf_counter() - began
    step = Step(A.rank, G.value, A, certificate, seconds, 2 * sweeps, "block", 0)
    return Path((step,), stop, seed, entries.shape)


def along_path(
    entries: Entries,
    rank: int | str,
    biases: Biases,
    offsets: tuple[str, ...],
    *,
    solver: Solver | None,
    penalty: Penalty | None,
    seed: int,
    callback: Callable[[Step], object] | None,
    observer: Observer | None,
    store: Checkpoint | None = None,
    refit: bool = True,
) -> Fitted:
    """Algorithm 1 on what the biases leave, up to the rank given or chosen by held-out cells.

    Where it is chosen, the fit is then of all cells, or without `refit` that of the others. A
    callback that stops while ranks are tried ends the fit there, without one of all cells.
    """
    solver, seed = _held(solver, penalty), seed_of(store, seed)
    if rank == "auto":
        listener = _Listener(callback)
        chosen, part = _validated(entries, offsets, solver, penalty, seed, store, listener)
        if part is not None and (listener.stopped or not refit):
            return part
    else:
        chosen = _checked(rank, entries.shape)
    path = resumable(
        store,
        "path",
        entries.shifted(biases.mean + biases.row, biases.col),
        chosen,
        solver,
        penalty=penalty,
        seed=seed,
        callback=callback,
        observer=observer,
    )
    if rank == "auto" and path.stop is Stop.RANK:  # nobody asked for this rank
        path = replace(path, stop=Stop.VALIDATION)
    return Fitted(path.A.svd(), biases, path, len(path))


def _validated(
    entries: Entries,
    offsets: tuple[str, ...],
    solver: Solver | None,
    penalty: Penalty | None,
    seed: int,
    store: Checkpoint | None,
    listener: _Listener,
) -> tuple[int, Fitted | None]:
    """The rank with the lowest loss on a tenth of the cells, held out, and the fit of the rest.

    The listener is told of each rank, and may stop.
    """
    held = stream(Purpose.RANK_CHOICE, seed).random(entries.size) < 0.1
    if held.all() or not held.any():
        return 1, None
    fitted, test = entries.subset(~held), entries.subset(held)
    biases = fit_biases(fitted, offsets)
    row, col = biases.mean + biases.row, biases.col
    checked = test.shifted(row, col)
    kept = kept_steps(store, "validation")
    ranks = [1, *(step.rank for step in kept)]
    losses = [np.inf, *(checked.value(sent_out(step.A, entries)) for step in kept)]

    def watch(step: Step) -> bool:
        ranks.append(step.rank)
        losses.append(checked.value(step.A))
        if listener(Trial(step.rank, step.objective, losses[-1], step.seconds)):
            return True
        return len(losses) - 1 - int(np.argmin(losses)) >= PATIENCE

    path = resumable(
        store,
        "validation",
        fitted.shifted(row, col),
        min(MOST, *entries.shape),
        solver,
        penalty=penalty,
        seed=seed,
        callback=watch,
    )
    best = max(1, ranks[int(np.argmin(losses))])
    steps = tuple(step for step in path if step.rank <= best)
    stop = Stop.CALLBACK if listener.stopped else Stop.VALIDATION
    path = Path(steps, stop, path.seed, path.shape)
    return best, Fitted(path.A.svd(), biases, path, len(path))


def _held(solver: Solver | None, penalty: Penalty | None) -> Solver:
    """Cores where nothing else holds the rows: with no penalty, sweeps fit the noise of each.

    MovieLens-100K, Huber's loss, rank by held-out cells: they err by 0.943, cores by 0.928.
    """
    solver = Solver() if solver is None else solver
    cores = solver.correction == "auto" and penalty is None
    return replace(solver, correction="core") if cores else solver


def _checked(rank: int | str, shape: tuple[int, int]) -> int:
    whole = isinstance(rank, (int, np.integer)) and not isinstance(rank, bool)
    if not whole:
        raise ValueError(f"rank: expected an integer or 'auto', not {rank!r}.")
    if not 1 <= int(rank) <= min(shape):
        raise ValueError(f"rank: must be between 1 and min(m, n) = {min(shape)}, not {rank}.")
    return int(rank)
