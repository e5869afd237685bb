"""Missing cells of real tables, beside scikit-learn's imputers and a forest: error and seconds.

A fifth of the known cells is masked. Numbers are judged by the root mean square in column
deviations, categories by the share that is right, intervals by how many cells lie in them.
White wine and GSS are read from the folder `tables` in PYGECO_DATA, MovieLens-1M from `ml-1m`,
where they are there. `--arrays` gives arrays of numbers, `--gss` the eight columns of gcimpute's
tutorial with a tenth of the cells masked, judged by absolute errors beside those of the medians.
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
import pandas as pd
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer

from pygeco import LowRankImputer, MatrixCompletion

SHARE = 0.2  # of the known cells that are masked
COVERAGE = 0.9  # of intervals
NEAR = 0.02  # of the best, for a table to count as one on which nothing is better
GSS_COLUMNS = ["AGE", "DEGREE", "RINCOME", "CLASS_", "SATJOB", "WEEKSWRK", "HAPPY", "HEALTH"]
DATA = Path(os.environ.get("PYGECO_DATA", "data"))


def with_class(load: Callable[..., Any]) -> pd.DataFrame:
    data = load(as_frame=True)
    names = np.asarray(data.target_names).astype(str)
    return data.data.assign(kind=pd.Categorical(names[data.target]))


def read_diabetes() -> pd.DataFrame:
    data = datasets.load_diabetes(as_frame=True, scaled=False)
    return data.data.assign(sex=data.data["sex"] == 2, progression=data.target)


def read_gss() -> pd.DataFrame:
    return pd.read_csv(DATA / "tables" / "GSS_2014_18var.csv", index_col=0)


def read_movielens(name: str, columns: list[str]) -> pd.DataFrame:
    path, sep = DATA / "ml-1m" / f"{name}.dat", "::"
    return pd.read_csv(path, sep=sep, engine="python", names=columns, encoding="latin1")


def read_users() -> pd.DataFrame:
    users = read_movielens("users", ["id", "sex", "age", "occupation", "zip"]).set_index("id")
    own = read_movielens("ratings", ["user", "item", "rating", "time"]).groupby("user")
    return users.assign(
        sex=users["sex"].astype("category"),
        occupation=users["occupation"].astype("str").astype("category"),
        ratings=own.size(),
        mean=own["rating"].mean(),
        deviation=own["rating"].std(),
        days=(own["time"].max() - own["time"].min()) / 86_400,
    ).drop(columns="zip")


def read_movies() -> pd.DataFrame:
    movies = read_movielens("movies", ["id", "title", "genres"]).set_index("id")
    own = read_movielens("ratings", ["user", "item", "rating", "time"]).groupby("item")
    year = movies["title"].str.extract(r"\((\d{4})\)\s*$")[0].astype(float)
    table = pd.DataFrame({"year": year, "ratings": own.size(), "mean": own["rating"].mean()})
    genres = movies["genres"].str.get_dummies("|").astype(bool)
    return table.reindex(movies.index).join(genres)


def read_tastes() -> pd.DataFrame:
    """The mean rating that a user gave to the movies of each genre, beside sex and age."""
    users = read_movielens("users", ["id", "sex", "age", "occupation", "zip"]).set_index("id")
    ratings = read_movielens("ratings", ["user", "item", "rating", "time"])
    movies = read_movielens("movies", ["item", "title", "genres"])
    genres = movies.assign(genre=movies["genres"].str.split("|")).explode("genre")
    cells = ratings.merge(genres[["item", "genre"]], on="item")
    means = cells.pivot_table("rating", "user", "genre", aggfunc="mean")
    return means.assign(sex=users["sex"].astype("category"), age=users["age"])


TABLES: dict[str, Callable[[], pd.DataFrame]] = {
    "iris": lambda: with_class(datasets.load_iris),
    "wine": lambda: with_class(datasets.load_wine),
    "breast cancer": lambda: with_class(datasets.load_breast_cancer),
    "diabetes": read_diabetes,
    "linnerud": lambda: datasets.load_linnerud(as_frame=True).frame,
    "digits": lambda: with_class(datasets.load_digits),
    "white wine": lambda: pd.read_csv(DATA / "tables" / "winequality-white.csv", sep=";"),
    "GSS": read_gss,
    "users": read_users,
    "movies": read_movies,
    "tastes": read_tastes,
}
MOST_ROWS = {"digits": 500, "users": 2_000, "movies": 2_000, "tastes": 1_000}  # forests take long


def read_tables(wanted: list[str]) -> Iterator[tuple[str, pd.DataFrame]]:
    for name in wanted:
        try:
            table = TABLES[name]().reset_index(drop=True)
        except FileNotFoundError as error:
            print(f"{name}: no {error.filename}, so it is left out")
            continue
        if name in MOST_ROWS:
            table = table.sample(MOST_ROWS[name], random_state=0).reset_index(drop=True)
        yield name, table


def is_category(column: pd.Series) -> bool:
    return column.dtype == "category" or column.dtype == bool


def hide(table: pd.DataFrame, hidden: NDArray[np.bool_]) -> pd.DataFrame:
    """The table without the hidden cells; truths become categories, whole numbers floats."""
    out = {}
    for k, name in enumerate(table):
        column = table[name]
        kind = "category" if is_category(column) else "float"
        out[name] = column.astype(kind).mask(hidden[:, k])
    return pd.DataFrame(out)


def encode(table: pd.DataFrame) -> NDArray[np.float64]:
    """Standardized numbers, and of categories one column each but the first."""
    parts = []
    for name in table:
        column = table[name]
        if is_category(column):
            part = pd.get_dummies(column, dtype=float).to_numpy()[:, 1:].copy()
            part[column.isna()] = np.nan
        else:
            part = column.to_numpy(float)[:, None]
        parts.append(part)
    return np.hstack(parts)


def decode(table: pd.DataFrame, X: NDArray[np.float64]) -> pd.DataFrame:
    out, at = {}, 0
    for name in table:
        if is_category(table[name]):
            names = table[name].cat.categories
            part = X[:, at : at + len(names) - 1]
            at += len(names) - 1
            chances = np.column_stack([1 - part.sum(axis=1), part])
            out[name] = names.to_numpy()[chances.argmax(axis=1)]
        else:
            out[name] = X[:, at]
            at += 1
    return pd.DataFrame(out)


def by_numbers(imputer: Any) -> Callable[[pd.DataFrame], pd.DataFrame]:
    def fill(table: pd.DataFrame) -> pd.DataFrame:
        X = encode(table)
        mean, deviation = np.nanmean(X, axis=0), np.nanstd(X, axis=0)
        deviation[deviation == 0] = 1
        filled = imputer.fit_transform((X - mean) / deviation)
        return decode(table, filled * deviation + mean)

    return fill


def fill_by_forest(table: pd.DataFrame, trees: int = 50, rounds: int = 2) -> pd.DataFrame:
    """Each column from all others by a forest, in turn (Stekhoven and Bühlmann 2012)."""
    categories = {
        k: table[name].cat.categories for k, name in enumerate(table) if is_category(table[name])
    }
    missing = table.isna().to_numpy()
    X = np.empty(table.shape)
    for k, name in enumerate(table):
        x = table[name].cat.codes.to_numpy(float) if k in categories else table[name].to_numpy()
        known = x[~missing[:, k]]
        start = np.bincount(known.astype(int)).argmax() if k in categories else known.mean()
        X[:, k] = np.where(missing[:, k], start, x)
    for _ in range(rounds):
        for k in np.argsort(missing.sum(axis=0)):
            gap, others = missing[:, k], np.delete(X, k, axis=1)
            if gap.any():
                kind = RandomForestClassifier if k in categories else RandomForestRegressor
                share = "sqrt" if k in categories else 1 / 3
                forest = kind(trees, max_features=share, random_state=0)
                X[gap, k] = forest.fit(others[~gap], X[~gap, k]).predict(others[gap])
    cells = {name: X[:, k] for k, name in enumerate(table)}
    for k, names in categories.items():
        cells[table.columns[k]] = names.to_numpy()[X[:, k].astype(int)]
    return pd.DataFrame(cells)


def fill_simply(table: pd.DataFrame) -> pd.DataFrame:
    found = {c: table[c].mode()[0] if is_category(table[c]) else table[c].mean() for c in table}
    return pd.DataFrame({name: table[name].fillna(found[name]) for name in table})


WAYS: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "means": fill_simply,
    "KNNImputer": by_numbers(KNNImputer()),
    "IterativeImputer": by_numbers(IterativeImputer(random_state=0)),
    "forest": fill_by_forest,
    "LowRankImputer": lambda table: LowRankImputer(fill="mean", random_state=0).fit_transform(
        table
    ),
}


def judge(
    table: pd.DataFrame, filled: pd.DataFrame, hidden: NDArray[np.bool_]
) -> tuple[float, float]:
    """The root mean square of numbers in deviations, and the share of categories that are right."""
    squares, right = [], []
    for k, name in enumerate(table):
        true, found = table[name][hidden[:, k]], filled[name][hidden[:, k]]
        if is_category(table[name]):
            right.append(true.astype(str).to_numpy() == found.astype(str).to_numpy())
        else:
            error = found.to_numpy(float) - true.to_numpy(float)
            squares.append((error / (table[name].std(ddof=0) or 1)) ** 2)
    rms = float(np.sqrt(np.mean(np.concatenate(squares)))) if squares else np.nan
    return rms, float(np.mean(np.concatenate(right))) if right else np.nan


def measure_coverage(table: pd.DataFrame, hidden: NDArray[np.bool_]) -> tuple[float, float]:
    """The share of hidden numbers and levels that lie in their intervals of 90 %.

    And the same with randomized ends: an interval of whole numbers ends at values that cells have,
    so the narrowest one with at least 90 % has more. Its less probable end counts with the
    probability that makes it 90 % as the model has it; a model that is right then covers 90 %.
    """
    seen = hide(table, hidden)
    model = LowRankImputer(random_state=0).fit(seen)
    ends = model.impute_interval(seen, COVERAGE)
    inside = []
    for k, (name, field) in enumerate(zip(table, model.fields_, strict=True)):
        if field.kind in ("number", "positive", "heavy", "count", "levels"):
            x, low, high = (own[name].to_numpy(float)[hidden[:, k]] for own in (table, *ends))
            plain = ((low <= x) & (x <= high)).astype(float)
            fair = plain
            if len(field.values):
                chances = model.impute_proba(seen, name)[hidden[:, k]]
                fair = plain - count_excess(chances, field.values, x, low, high)
            inside.append(np.stack([plain, fair]))
    return tuple(np.hstack(inside).mean(axis=1)) if inside else (np.nan, np.nan)


def count_excess(
    chances: NDArray[np.float64], values: NDArray[np.float64], x: Any, low: Any, high: Any
) -> NDArray[np.float64]:
    """How much of each cell at its interval's less probable end is more than was asked for."""
    is_in = (low[:, None] <= values) & (values <= high[:, None])
    ends = [np.where(values == end[:, None], chances, 0).sum(axis=1) for end in (low, high)]
    least = np.where(ends[0] <= ends[1], low, high)
    more = np.where(is_in, chances, 0).sum(axis=1) - COVERAGE
    return np.where(x == least, more / np.minimum(*ends), 0)


