"""MatrixCompletion by the evidence, and then by the mean of draws from the posterior."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from pygeco.algorithm.certificates import certify
from pygeco.algorithm.directions import Lanczos
from pygeco.algorithm.events import Listener, Listeners
from pygeco.algorithm.path import Path, Step, Stop
from pygeco.arrays.low_rank import LowRank
from pygeco.arrays.streams import Purpose, stream
from pygeco.bayes.cold import splice_cold
from pygeco.bayes.drift import Drift
from pygeco.bayes.evidence import fit_evidence, reason_to_end
from pygeco.bayes.posterior import NOTHING, Known, Posterior
from pygeco.bayes.priors import FLOAT
from pygeco.bayes.sampling import Sampling, sample_posterior
from pygeco.bayes.side_information import match_groups
from pygeco.bayes.timing import subtract_drift
from pygeco.engines import session
from pygeco.estimators._checkpoint import Checkpoint, StageKeeper
from pygeco.estimators._choices import limit_rank
from pygeco.estimators._fit_task import FitTask, Outcome
from pygeco.estimators._side_information import learn_known
from pygeco.losses import Loss, Squared
from pygeco.losses.weighted_squares import Weighing
from pygeco.models import build_model
from pygeco.models.slab_arrays import place_rows
from pygeco.objectives import Entries
from pygeco.objectives.entries.biases import Biases, fit_biases

MAX_ROUNDS = 4  # fits of the evidence under a robust loss, each to cells that are weighted anew


def fit_by_evidence(task: FitTask) -> Outcome:
    """The model of empirical Bayes, or, if asked for, of the mean of draws from its posterior."""
    began = time.perf_counter()
    settings, loss, offsets, info = task.settings, task.loss, task.choices.offsets, task.info
    entries, unit = even_weights(task.entries)
    limit = limit_rank(settings.rank, entries.shape)
    average, draws = None, 0
    task.listener.on_start(entries, limit)
    with session(entries):
        known = learn_known(settings, entries, info)
        found, sweeps, stop = settle_evidence(
            entries,
            loss,
            rank=limit,
            offsets=offsets,
            seed=task.seed,
            known=known,
            listener=task.listener,
            store=task.store,
        )
        cells = entries
        if loss.robust:
            cells, found = _weigh_last(entries, loss, offsets, found)
        entries = entries.with_loss(_settle_loss(entries, found))
        factors, biases = found.factors(), found.biases()
        if settings.posterior and stop is not Stop.CALLBACK:
            average, is_stopped = _draw_average(task, cells, found, known, limit)
            stop = Stop.CALLBACK if is_stopped else stop
        if average is not None:
            factors, draws = average.factors, average.sweeps
            biases = Biases(average.mean, average.row, average.col)
            factors, biases = splice_cold(factors, biases, found)
        drift = (average or found).drift
        rest = _leave_out_time(entries, drift, known, found.scale)
        path = _make_single_step(rest, factors, biases, began, sweeps, task.seed, stop)
        biases = biases if drift is None else drift.add_to_biases(biases, found.scale)
    task.listener.on_stop(stop)
    model = build_model(
        entries,
        factors,
        biases,
        loss=entries.loss,
        posterior=replace(found, weight_unit=unit),
        average=average,
        row_attributes=info.values[0],
        column_attributes=info.values[1],
        times=None if found.drift is None else info.dates.times,
        **task.choices._asdict(),
    )
    return Outcome(model, path, sweeps + draws, info.encoders, info.dates.column)


def _draw_average(
    task: FitTask, cells: Entries, found: Posterior, known: Known, limit: int
) -> Sampling:
    """The mean of as many draws as the settings ask for, and whether a listener stopped them."""
    most = None if task.settings.rank == "auto" else limit
    room = 2 * found.rank + 4
    return sample_posterior(
        cells,
        found,
        int(task.settings.posterior),
        rank=room if most is None else min(room, most),
        most=most,
        seed=task.seed,
        listener=task.listener,
        known=match_groups(found, known),
    )


def even_weights(entries: Entries) -> tuple[Entries, float]:
    """The cells with weights of about one, and what a given weight of one is among them.

    Only ratios can count: the evidence takes a cell of weight two for two that say the same to the
    last digit, and many of these for data without noise. So the weights sum to (Σ√w)² / Σw, Hill's
    number of order one half: that of the cells where they are equal. One next to zero adds nothing,
    and a single huge one leaves the others something to say.
    """
    w = entries.weights
    if w is None:
        return entries, 1.0
    top = float(w.max())
    share = w.astype(float) / top
    unit = float((np.sqrt(share).sum() / share.sum()) ** 2) / top
    return entries.scale_weights(unit), unit


class Rounds(NamedTuple):
    """The posterior after all rounds, the sweeps of all, and why the last one ended."""

    posterior: Posterior
    sweeps: int
    stop: Stop


def settle_evidence(
    entries: Entries,
    loss: Loss,
    *,
    rank: int,
    offsets: tuple[str, ...],
    seed: int,
    known: Known = NOTHING,
    listener: Listener | None = None,
    store: Checkpoint | None = None,
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
        listener = Listeners((StageKeeper(store), listener or Listeners(())))
    turns = MAX_ROUNDS if loss.robust else 1
    for turn in range(done, turns):
        cells = _weigh_cells(entries, loss, offsets, found)[0] if loss.robust else entries
        fit = fit_evidence(
            cells,
            rank=rank,
            offsets=offsets,
            seed=seed,
            listener=listener,
            start=place_rows(store.parts.get("stage") if store else None, entries),
            earlier_sweeps=sweeps,
            known=known if turn == turns - 1 else NOTHING,
        )
        found, sweeps = fit.posterior, fit.sweeps
        if fit.stop is Stop.CALLBACK:
            return Rounds(found, sweeps, fit.stop)
        if store:
            store.keep(found=found, sweeps=sweeps, rounds=turn + 1, stage=None)
    return Rounds(found, sweeps, reason_to_end(found, rank, entries.shape))


def _weigh_cells(
    entries: Entries, loss: Loss, offsets: tuple[str, ...], found: Posterior | None
) -> tuple[Entries, Weighing]:
    """See `Entries.reweigh`: about the model, or about the offsets where there is none yet."""
    if found is None:
        factors, biases = LowRank.zero(entries.shape, entries.kind), fit_biases(entries, offsets)
    else:
        factors, biases = found.factors(), found.biases()
    return entries.reweigh(factors, biases.mean + biases.row, biases.col, loss)


def _weigh_last(
    entries: Entries, loss: Loss, offsets: tuple[str, ...], found: Posterior
) -> tuple[Entries, Posterior]:
    """Weighted squares about the last posterior, which then knows of them and of wild cells."""
    cells, weighing = _weigh_cells(entries, loss, offsets, found)
    return cells, replace(found, weighing=weighing, tails=_measure_tails(entries, found))


def _settle_loss(entries: Entries, found: Posterior) -> Loss:
    """The loss with what the fit settled of it."""
    if found.likelihood is not None:
        return found.likelihood.loss
    return entries.loss if found.weighing is None else found.weighing.loss


def _measure_tails(entries: Entries, found: Posterior) -> float:
    """How much larger the mean squared error is than the noise of ordinary cells.

    What a new cell deviates by is not weighted: it may be a wild one.
    """
    data = entries.with_loss(Squared()).standardize(found.mean, found.scale, FLOAT)
    error = data.squared_error(found.rows, found.cols) / data.total_weight
    return max(1.0, found.tau * error)


def _leave_out_time(entries: Entries, drift: Drift | None, known: Known, scale: float) -> Entries:
    """The cells as the low-rank part sees them."""
    if drift is None or known.periods is None:
        return entries
    return subtract_drift(entries, drift, drift.match(known.periods), scale)


def _make_single_step(
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
    objective = entries if entries.squared else entries.shift(row, biases.col)
    certificate = certify(objective, A, G, pair, s=A.s)
    seconds = time.perf_counter() - began
    step = Step(A.rank, G.value, A, certificate, seconds, 2 * sweeps, "block", 0)
    return Path((step,), stop, seed, entries.shape)
