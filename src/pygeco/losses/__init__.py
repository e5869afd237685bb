"""Losses: convex smooth functions of a prediction z and a target y, as array formulas.

A loss knows nothing of matrices, sparsity or devices. Its formulas use operators and the
functions of the array's own namespace, so that one source serves every engine. A loss of your own
needs `value` and `slope`; see `Custom`, or derive from `Loss`.
"""

from __future__ import annotations

from pygeco.arrays.low_rank import Array
from pygeco.losses.absolute import Absolute, Quantile
from pygeco.losses.base import Loss, check_size, robust_scale, sigmoid
from pygeco.losses.classification import Logistic, SmoothedHinge
from pygeco.losses.counts import Poisson
from pygeco.losses.custom import Custom, check_loss
from pygeco.losses.multinomial import Multinomial
from pygeco.losses.ordinal import Ordinal
from pygeco.losses.regression import Huber, LogCosh, PseudoHuber, Squared

LOSSES: dict[str, type[Loss]] = {
    kind.name: kind
    for kind in (
        Squared, Huber, PseudoHuber, LogCosh, Absolute, Quantile,
        Logistic, SmoothedHinge, Poisson, Ordinal,
    )
}  # fmt: skip

__all__ = [
    "LOSSES",
    "Absolute",
    "Custom",
    "Huber",
    "LogCosh",
    "Logistic",
    "Loss",
    "Multinomial",
    "Ordinal",
    "Poisson",
    "PseudoHuber",
    "Quantile",
    "SmoothedHinge",
    "Squared",
    "check_loss",
    "check_size",
    "find_loss",
    "prepare_loss",
    "robust_scale",
    "sigmoid",
]


def find_loss(loss: str | Loss) -> Loss:
    """Find a loss of one prediction by its name.

    Parameters
    ----------
    loss : str or Loss
        A name in `LOSSES`, or a loss object, which is returned as it is.

    Returns
    -------
    Loss

    Examples
    --------
    >>> from pygeco import losses
    >>> losses.find_loss("huber")
    Huber(delta=None)
    """
    if loss == "multinomial" or isinstance(loss, Multinomial):
        raise ValueError(
            "loss: 'multinomial' needs one prediction a class, which only Features makes; use "
            "'logistic' or 'ordinal' here."
        )
    if isinstance(loss, Loss):
        return loss
    if not isinstance(loss, str):
        raise ValueError(f"loss: expected a name or a pygeco.losses.Loss, not {loss!r}.")
    if loss not in LOSSES:
        raise ValueError(f"loss: unknown name {loss!r}; use one of {sorted(LOSSES)}.")
    return LOSSES[loss]()


def prepare_loss(loss: str | Loss, y: Array, weights: Array | None = None) -> tuple[Loss, Array]:
    """Estimate the scale or thresholds of a loss from `y`, and encode the targets for it.

    A loss that is not built in is first checked on these targets.

    Parameters
    ----------
    loss : str or Loss
        A name or an object, as `find_loss` takes it.
    y : array
        The targets.
    weights : array or None, default=None
        A target of weight w counts as w of them; none has weight zero.

    Returns
    -------
    tuple of Loss and array
        The loss with what it left open, and the targets as its formulas want them.
    """
    found = find_loss(loss)
    check_size("values", y, single=not isinstance(found, Squared))
    fitted = found.fitted(y, weights=weights)
    targets = fitted.targets(y)
    if type(fitted) not in LOSSES.values():
        check_loss(fitted, targets)
    return fitted, targets
