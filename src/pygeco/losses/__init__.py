"""Losses: convex smooth functions of a prediction z and a target y, as array formulas.

A loss knows nothing of matrices, sparsity or devices. Its formulas use operators and the
functions of the array's own namespace, so that one source serves every engine. A loss of your own
needs `value` and `slope`; see `Custom`, or derive from `Loss`.
"""

from __future__ import annotations

from pygeco.arrays.low_rank import Array
from pygeco.losses.base import Loss, check_size, robust_scale, sigmoid
from pygeco.losses.classification import Logistic, SmoothedHinge
from pygeco.losses.counts import Poisson
from pygeco.losses.custom import Custom, check
from pygeco.losses.multinomial import Multinomial
from pygeco.losses.ordinal import Ordinal
from pygeco.losses.regression import Absolute, Huber, LogCosh, PseudoHuber, Quantile, Squared

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
    "check",
    "check_size",
    "named",
    "prepared",
    "robust_scale",
    "sigmoid",
]


def named(loss: str | Loss) -> Loss:
    """The loss of one prediction called `loss`; a loss object is returned as it is."""
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


def prepared(loss: str | Loss, y: Array, weights: Array | None = None) -> tuple[Loss, Array]:
    """The loss with its scale or thresholds estimated from `y`, and the targets in its terms.

    A target of weight w counts as w of them; none has weight zero. A loss that is not one of
    pygeco's own is first tested at these targets.
    """
    found = named(loss)
    check_size("values", y, single=not isinstance(found, Squared))
    fitted = found.fitted(y, weights=weights)
    targets = fitted.targets(y)
    if type(fitted) not in LOSSES.values():
        check(fitted, targets)
    return fitted, targets