def mask(known: NDArray[np.bool_], seed: int, share: float = SHARE) -> NDArray[np.bool_]:
    return known & (np.random.default_rng([seed, 5]).random(known.shape) < share)


def compare_tables(wanted: list[str], seeds: int, names: list[str]) -> None:
    ways = {name: WAYS[name] for name in names}
    heads = f"{'forest/own':>12}{'90 %':>9}{'fair ends':>10}"
    first = TABLES["iris"]()
    for fill in ways.values():  # what is imported or compiled first is nobody's seconds
        fill(hide(first, mask(first.notna().to_numpy(), 0)))
    print(f"{'table':14}{'size':>12}" + "".join(f"{way:>27}" for way in ways) + heads)
    near, count = 0, 0
    for name, table in read_tables(wanted):
        found = {way: np.zeros((seeds, 3)) for way in ways}
        covered = []
        for seed in range(seeds):
            hidden = mask(table.notna().to_numpy(), seed)
            seen = hide(table, hidden)
            for way, fill in ways.items():
                began = time.process_time()
                filled = fill(seen)
                seconds = time.process_time() - began
                found[way][seed] = *judge(table, filled, hidden), seconds
            covered.append(measure_coverage(table, hidden))
        means = {way: rows.mean(axis=0) for way, rows in found.items()}
        best = np.nanmin([m[0] for m in means.values()]), np.max([m[1] for m in means.values()])
        own = means["LowRankImputer"]
        is_near = own[0] <= (1 + NEAR) * best[0] and not own[1] < (1 - NEAR) * best[1]
        near, count = near + bool(is_near), count + 1
        line = f"{name:14}{f'{table.shape[0]} × {table.shape[1]}':>12}"
        line += "".join(f"{m[0]:10.4f} {m[1]:7.3f} {m[2]:6.2f} s" for m in means.values())
        line += f"{means['forest'][2] / own[2]:11.1f}×" if "forest" in means else f"{'':12}"
        shares = "".join(f"{share:9.3f}" for share in np.mean(covered, axis=0))
        print(line + shares + ("  ✓" if is_near else ""), flush=True)
    print(f"best or within {NEAR:.0%} of the best, in numbers and in categories: {near} of {count}")


