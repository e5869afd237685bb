"""The gradient of clicks: sparse, plus a low rank that stands for every cell."""

from __future__ import annotations

from dataclasses import dataclass

from pygeco.arrays.operators import Sum


@dataclass(frozen=True, eq=False)
class ClicksGradient(Sum):
    """G on the clicks plus H = 2α diag(ρ) A diag(κ) / Σ w everywhere."""

    value: float
    inner: float
