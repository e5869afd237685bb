"""What a model file must hold of a posterior, of a mean of draws and of what time adds."""

from __future__ import annotations

from typing import Any

import numpy as np

from pygeco.arrays.low_rank import LowRank
from pygeco.bayes.average import Average, Draw
from pygeco.bayes.drift import Drift, PeriodOffsets
from pygeco.bayes.effects import Effect
from pygeco.bayes.likelihoods.base import Likelihood
from pygeco.bayes.periods import SIDES, Periods
from pygeco.bayes.posterior import Posterior
from pygeco.bayes.priors import Gaussian
from pygeco.io.model_checks import Check, Sizes, array, each, number, of, optional, parts
from pygeco.objectives.entries.half_sweep import Side


def low_rank(m: str, n: str, r: str) -> Check:
    return parts(LowRank, U=array("f", m, r), s=array("f", r), V=array("f", n, r))


def side(m: str, p: str) -> Check:
    return parts(
        Side,
        factor=array("f", m, p),
        bias=array("f", m),
        variance=array("f", m, p),
        bias_variance=array("f", m),
    )


def drawn(m: str) -> Check:
    """A side of a draw, which has no variances."""
    return parts(
        Side,
        factor=array("f", m, "q"),
        bias=array("f", m),
        variance=array("f", 0),
        bias_variance=array("f", 0),
    )


def gaussian(m: str, d: str) -> Check:
    effect = parts(
        Effect,
        name=of(str),
        source=of(str),
        coefficients=array("f", "F", d),
        weight=number(0),
        degrees=number(0),
        mean=array("f", "F"),
        doubt=array("f", "F", "draws"),
    )
    return parts(
        Gaussian,
        precision=array("f", d, d),
        center=array("f", d),
        some=array("b", m),
        effects=each(tuple, effect, "F", "draws"),
    )


def drift(name: str, value: Any, sizes: Sizes) -> None:
    """Offsets of pairs of line and period, which ascend, one part for each length of a period."""
    pair = {part: array("i", "pairs") for part in ("lines", "numbers")}
    pair |= {part: array("f", "pairs") for part in ("mean", "variance")}
    periods = parts(Periods, side=of(str), origin=number(), width=number(np.finfo(float).tiny))
    own = parts(PeriodOffsets, periods=periods, spread=number(0), **pair)
    parts(Drift, offsets=each(tuple, own, "pairs"), latest=number())(name, value, sizes)
    for part in value.offsets if sizes.thorough else ():
        lines, size = part.lines, sizes["m" if part.periods.side == "row" else "n"]
        if part.periods.side not in SIDES:
            raise ValueError(f"{name} has a side {part.periods.side!r}")
        if len(lines) and (lines.min() < 0 or lines.max() >= size):
            raise ValueError(f"{name} leads out of the matrix")


POSTERIOR = parts(
    Posterior,
    rows=side("m", "p"),
    cols=side("n", "p"),
    row_prior=gaussian("m", "row prior"),
    col_prior=gaussian("n", "column prior"),
    tau=number(0),
    mean=number(),
    scale=number(0),
    drift=optional(drift),
    likelihood=optional(of(Likelihood)),
    tails=number(0),
    weight_unit=number(0),
)
AVERAGE = parts(
    Average,
    factors=low_rank("m", "n", "average"),
    mean=number(),
    row=array("f", "m"),
    col=array("f", "n"),
    error=number(0),
    draws=each(tuple, parts(Draw, rows=drawn("m"), cols=drawn("n")), "q"),
    noise=number(0),
    scale=number(0),
    drift=optional(drift),
    likelihood=optional(of(Likelihood)),
    excess=number(0),
)
