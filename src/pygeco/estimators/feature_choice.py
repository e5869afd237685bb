"""Which ridge and rank held-out samples chose, and how they are asked."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy  # scipy.sparse is imported when used
from numpy.typing import NDArray

from pygeco.arrays.low_rank import Array
from pygeco.arrays.short_repr import show_fields
from pygeco.arrays.streams import Purpose, stream
from pygeco.io.tables import pyarrow
from pygeco.losses import Loss

Places = NDArray[np.integer[Any]]

FOLDS = 5
DECADES = 9  # of alpha: from far more than the data bend the loss to where it hardly counts
PATIENCE = 2  # weaker ridges without gain, after which still weaker ones are not tried
MAX_RANK = 20  # that is tried: of more the ridge makes the same
NOISE = 1.0  # standard errors: a loss above the least by fewer may be as good
ROUGH = 1e-6  # of the objective, by which a descent may end: held-out losses are noisier by far


class FeatureTrial(NamedTuple):
    """A ridge and a rank that held-out samples judged.

    Attributes
    ----------
    alpha : float
        The ridge.
    rank : int
        The highest rank.
    loss : float
        The mean loss at the held-out samples.
    error : float
        The standard error of its difference from the least loss of any trial.
    """

    alpha: float
    rank: int
    loss: float
    error: float


class FeatureChoice(NamedTuple):
    """The ridge and the rank that held-out samples chose, and all trials.

    Attributes
    ----------
    alpha : float
        The ridge.
    rank : int
        The highest rank.
    trials : tuple of FeatureTrial
        From the strongest ridge to the weakest, and each from the lowest rank to the highest.
    """

    alpha: float
    rank: int
    trials: tuple[FeatureTrial, ...]

    @classmethod
    def of(cls, trials: Sequence[FeatureTrial]) -> FeatureChoice:
        """The ridge of the least loss at the lowest rank that may be as good as any other."""
        least = min(trial.loss for trial in trials)
        # As good but for noise. Stronger ridges that may be as good are not: they cost far more.
        good = [t for t in trials if t.loss <= least + NOISE * t.error]
        rank = min(trial.rank for trial in good)
        best = min((t for t in good if t.rank == rank), key=lambda t: (t.loss, -t.alpha))
        return cls(best.alpha, rank, tuple(trials))

    def __repr__(self) -> str:
        return show_fields(self)

    def to_pandas(self) -> Any:
        """Return the trials as a table.

        Returns
        -------
        pandas.DataFrame
            With the columns alpha, rank, loss and error.
        """
        names = FeatureTrial._fields
        return pyarrow().table({n: [getattr(t, n) for t in self.trials] for n in names}).to_pandas()


class Fold(Protocol):
    """The fits to all samples but those that are held out, by one ridge after the other."""

    def predict(self, alpha: float) -> list[Array]:
        """What each rank predicts of the samples held out, (n, K), by this ridge."""


class Question(NamedTuple):
    """What is to be judged: ridges, strongest first, and ranks, by a loss of coded targets.

    `fold` takes the places of the samples that are fitted and of those held out, and the ranks.
    """

    alphas: Array
    ranks: range
    loss: Loss
    targets: Array
    weights: Array | None
    fold: Callable[[Places, Places, range], Fold]


def list_alphas(bend: float) -> Array:
    """Ridges from ten times half of `bend`, the trace of the loss' second derivative, down."""
    top = 5 * bend if 0 < bend < np.inf else 1.0
    return top * 10.0 ** -np.arange(DECADES + 1.0)


def split_samples(X: Any, labels: Places | None, seed: int) -> Places:
    """The fold of each sample, each class spread over all folds; −1 for one never held out.

    A sample given twice is one of weight two: both are held out together. The only one of its
    class is fitted always.
    """
    rng = stream(Purpose.HELD_SAMPLES, seed)
    x = rng.uniform(0.5, 1.5, X.shape[1])
    # Samples that are equal have equal sums; products with a matrix may round them otherwise.
    keys = X @ x if scipy.sparse.issparse(X) else (X * x).sum(axis=1)
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    label = np.zeros(len(first), dtype=int) if labels is None else labels[first]
    order = np.lexsort((rng.random(len(first)), label))
    order = order[np.bincount(label)[label[order]] > 1]
    folds = np.full(len(first), -1)
    folds[order] = np.arange(len(order)) % FOLDS
    if not len(order):
        raise ValueError(
            "X: 'auto' holds samples out, for which at least two different ones "
            f"{'' if labels is None else 'of a class '}are needed; give alpha and rank as numbers."
        )
    return folds[place]


def judge(question: Question, folds: Places) -> list[FeatureTrial]:
    """The mean loss at all held-out samples by each ridge that all folds tried and each rank."""
    losses, shares = [], []
    for k in range(folds.max() + 1):
        rest, held = np.flatnonzero(folds != k), np.flatnonzero(folds == k)
        w = np.ones(len(held)) if question.weights is None else question.weights[held]
        losses.append(list(_judge_fold(question, rest, held, w / w.sum())))
        shares.append(w.sum())
    count = min(len(found) for found in losses)
    each = np.array([found[:count] for found in losses])
    means = np.average(each, axis=0, weights=shares)
    flat = each.reshape(len(each), -1)
    with np.errstate(invalid="ignore"):  # of losses that are infinite
        apart = flat - flat[:, [int(np.argmin(means))]]
        errors = np.nan_to_num(apart.std(axis=0, ddof=1) / np.sqrt(len(each)))
    every = itertools.product(question.alphas[:count].tolist(), question.ranks)
    found = zip(every, means.flat, errors, strict=True)
    return [FeatureTrial(*at, float(loss), float(error)) for at, loss, error in found]


def _judge_fold(question: Question, rest: Places, held: Places, w: Array) -> Iterator[Array]:
    """The mean loss by each rank, for one ridge after the other while weaker ones may gain."""
    fold, y = question.fold(rest, held, question.ranks), question.targets[held]
    best, waited = np.inf, 0
    for alpha in question.alphas:
        with np.errstate(over="ignore", invalid="ignore"):
            values = [question.loss.value(z, y) for z in fold.predict(float(alpha))]
            losses = np.array([w @ value.reshape(len(w), -1).sum(axis=1) for value in values])
        losses[np.isnan(losses)] = np.inf
        yield losses
        best, waited = (losses.min(), 0) if losses.min() < best else (best, waited + 1)
        if waited == PATIENCE:
            return
