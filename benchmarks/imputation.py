"""Missing cells of tables, beside scikit-learn's IterativeImputer: error and seconds.

A fifth of the known cells is masked; the error is the root mean square in column deviations.
White wine and GSS are read from the folder `tables` in PYGECO_DATA, where they are there.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, SimpleImputer

from pygeco import LowRankImputer, MatrixCompletion

Table = NDArray[np.float64]
SHARE = 0.2  # of the known cells that are masked
FILES = {"white wine": ("winequality-white.csv", ";"), "GSS": ("GSS_2014_18var.csv", ",")}


def tables() -> Iterator[tuple[str, Table]]:
    for name, load in (
        ("breast cancer", load_breast_cancer),
        ("diabetes", load_diabetes),
        ("wine", load_wine),
    ):
        yield name, np.asarray(load().data, dtype=float)
    folder = Path(os.environ.get("PYGECO_DATA", "data")) / "tables"
    for name, (file, separator) in FILES.items():
        if (folder / file).is_file():
            yield name, np.genfromtxt(folder / file, delimiter=separator, skip_header=1)
        else:
            print(f"{name}: no {folder / file}, so it is left out")


def fill_by_evidence(Z: Table) -> Table:
    """The evidence for the cells of the standardized table."""
    mean, deviation = np.nanmean(Z, axis=0), np.nanstd(Z, axis=0)
    deviation[deviation == 0] = 1
    standard = (Z - mean) / deviation
    model = MatrixCompletion(random_state=0).fit(standard)
    return np.where(np.isnan(Z), model.predict(standard) * deviation + mean, Z)


WAYS: dict[str, Callable[[Table], Any]] = {
    "means": lambda Z: SimpleImputer().fit_transform(Z),
    "IterativeImputer": lambda Z: IterativeImputer(random_state=0).fit_transform(Z),
    "LowRankImputer": lambda Z: LowRankImputer(random_state=0).fit_transform(Z),
    "evidence": fill_by_evidence,
}


def mask(X: Table, seed: int) -> NDArray[np.bool_]:
    """The known cells that are hidden; columns without any known cell have none."""
    return ~np.isnan(X) & (np.random.default_rng([seed, 5]).random(X.shape) < SHARE)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=1)
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # IterativeImputer tells that it has not converged
    print(f"{'table':14}" + "".join(f"{way:>26}" for way in WAYS))
    for name, X in tables():
        X = X[:, ~np.isnan(X).all(axis=0)]
        spread = np.nanstd(X, axis=0)
        spread[spread == 0] = 1
        line = f"{name:14}"
        for fill in WAYS.values():
            errors, seconds = [], 0.0
            for seed in range(given.seeds):
                hidden = mask(X, seed)
                began = time.perf_counter()
                filled = fill(np.where(hidden, np.nan, X))
                seconds += time.perf_counter() - began
                errors.append(np.sqrt(np.mean((((filled - X) / spread)[hidden]) ** 2)))
            line += f"{np.mean(errors):15.4f} {seconds / given.seeds:8.2f} s"
        print(line, flush=True)


if __name__ == "__main__":
    main()
