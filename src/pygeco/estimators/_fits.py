"""The two ways in which MatrixCompletion is fitted: by the evidence, or along the solver's path."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from pygeco.algorithm.certificates import certify
from pygeco.algorithm.corrections.factory import resolve_auto
from pygeco.algorithm.directions import Lanczos
from pygeco.algorithm.events import Listener, Listeners, StepsOnly, Trial
from pygeco.algorithm.path import Path, Step, Stop
from pygeco.algorithm.penalties import Penalty
from pygeco.algorithm.solver import Solver
from pygeco.arrays.low_rank import LowRank
from pygeco.arrays.streams import Purpose, stream
from pygeco.bayes.average import Average
from pygeco.bayes.evidence import fit_evidence, reason_to_end
from pygeco.bayes.posterior import Posterior
from pygeco.bayes.sampling import sample_posterior
from pygeco.engines import session
from pygeco.estimators._checkpoint import Checkpoint, StageKeeper, kept_steps, resumable, seed_of
from pygeco.losses import Loss
from pygeco.losses.weighted_squares import Weighing
from pygeco.models.slab_arrays import place_rows
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
    listener: Listener,
    store: Checkpoint | None = None,
) -> Fitted:
    """Empirical Bayes; then, if asked for, draws from the posterior and their mean.

    `loss` is that of the entries, before the data settled what it leaves open.
    """
    began = time.perf_counter()
    limit = min(MOST, *entries.shape) if rank == "auto" else _checked(rank, entries.shape)
    average = None
    listener.on_start(entries, limit)
    with session(entries):
        found, sweeps, stop = _in_rounds(entries, loss, limit, offsets, seed, listener, store)
        cells = entries
        if loss.robust:
            cells, weighing = _weighed(entries, loss, offsets, found)
            entries, found = entries.with_loss(weighing.loss), replace(found, weighing=weighing)
        factors, biases = found.factors(), found.biases()
        if posterior and stop is not Stop.CALLBACK:
            most = None if rank == "auto" else limit
            average, is_stopped = sample_posterior(
                cells,
                found,
                posterior,
                rank=2 * found.rank + 4 if most is None else min(2 * found.rank + 4, most),
                most=most,
                seed=seed,
                listener=listener,
            )
            stop = Stop.CALLBACK if is_stopped else stop
        draws = 0
        if average is not None:
            factors, draws = average.factors, average.sweeps
            biases = Biases(average.mean, average.row, average.col)
        path = _one_step(entries, factors, biases, began, sweeps, seed, stop)
    listener.on_stop(stop)
    return Fitted(factors, biases, path, sweeps + draws, found, average, entries.loss)


class Rounds(NamedTuple):
    """The posterior after all rounds, the sweeps of all, and why the last one ended."""

    posterior: Posterior
    sweeps: int
    stop: Stop


def _in_rounds(
    entries: Entries,
    loss: Loss,
    rank: int,
    offsets: tuple[str, ...],
    seed: int,
    listener: Listener,
    store: Checkpoint | None,
) -> Rounds:
    """The evidence: once, or, under a robust loss, a few times.

    Then it is that of weighted squares in the loss's place, about the offsets at first, and then
    about the model.
    """
    kept = store.parts if store else {}
    found: Any = place_rows(kept.get("found"), entries)
    sweeps = kept.get("sweeps", 0)
    done = 0 if found is None else kept.get("rounds", 1)
    if store:
        listener = Listeners((StageKeeper(store), listener))
    for turn in range(done, ROUNDS if loss.robust else 1):
        cells = _weighed(entries, loss, offsets, found)[0] if loss.robust else entries
        fit = fit_evidence(
            cells,
            rank=rank,
            offsets=offsets,
            seed=seed,
            listener=listener,
            start=place_rows(store.parts.get("stage") if store else None, entries),
            earlier_sweeps=sweeps,
        )
        found, sweeps = fit.posterior, fit.sweeps
        if fit.stop is Stop.CALLBACK:
            return Rounds(found, sweeps, fit.stop)
        if store:
            store.keep(found=found, sweeps=sweeps, rounds=turn + 1, stage=None)
    return Rounds(found, sweeps, reason_to_end(found, rank, entries.shape))


def _weighed(
    entries: Entries, loss: Loss, offsets: tuple[str, ...], found: Posterior | None
) -> tuple[Entries, Weighing]:
    """See `Entries.reweighted`: about the model, or about the offsets where there is none yet."""
    if found is None:
        factors, biases = LowRank.zero(entries.shape, entries.kind), fit_biases(entries, offsets)
    else:
        factors, biases = found.factors(), found.biases()
    return entries.reweighted(factors, biases.mean + biases.row, biases.col, loss)


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
    listener: Listener,
    store: Checkpoint | None = None,
    refit: bool = True,
) -> Fitted:
    """Algorithm 1 on what the biases leave, up to the rank given or chosen by held-out cells.

    Where it is chosen, the fit is then of all cells, or without `refit` that of the others. A
    listener that stops while ranks are tried ends the fit there, without one of all cells.
    """
    solver, seed = _held(solver, penalty), seed_of(store, seed)
    chosen = min(MOST, *entries.shape) if rank == "auto" else _checked(rank, entries.shape)
    listener.on_start(entries, chosen)
    if rank == "auto":
        chosen, part = _validated(entries, offsets, solver, penalty, seed, store, listener)
        if part is not None and (part.path.stop is Stop.CALLBACK or not refit):
            listener.on_stop(part.path.stop)
            return part
    path = resumable(
        store,
        "path",
        entries.shifted(biases.mean + biases.row, biases.col),
        chosen,
        solver,
        penalty=penalty,
        seed=seed,
        listener=StepsOnly(listener),
    )
    if rank == "auto" and path.stop is Stop.RANK:  # nobody asked for this rank
        path = replace(path, stop=Stop.VALIDATION)
    listener.on_stop(path.stop)
    return Fitted(path.A.svd(), biases, path, len(path))


@dataclass(eq=False)
class _Trials(Listener):
    """Each step judged by held-out cells, until a few in a row are no better than the best."""

    held_out: Entries
    listener: Listener
    ranks: list[int] = field(default_factory=lambda: [1])
    losses: list[float] = field(default_factory=lambda: [np.inf])
    is_stopped: bool = False

    def judge(self, rank: int, A: LowRank) -> None:
        self.ranks.append(rank)
        self.losses.append(self.held_out.value(A))

    @property
    def best(self) -> int:
        """The place of the lowest loss."""
        return int(np.argmin(self.losses))

    def on_step(self, step: Step) -> bool:
        self.judge(step.rank, step.A)
        trial = Trial(step.rank, step.objective, self.losses[-1], step.seconds)
        self.is_stopped = bool(self.listener.on_trial(trial))
        return self.is_stopped or len(self.losses) - 1 - self.best >= PATIENCE


def _validated(
    entries: Entries,
    offsets: tuple[str, ...],
    solver: Solver | None,
    penalty: Penalty | None,
    seed: int,
    store: Checkpoint | None,
    listener: Listener,
) -> tuple[int, Fitted | None]:
    """The rank with the lowest loss on a tenth of the cells, held out, and the fit of the rest.

    The listener is told of each trial, and may stop.
    """
    held = stream(Purpose.RANK_CHOICE, seed).random(entries.size) < 0.1
    if held.all() or not held.any():
        return 1, None
    fitted, test = entries.subset(~held), entries.subset(held)
    biases = fit_biases(fitted, offsets)
    row, col = biases.mean + biases.row, biases.col
    trials = _Trials(test.shifted(row, col), listener)
    for step in kept_steps(store, "validation"):
        trials.judge(step.rank, place_rows(step.A, entries))
    path = resumable(
        store,
        "validation",
        fitted.shifted(row, col),
        min(MOST, *entries.shape),
        solver,
        penalty=penalty,
        seed=seed,
        listener=trials,
    )
    best = max(1, trials.ranks[trials.best])
    steps = tuple(step for step in path if step.rank <= best)
    stop = Stop.CALLBACK if trials.is_stopped else Stop.VALIDATION
    path = Path(steps, stop, path.seed, path.shape)
    return best, Fitted(path.A.svd(), biases, path, len(path))


def _held(solver: Solver | None, penalty: Penalty | None) -> Solver:
    """Cores where nothing else holds the rows: with no penalty, sweeps fit the noise of each.

    MovieLens-100K, Huber's loss, rank by held-out cells: they err by 0.943, cores by 0.928.
    """
    solver = Solver() if solver is None else solver
    if penalty is not None:
        return solver
    return replace(solver, correction=resolve_auto(solver.correction, "core"))


def _checked(rank: int | str, shape: tuple[int, int]) -> int:
    whole = isinstance(rank, (int, np.integer)) and not isinstance(rank, bool)
    if not whole:
        raise ValueError(f"rank: expected an integer or 'auto', not {rank!r}.")
    if not 1 <= int(rank) <= min(shape):
        raise ValueError(f"rank: must be between 1 and min(m, n) = {min(shape)}, not {rank}.")
    return int(rank)
