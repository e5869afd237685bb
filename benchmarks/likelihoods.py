"""Labels, levels and counts by the evidence, nothing tuned, beside squares and tuned penalties.

Seconds are of the processor. Labels and levels are those of MovieLens-100K (ua) and, by name,
MovieLens-1M; counts are simulated, and how often each film of MovieLens-1M was rated by people of
each occupation. The rival of counts is a trace norm at the weight that errs least on the test cells
themselves. PYGECO_DATA says where the files are.

python benchmarks/likelihoods.py [labels] [levels] [counts] [intervals] [levels-1m]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.metrics import log_loss, roc_auc_score

from pygeco import MatrixCompletion, Trace
from pygeco.data import load_movielens, load_movielens_attributes

Array = NDArray[Any]
WEIGHTS = 1e-4, 3e-4, 1e-3, 3e-3, 1e-2


class Split(NamedTuple):
    """Cells to fit, as MatrixCompletion takes them, and cells to judge by."""

    fitted: tuple[Array, Array, Array, tuple[int, int]]
    rows: Array
    cols: Array
    values: Array


class Fit(NamedTuple):
    model: MatrixCompletion
    seconds: float


def fit(split: Split, **settings: Any) -> Fit:
    began = time.process_time()
    model = MatrixCompletion(random_state=0, **settings).fit(split.fitted)
    return Fit(model, time.process_time() - began)


def take_movielens(name: str, part: str | None) -> Split:
    """The published split, or each cell held out with probability 0.1."""
    data = load_movielens(name, part, download=False)
    rows, cols, y = data.rows, data.cols, data.values.astype(float)
    test = data.test if part else np.random.default_rng(0).random(len(y)) < 0.1
    cells = rows[~test], cols[~test], y[~test], data.shape
    return Split(cells, rows[test], cols[test], y[test])


def measure_calibration(chance: Array, label: Array, bins: int = 10) -> float:
    """The expected calibration error: |mean chance − share of ones|, over bins of equal width.

    Each bin counts by its cells.
    """
    at = np.minimum((chance * bins).astype(int), bins - 1)
    parts = [at == k for k in range(bins) if np.any(at == k)]
    return sum(abs(chance[p].mean() - label[p].mean()) * p.mean() for p in parts)


def measure_chance_error(chance: Array, draws: int = 200) -> float:
    """The mean calibration error of labels drawn by these chances: what luck leaves."""
    rng = np.random.default_rng(0)
    return float(
        np.mean(
            [measure_calibration(chance, rng.random(len(chance)) < chance) for _ in range(draws)]
        )
    )


def judge_labels(part: str) -> None:
    split = take_movielens("ml-100k", part)
    liked = split.values >= 4
    rows, cols, y, shape = split.fitted
    labels = split._replace(fitted=(rows, cols, (y >= 4).astype(float), shape))
    fit(split)  # kernels are compiled
    plain = fit(split)
    for name, settings in (("labels", {}), ("posterior=30", {"posterior": 30})):
        model, seconds = fit(labels, loss="logistic", **settings)
        chance = model.predict_proba(split.rows, split.cols)[:, 1]
        error, area = log_loss(liked, chance), roc_auc_score(liked, chance)
        print(
            f"labels {part}  {name:14} log-loss {error:.4f}  AUC {area:.4f}  calibration "
            f"{measure_calibration(chance, liked):.4f} (by luck {measure_chance_error(chance):.4f})"
            f"  {seconds:.1f} s, {seconds / plain.seconds:.1f} × squares"
        )


def judge_levels(split: Split, **settings: Any) -> None:
    y, at = split.values, (split.rows, split.cols)
    index = np.arange(len(y)), y.astype(int) - 1
    for loss in ("squared", "ordinal"):
        model, seconds = fit(split, loss=loss, **settings)
        mean, deviation = model.predict(*at, return_std=True)
        if loss == "squared":
            ends = np.array([-np.inf, 1.5, 2.5, 3.5, 4.5, np.inf])
            chance = np.diff(norm.cdf((ends - mean[:, None]) / deviation[:, None]))
            middle = np.rint(mean)
        else:
            chance = model.predict_proba(*at)
            middle = 1.0 + (np.cumsum(chance, axis=1) < 0.5).sum(axis=1)
        print(
            f"levels  {loss:14} RMSE {np.sqrt(np.mean((mean - y) ** 2)):.4f}  |median − y| "
            f"{np.abs(middle - y).mean():.4f}  −log p {-np.log(chance[index]).mean():.4f}"
            f"  {seconds:.1f} s  {settings or ''}"
        )


def measure_deviance(y: Array, rate: Array) -> float:
    part = np.where(y > 0, y * np.log(np.where(y > 0, y, 1) / rate), 0)
    return 2 * float(np.mean(part - y + rate))


def split_table(Y: Array, share: float) -> Split:
    place = np.random.default_rng(1).random(Y.shape)
    known, held = place < share, place > 0.8
    return Split((*np.nonzero(known), Y[known].astype(float), Y.shape), *np.nonzero(held), Y[held])


def simulate_counts(mean: float, shape: float) -> Array:
    """Counts about a matrix of rank 4, with a gamma factor of this shape each."""
    rng = np.random.default_rng(0)
    Z = 0.3 * rng.standard_normal((400, 4)) @ rng.standard_normal((4, 200))
    Z += 0.5 * rng.standard_normal((400, 1)) + 0.5 * rng.standard_normal(200) + np.log(mean)
    return rng.poisson(np.exp(Z) * rng.gamma(shape, 1 / shape, Z.shape))


def count_occupations() -> Array:
    """How often each film of MovieLens-1M was rated by people of each occupation."""
    data, known = load_movielens("ml-1m", download=False), load_movielens_attributes("ml-1m")
    assert known.users is not None
    place = np.searchsorted(known.users["user_id"], data.users)
    names, code = np.unique(known.users["occupation"][place], return_inverse=True)
    out = np.zeros((data.shape[1], len(names)))
    np.add.at(out, (data.cols, code[data.rows]), 1)
    return out


def judge_rates(split: Split, **settings: Any) -> tuple[float, float]:
    """The mean deviance of predicted counts, and seconds."""
    model, seconds = fit(split, loss="poisson", **settings)
    rate = model.predict(split.rows, split.cols)
    return measure_deviance(split.values, np.maximum(rate, 1e-9)), seconds


def judge_counts() -> None:
    tables = {
        f"mean {mean:g}, shape {shape:g}": simulate_counts(mean, shape)
        for mean in (0.3, 1.0, 10.0)
        for shape in (2.0, 1e6)
    }
    for name, Y in {**tables, "films × occupations": count_occupations()}.items():
        split = split_table(Y, 0.3 if name in tables else 0.8)
        own, seconds = judge_rates(split)
        tuned = min(judge_rates(split, penalty=Trace(w), biases=True)[0] for w in WEIGHTS)
        print(f"counts  {name:22} deviance {own:.4f}, tuned {tuned:.4f}  {seconds:.1f} s")


def judge_intervals() -> None:
    size = 300, 200
    noises: dict[str, Callable[[np.random.Generator], Array]] = {
        "gaussian": lambda rng: rng.standard_normal(size),
        "laplace": lambda rng: rng.laplace(size=size),
        "student, 3": lambda rng: rng.standard_t(3, size),
        "uniform": lambda rng: rng.uniform(-2, 2, size),
        "exponential": lambda rng: rng.exponential(size=size),
        "two bumps": lambda rng: rng.choice([-1.0, 1.0], size) + 0.2 * rng.standard_normal(size),
    }
    for name, draw in noises.items():
        rng = np.random.default_rng(0)
        Y = rng.standard_normal((size[0], 3)) @ rng.standard_normal((3, size[1])) + draw(rng)
        split = split_table(Y, 0.4)
        for loss in ("squared", "huber"):
            model, _ = fit(split, loss=loss, pattern=False)
            low, high = model.predict_interval(split.rows, split.cols, 0.9)
            share = np.mean((low <= split.values) & (split.values <= high))
            print(f"intervals of 90 %  {name:12} {loss:8} hold {100 * share:.1f} %")


def main() -> None:
    asked = sys.argv[1:] or ["labels", "levels", "counts", "intervals"]
    if "labels" in asked:
        for part in ("ua", "ub", "u1"):
            judge_labels(part)
    if "levels" in asked:
        judge_levels(take_movielens("ml-100k", "ua"))
    if "counts" in asked:
        judge_counts()
    if "intervals" in asked:
        judge_intervals()
    if "levels-1m" in asked:
        judge_levels(take_movielens("ml-1m", None), posterior=30)


if __name__ == "__main__":
    main()
