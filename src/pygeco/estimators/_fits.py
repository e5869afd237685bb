"""The two ways in which MatrixCompletion is fitted: by the evidence, or along the solver's path."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from pygeco.certificates import Certificate
from pygeco.directions import Lanczos
from pygeco.engines import session
from pygeco.evidence import Posterior, Sweep, fit_evidence
from pygeco.factors import LowRank
from pygeco.objectives import Entries
from pygeco.objectives.biases import Biases, fit_biases
from pygeco.path import Path, Step, Stop
from pygeco.penalties import Penalty
from pygeco.sampling import Average, sample_posterior
from pygeco.solver import Observer, Solver, minimize

MOST = 200  # components that rank="auto" may reach
PATIENCE = 3  # ranks without a better validation error before rank="auto" stops


class Fitted(NamedTuple):
    """What a fit found."""

    factors: LowRank
    biases: Biases
    path: Path
    sweeps: int
    posterior: Posterior | None = None
    average: Average | None = None


def by_evidence(
    entries: Entries, rank: int | str, offsets: tuple[str, ...], posterior: int, seed: int
) -> Fitted:
    """Empirical Bayes; then, if asked for, draws from the posterior and their mean."""
    began = time.perf_counter()
    limit = min(MOST, *entries.shape) if rank == "auto" else _checked(rank, entries.shape)
    log: list[Sweep] = []
    average = None
    with session(entries):
        found = fit_evidence(entries, rank=limit, offsets=offsets, seed=seed, watch=log.append)
        scale = found.scale
        factors = found.factors()
        biases = Biases(
            found.mean,
            scale * found.rows.bias.astype(float),
            scale * found.cols.bias.astype(float),
        )
        if posterior:
            average = sample_posterior(
                entries, found, posterior, rank=2 * found.rank + 4, seed=seed
            )
            factors = average.factors
            biases = Biases(average.mean, average.row, average.col)
        path = _one_step(entries, factors, biases, began, len(log), seed)
    return Fitted(factors, biases, path, len(log) + posterior, found, average)


def _one_step(
    entries: Entries, A: LowRank, biases: Biases, began: float, sweeps: int, seed: int
) -> Path:
    """The fit as a path of one step, with its certificate for the mean squared error."""
    G = entries.shifted(biases.mean + biases.row, biases.col).gradient(A)
    pair = Lanczos()(G, np.random.default_rng([seed, A.rank]))
    certificate = Certificate(pair.sigma, pair.upper, G.inner, float(A.s.sum()), pair.confidence)
    seconds = time.perf_counter() - began
    step = Step(A.rank, G.value, A, certificate, seconds, 2 * sweeps, "block", 0)
    return Path((step,), Stop.EVIDENCE, seed, entries.shape)


def along_path(
    entries: Entries,
    rank: int | str,
    biases: Biases,
    offsets: tuple[str, ...],
    *,
    solver: Solver | None,
    penalty: Penalty | None,
    seed: Any,
    callback: Callable[[Step], object] | None,
    observer: Observer | None,
) -> Fitted:
    """Algorithm 1 on what the biases leave, up to the rank given or chosen by held-out cells."""
    if rank == "auto":
        chosen = _validated_rank(entries, offsets, solver, penalty, seed)
    else:
        chosen = _checked(rank, entries.shape)
    path = minimize(
        entries.shifted(biases.mean + biases.row, biases.col),
        chosen,
        solver,
        penalty=penalty,
        random_state=seed,
        callback=callback,
        observer=observer,
    )
    return Fitted(path.A.svd(), biases, path, len(path))


def _validated_rank(
    entries: Entries,
    offsets: tuple[str, ...],
    solver: Solver | None,
    penalty: Penalty | None,
    seed: Any,
) -> int:
    """The rank with the lowest loss on a tenth of the cells, held out; the rest is fitted."""
    rng = np.random.default_rng(0 if seed is None else seed)
    held = rng.random(entries.size) < 0.1
    if held.all() or not held.any():
        return 1
    fitted, test = entries.subset(~held), entries.subset(held)
    biases = fit_biases(fitted, offsets)
    row, col = biases.mean + biases.row, biases.col
    checked = test.shifted(row, col)
    losses: list[float] = []

    def watch(step: Step) -> bool:
        losses.append(checked.value(step.A))
        return len(losses) - 1 - int(np.argmin(losses)) >= PATIENCE

    minimize(
        fitted.shifted(row, col),
        min(MOST, *entries.shape),
        solver,
        penalty=penalty,
        random_state=seed,
        callback=watch,
    )
    return int(np.argmin(losses)) + 1 if losses else 1


def _checked(rank: int | str, shape: tuple[int, int]) -> int:
    whole = isinstance(rank, (int, np.integer)) and not isinstance(rank, bool)
    if not whole:
        raise ValueError(f"rank: expected an integer or 'auto', not {rank!r}.")
    if not 1 <= int(rank) <= min(shape):
        raise ValueError(f"rank: must be between 1 and min(m, n) = {min(shape)}, not {rank}.")
    return int(rank)
