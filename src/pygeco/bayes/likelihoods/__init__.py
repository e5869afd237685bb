"""How each kind of cell is seen by the evidence: its likelihood as weighted squares."""

from __future__ import annotations

from pygeco.bayes.likelihoods.base import Likelihood
from pygeco.bayes.likelihoods.counts import Counts
from pygeco.bayes.likelihoods.labels import Labels
from pygeco.bayes.likelihoods.levels import Levels
from pygeco.losses import Logistic, Loss, Ordinal, Poisson


def has_likelihood(loss: Loss) -> bool:
    """Whether the evidence sees this loss by a likelihood."""
    return isinstance(loss, (Logistic, Ordinal, Poisson))


def choose_likelihood(loss: Loss) -> Likelihood:
    """The likelihood of a loss whose open parts are settled."""
    if isinstance(loss, Logistic):
        return Labels()
    if isinstance(loss, Ordinal):
        return Levels.of(loss)
    if isinstance(loss, Poisson):
        return Counts(cap=loss.top)
    raise ValueError(f"loss: the evidence has no likelihood for {loss.name!r}.")
