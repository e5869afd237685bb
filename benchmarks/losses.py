"""What a Newton step of the core costs under each loss, against the squared loss, in one run.

    python benchmarks/losses.py [--cells 10000000] [--columns 10]

Synthetic float32 cells of a 100,000 × 10,000 matrix, spans of s columns that are not the true ones.

squared   the whole small problem from nothing: |E| s²/2 multiply-adds for the Grams, the Kronecker
          sum, one Cholesky of s² unknowns, and the value at the new core. The squared loss needs
          one such step.
others    one Newton step with its line search, from nothing: predictions, slope and curvature of
          every cell, the same Grams weighted by the curvature, the same sum and Cholesky, and one
          pass for the value at the new core (the step length one is what nearly every step takes).

Each figure is the best of several, taken in turn so that a busy machine is busy for all of them.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from threadpoolctl import threadpool_limits

from pygeco import Entries, LowRank, losses
from pygeco.data import make_low_rank

SHAPE = (100_000, 10_000)
BOUND = 3.0
HELD = ("poisson", "logistic", "quantile")


def problems(count: int, columns: int) -> tuple[dict[str, Entries], LowRank]:
    """Entries under each loss with targets of its kind, and where the step is taken."""
    rng = np.random.default_rng(0)
    m, n = SHAPE
    keys = np.unique(rng.integers(0, m * n, int(1.02 * count) + 100))
    keys = np.sort(rng.permutation(keys)[:count])
    rows, cols = (keys // n).astype(np.int32), (keys % n).astype(np.int32)
    truth = make_low_rank(SHAPE, columns, random_state=1)
    z = truth.entries(rows, cols)
    noisy = (z + 0.5 * rng.standard_normal(count)).astype(np.float32)
    labels = np.where(z + rng.logistic(size=count) > 0, 1, -1).astype(np.float32)
    stars = np.clip(np.round(noisy + 3), 1, 5)
    counts = rng.poisson(np.exp(z)).astype(np.float32)
    targets = {"logistic": labels, "smoothed-hinge": labels, "poisson": counts, "ordinal": stars}
    found = {}
    for name in losses.LOSSES:
        y = targets.get(name, noisy)
        found[name] = Entries(rows, cols, y, SHAPE, loss=name)
    near = [np.linalg.qr(F + 0.3 * rng.standard_normal(F.shape) / np.sqrt(len(F)))[0]
            for F in (truth.U, truth.V)]  # fmt: skip
    return found, LowRank(near[0], 0.5 * truth.s, near[1])


def seconds(entries: Entries, at: LowRank) -> float:
    began = time.perf_counter()
    span, B = entries.span(at), np.diag(at.s)
    step = span.newton(B, 0.0)
    span.value(B + step)
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, default=10_000_000)
    parser.add_argument("--columns", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    found, at = problems(given.cells, given.columns)
    best = dict.fromkeys(found, np.inf)
    with threadpool_limits(1, "blas"):  # as in `minimize`
        for entries in found.values():
            seconds(entries, at)
        for _ in range(given.rounds):
            for name, entries in found.items():
                best[name] = min(best[name], seconds(entries, at))
    print(f"{given.cells:,} cells, {SHAPE[0]:,} × {SHAPE[1]:,}, float32, s = {given.columns}")
    print("loss            seconds  ratio to squared")
    for name, taken in best.items():
        ratio = taken / best["squared"]
        verdict = ("  ≤ 3: yes" if ratio <= BOUND else "  ≤ 3: NO") if name in HELD else ""
        print(f"{name:15s} {taken:7.3f}  {ratio:5.2f}{verdict}")


if __name__ == "__main__":
    main()
