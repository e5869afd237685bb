"""Passes over tall arrays on the cores of one machine, some rows a part; see `ColumnSteps`."""

from __future__ import annotations

import numpy as np

from pygeco.engines.cpu.memory import give_back, take_memory
from pygeco.engines.cpu.parallel import spread
from pygeco.engines.cpu.vectors import dot, fused


@spread("sums")
def weigh(b, R, S, scale, rows, sums):
    """Σ scale_i R_i S_i of some rows, number by number; where it has no rows, S is one."""
    columns = np.uint64(R.shape[1])
    for k in range(columns):
        sums[b, k] = 0.0
    for i in range(np.uint64(b * rows), np.uint64(min((b + 1) * rows, len(R)))):
        for k in range(columns):
            r = scale[i] * R[i, k]
            sums[b, k] += S[i, k] * r if len(S) else r


@spread("sums")
def moments(b, factor, bias, variance, bias_variance, some, less, guess, rows, sums):
    """Of some rows: how many, Σ w, Σ (x − guess), and half of Σ (x − guess)(x − guess)ᵀ."""
    s = np.uint64(factor.shape[1])
    d = s + np.uint64(1)
    x, total = take_memory(d, np.float64), sums[b]
    for k in range(len(total)):
        total[k] = 0.0
    for i in range(np.uint64(b * rows), np.uint64(min((b + 1) * rows, len(bias)))):
        if not some[i]:
            continue
        for k in range(s):
            x[k] = factor[i, k]
        x[s] = bias[i]
        if len(less):
            for k in range(d):
                x[k] -= less[i, k]
        total[0] += 1.0
        at = np.uint64(1)
        if len(bias_variance):
            for k in range(s):
                total[at + k] += variance[i, k]
            total[at + s] += bias_variance[i]
        at += d
        for k in range(d):
            x[k] -= guess[k]
            total[at + k] += x[k]
        at += d
        for k in range(d):
            for q in range(k + np.uint64(1)):
                total[at + q] = fused(x[k], x[q], total[at + q])
            at += d
    give_back(x)


@spread("sums")
def subtract_span(b, Q, weights, x, size, y, sums):
    """To y goes x − weights Q; to `sums`, if it has columns, its products with Q and itself."""
    first, last = np.uint64(b * size), np.uint64(min((b + 1) * size, len(x)))
    for i in range(first, last):
        y[i] = x[i]
    for j in range(np.uint64(len(weights))):
        for i in range(first, last):
            y[i] -= weights[j] * Q[j, i]
    if not sums.shape[1]:
        return
    at, count = b * size, min(size, len(x) - b * size)
    for j in range(len(Q)):
        sums[b, j] = dot(Q, j * len(x) + at, y, at, count)
    sums[b, len(Q)] = dot(y, at, y, at, count)


@spread("parts")
def reflect(b, draw, mean, old, back, rest, size, parts, out):
    """Out = mean − back (old − mean) + rest (draw − mean) in a part."""
    for i in range(np.uint64(b * size), np.uint64(min((b + 1) * size, len(out)))):
        out[i] = mean[i] - back * (old[i] - mean[i]) + rest * (draw[i] - mean[i])


@spread("parts")
def pad(b, X, Y, scale, rows, parts, lanes, out):
    """The rows of X, times `scale` where there is one, with zeros behind them up to out's width.

    Where Y has rows, its vectors of `lanes` numbers take turns with those of X.
    """
    columns, lanes = np.uint64(X.shape[1]), np.uint64(lanes)
    step = lanes + lanes if len(Y) else lanes
    for i in range(np.uint64(b * rows), np.uint64(min((b + 1) * rows, len(X)))):
        factor = scale[i] if len(scale) else X.dtype.type(1)
        first = np.uint64(0)
        for at in range(np.uint64(0), np.uint64(out.shape[1]), step):
            last = min(first + lanes, columns)
            here = at - first
            for k in range(first, last):
                out[i, here + k] = factor * X[i, k]
            for k in range(last, first + lanes):
                out[i, here + k] = 0
            if len(Y):
                here += lanes
                for k in range(first, last):
                    out[i, here + k] = Y[i, k]
                for k in range(last, first + lanes):
                    out[i, here + k] = 0
            first += lanes
