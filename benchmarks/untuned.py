"""The default fit, nothing tuned, beside ALS that is tuned on the test cells themselves.

Kinds of synthetic cells: few and many, even and skewed, stars, likes, counts, outliers, no signal
at all. The rival is cmfrec with offsets, at eight ranks and eight ridges each, and of these the one
with the lowest test error: no user could choose better. A ratio above 1 is what it costs to tune
nothing. Runs where cmfrec is installed, see `make bench-peers`. With `--pattern` the rival is the
same fit without the pattern of known cells, which says nothing here, and cmfrec is not needed.

.venv-peers/bin/python benchmarks/untuned.py [name …] [--seeds N] [--pattern]
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco import MatrixCompletion

RANKS = 1, 2, 3, 4, 6, 8, 12, 20
RIDGES = 0.1, 0.3, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0  # times the variance of the values
Array = NDArray[Any]


class Set(NamedTuple):
    """How cells are drawn. The signal has a standard deviation of one."""

    shape: tuple[int, int]
    cells: int
    rank: int = 4
    fall: float = 1.0  # each component's weight over that before it
    noise: float = 0.5
    skew: float = 0.0  # popularity of row or column k: (k + 10)^−skew
    biases: float = 0.0  # their standard deviation
    seen: Callable[[Array, np.random.Generator], Array] = lambda z, rng: z
    loss: str = "squared"


def stars(step: float) -> Callable[[Array, np.random.Generator], Array]:
    return lambda z, rng: np.clip(step * np.round((3.5 + z) / step), step, 5.0)


def outliers(z: Array, rng: np.random.Generator) -> Array:
    return np.where(rng.random(len(z)) < 0.03, 10 * rng.standard_normal(len(z)), z)


def counts(z: Array, rng: np.random.Generator) -> Array:
    return rng.poisson(np.exp(np.minimum(z, 3.0))).astype(float)


SETS = {
    "a full table": Set((200, 150), 30_000),
    "half a table": Set((400, 60), 12_000, 3),
    "few columns": Set((3_000, 12), 18_000, 2, biases=0.5),
    "few rows": Set((50, 5_000), 40_000, 3),
    "few cells": Set((300, 100), 5_000, 8, 0.7),
    "few cells a row": Set((800, 1_000), 20_000, 8, 0.7),
    "hardly any cells": Set((3_000, 3_000), 10_000, 3, biases=0.7),
    "half stars, skewed": Set((300, 200), 5_000, 4, 0.8, 0.7, 0.8, 0.5, stars(0.5)),
    "stars": Set((2_000, 1_000), 100_000, 8, 0.8, 0.8, 0.8, 0.5, stars(1.0)),
    "stars, very skewed": Set((5_000, 2_000), 100_000, 8, 0.8, 0.8, 1.3, 0.5, stars(1.0)),
    "likes": Set((1_000, 500), 50_000, 4, 0.8, 0.5, 0.5, 0.3, lambda z, rng: (z > 0) * 1.0),
    "counts": Set((1_000, 400), 60_000, 3, 0.8, 0.0, 0.5, 0.5, counts),
    "little noise": Set((1_000, 400), 60_000, 5, noise=0.05),
    "much noise": Set((1_000, 400), 60_000, 4, 0.8, noise=2.0),
    "no signal": Set((500, 400), 20_000, 0, noise=1.0),
    "biases alone": Set((1_000, 500), 30_000, 0, noise=1.0, biases=1.0),
    "rank 1": Set((1_000, 500), 30_000, 1),
    "rank 15": Set((1_000, 800), 200_000, 15, 0.9),
    "outliers": Set((1_000, 400), 60_000, seen=outliers),
    "outliers, huber": Set((1_000, 400), 60_000, seen=outliers, loss="huber"),
}
SPARSE = {
    "8 cells a row, skewed": Set((3_000, 3_000), 24_000, 4, 0.8, 0.7, 0.8, 0.5),
    "40 cells a row, skewed": Set((3_000, 3_000), 120_000, 4, 0.8, 0.7, 0.8, 0.5),
}


def drawn(given: Set, seed: int) -> tuple[Array, Array, Array, Array]:
    """Rows, columns, values, and which cells are for the test."""
    rng = np.random.default_rng(seed)
    (m, n), count = given.shape, given.cells
    popular = [-given.skew * np.log(np.arange(size) + 10.0) for size in (m, n)]
    # The largest of these keys are a sample without replacement, weighted by popularity.
    keys = popular[0][:, None] + popular[1] + rng.gumbel(size=(m, n))
    rows, cols = np.divmod(np.argpartition(keys.ravel(), -count)[-count:], n)
    weight = given.fall ** np.arange(given.rank)
    U, V = (rng.standard_normal((size, given.rank)) for size in (m, n))
    z = np.sum(U[rows] * weight * V[cols], axis=1) / max(float(np.linalg.norm(weight)), 1e-9)
    z += given.biases * (rng.standard_normal(m)[rows] + rng.standard_normal(n)[cols])
    values = given.seen(z + given.noise * rng.standard_normal(count), rng)
    return rows, cols, values, rng.random(count) < 0.15


def errors(given: Set, seed: int) -> tuple[float, float, float]:
    """The test error of the default, that of the best of the tuned, and the default's rank."""
    import pandas as pd
    from cmfrec import CMF

    rows, cols, values, test = drawn(given, seed)
    fitted = rows[~test], cols[~test], values[~test]
    default, rank = fit_default(given, seed)

    def error(predicted: Array) -> float:
        known = np.where(np.isfinite(predicted), predicted, fitted[2].mean())
        return float(np.sqrt(np.mean((known - values[test]) ** 2)))

    table = pd.DataFrame(dict(zip(("UserId", "ItemId", "Rating"), fitted, strict=True)))
    best = np.inf
    for rank in (k for k in RANKS if k <= min(given.shape)):
        for ridge in RIDGES:
            settings = {"k": rank, "lambda_": ridge * float(np.var(values)), "niter": 20}
            tuned = CMF(**settings, use_cg=False, verbose=False, random_state=1).fit(table)
            best = min(best, error(tuned.predict(rows[test], cols[test])))
    return default, best, rank