def compare_arrays(seeds: int) -> None:
    """Arrays of numbers alone."""

    def fill_by_evidence(Z: NDArray[np.float64]) -> NDArray[np.float64]:
        mean, deviation = np.nanmean(Z, axis=0), np.nanstd(Z, axis=0)
        deviation[deviation == 0] = 1
        standard = (Z - mean) / deviation
        model = MatrixCompletion(random_state=0).fit(standard)
        return np.where(np.isnan(Z), model.predict(standard) * deviation + mean, Z)

    ways: dict[str, Callable[[Any], Any]] = {
        "means": SimpleImputer().fit_transform,
        "IterativeImputer": IterativeImputer(random_state=0).fit_transform,
        "LowRankImputer": LowRankImputer(random_state=0).fit_transform,
        "evidence": fill_by_evidence,
    }
    print(f"{'table':14}" + "".join(f"{way:>26}" for way in ways))
    for name, table in read_tables(["breast cancer", "diabetes", "wine", "white wine", "GSS"]):
        X = table.select_dtypes("number").to_numpy(float)
        spread = np.nanstd(X, axis=0)
        spread[spread == 0] = 1
        line = f"{name:14}"
        for fill in ways.values():
            errors, seconds = [], 0.0
            for seed in range(seeds):
                hidden = mask(~np.isnan(X), seed)
                began = time.perf_counter()
                filled = fill(np.where(hidden, np.nan, X))
                seconds += time.perf_counter() - began
                errors.append(np.sqrt(np.mean((((filled - X) / spread)[hidden]) ** 2)))
            line += f"{np.mean(errors):15.4f} {seconds / seeds:8.2f} s"
        print(line, flush=True)


