"""Cores under a penalty that has no Hessian: argmin_B R(U B Vᵀ) + h(σ(B))."""

from __future__ import annotations

import numpy as np

from pygeco.algorithm.penalties import Penalty
from pygeco.arrays.low_rank import Array
from pygeco.arrays.newton import HALVINGS, NEWTON_STEPS, descend
from pygeco.objectives.base import Modeled, Smooth, Span

MAX_STEPS = 5000


def minimize_proximal(span: Span, B: Array, penalty: Penalty) -> tuple[Array, float]:
    """The core from a start, and the value there. Never rises.

    Where R has a quadratic model, proximal Newton: the model is minimized under the penalty, which
    costs no pass over the data, then a line search (Lee, Sun and Saunders 2014).
    """

    def h(B: Array) -> float:
        return penalty.value(np.linalg.svd(B, compute_uv=False))

    def objective(B: Array) -> float:
        return span.value(B) + h(B)

    if isinstance(span, Modeled):

        def newton(B: Array) -> tuple[Array, float]:
            model = span.model(B)
            step = accelerate_descent(model, B, penalty) - B
            return step, h(B) - h(B + step) - float(np.sum(model.slope(B) * step))

        return descend(objective, newton, B, NEWTON_STEPS)
    value, best = objective(B), accelerate_descent(span, B, penalty)
    found = objective(best)
    return (best, found) if found <= value else (B, value)


def accelerate_descent(span: Smooth, B: Array, penalty: Penalty) -> Array:
    """Accelerated proximal gradient with restarts (Nesterov; O'Donoghue and Candès)."""
    bend = max(span.lipschitz(), np.finfo(float).tiny)
    best, ahead, t = B, B, 1.0
    for _ in range(MAX_STEPS):
        new, bend = _step(span, ahead, penalty, bend)
        moved = float(np.linalg.norm(new - best))
        if np.sum((ahead - new) * (new - best)) > 0:
            t, ahead = 1.0, new
        else:
            later = (1 + np.sqrt(1 + 4 * t * t)) / 2
            ahead, t = new + (t - 1) / later * (new - best), later
        best = new
        if moved <= 1e-12 * max(float(np.linalg.norm(new)), np.finfo(float).tiny):
            break
    return best


def _step(span: Smooth, B: Array, penalty: Penalty, bend: float) -> tuple[Array, float]:
    """The proximal point of B − slope / bend, and the `bend` to begin the next step with.

    Where the curvature changes with B, `bend` grows until the parabola at B lies above R, as in
    Beck and Teboulle's method, and may fall again.
    """
    slope = span.slope(B)
    for _ in range(HALVINGS):
        P, s, Qt = np.linalg.svd(B - slope / bend, full_matrices=False)
        new = (P * penalty.prox(s, 1 / bend)) @ Qt
        if span.quadratic:
            return new, bend
        D, here = new - B, span.value(B)
        above = here + float(np.sum(slope * D)) + 0.5 * bend * float(np.sum(D * D))
        if span.value(new) <= above + 1e-12 * abs(here):
            break
        bend *= 2
    return new, 0.9 * bend