def fit_default(given: Set, seed: int, pattern: str | bool = "auto") -> tuple[float, float]:
    """The test error of the fit with nothing tuned, and its rank."""
    rows, cols, values, test = drawn(given, seed)
    model = MatrixCompletion(loss=given.loss, pattern=pattern, random_state=0)
    model.fit((rows[~test], cols[~test], values[~test], given.shape))
    rest = model.predict(rows[test], cols[test]) - values[test]
    return float(np.sqrt(np.mean(rest**2))), model.rank_


def compare_patterns(given: Set, seed: int) -> tuple[float, float, float]:
    """The test errors with the pattern, if the evidence keeps it, and without, and the rank."""
    error, rank = fit_default(given, seed)
    return error, fit_default(given, seed, pattern=False)[0], rank


def main() -> None:
    parser = argparse.ArgumentParser(description="The default fit beside a tuned one.")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--pattern", action="store_true", help="compare with pattern=False")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    sets = SETS | SPARSE if given.pattern else SETS
    rival = "without pattern" if given.pattern else "tuned"
    print(f"| | shape | cells | rank | untuned | {rival} | ratio |\n|" + " --- |" * 7)
    for name in given.names or sets:
        measure = compare_patterns if given.pattern else errors
        found = [measure(sets[name], seed) for seed in range(given.seeds)]
        default, other, rank = np.mean(found, axis=0)
        m, n = sets[name].shape
        print(
            f"| {name} | {m:,} × {n:,} | {sets[name].cells:,} | {rank:g} | {default:.4f} | "
            f"{other:.4f} | {default / other:.4f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