def compare_gss(seeds: int) -> None:
    """The absolute error of each column over that of its median, and their mean."""
    table = read_gss()[GSS_COLUMNS].reset_index(drop=True)
    for seed in range(seeds):
        hidden = mask(table.notna().to_numpy(), seed, 0.1)
        seen = table.mask(hidden)
        began = time.perf_counter()
        filled = LowRankImputer(fill="median", random_state=0).fit_transform(seen)
        seconds = time.perf_counter() - began
        errors = [
            np.abs(filled[c] - table[c])[hidden[:, k]].mean()
            / np.abs(seen[c].median() - table[c])[hidden[:, k]].mean()
            for k, c in enumerate(table)
        ]
        print(f"GSS, mask {seed}: scaled absolute error {np.mean(errors):.4f}, {seconds:.2f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--tables", nargs="*", default=list(TABLES), choices=list(TABLES))
    parser.add_argument("--ways", nargs="*", default=list(WAYS), choices=list(WAYS))
    parser.add_argument("--arrays", action="store_true")
    parser.add_argument("--gss", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # IterativeImputer tells that it has not converged
    if given.arrays:
        compare_arrays(given.seeds)
    elif given.gss:
        compare_gss(given.seeds)
    else:
        compare_tables(given.tables, given.seeds, given.ways)


if __name__ == "__main__":
    main()
