"""What attributes and the pattern of known cells add, on MovieLens and on synthetic cells.

    PYGECO_DATA=... python benchmarks/attributes.py pattern [--sets u1 ua ub ml-1m] [--draws 30]
    PYGECO_DATA=... python benchmarks/attributes.py everything [--sets ...] [--draws 30]
    PYGECO_DATA=... python benchmarks/attributes.py cold [--draws 30]
    PYGECO_DATA=... python benchmarks/attributes.py time [--sets ...] [--draws 30]
    PYGECO_DATA=... python benchmarks/attributes.py sparse [--cuts 4]
    PYGECO_DATA=... python benchmarks/attributes.py noise [--sets ...] [--columns 1000]
    python benchmarks/attributes.py growth [--cells 10000000] [--entries 1000000] [--turns 2]

Every fit is the default one; errors are test RMSE of predictions as they come, seconds those of the
fit alone as a ratio to the plain fit (pattern=False, no attributes) of the same number of draws.
"ml-1m" is the random 90/10 split of seed 0, "u1", "ua" and "ub" are MovieLens-100K's own. `cold`
takes a tenth of the films, of the users, or of both out of MovieLens-1M (seed 0), and predicts
their ratings by attributes alone: without draws by `new_rows` and `new_columns`, of which the fit
knows nothing, with draws by attributes that the fit is told. `time` compares the fit with the
pattern and the attributes to the same with times, with times at random, and without a time in the
question. `sparse` cuts MovieLens-1M to 3,000 users, 3,000 films and few of their ratings. cmfrec
runs beside it where it is installed (make .venv-peers/ready), by its own functions for cold start,
with the k and λ of a grid that are best on the test cells themselves.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from pygeco import Attributes, MatrixCompletion
from pygeco.data import load_movielens, load_movielens_attributes, make_ratings
from pygeco.diagnostics.time_effects import list_time_effects

SETS = {"ml-1m": ("ml-1m", None)} | {name: ("ml-100k", name) for name in ("u1", "ua", "ub")}
NINETY = 1.6449  # standard deviations on either side that hold 90 % of a Gaussian
CMFREC = {"niter": 15, "use_cg": False, "random_state": 1, "verbose": False}
CMFREC_GRID = (5, 20, 40), (3.0, 10.0, 30.0, 100.0)  # k and λ, all tried on the test cells
Array = NDArray[Any]


class Split(NamedTuple):
    """Ratings to fit and to predict, by ids, and what is known of users and films."""

    train: pd.DataFrame
    test: pd.DataFrame
    known: dict[str, Any]


class Run(NamedTuple):
    """A fitted model, its test error and the seconds of the fit."""

    model: MatrixCompletion
    error: float
    seconds: float


class Tuned(NamedTuple):
    """The least test error over a grid, and where."""

    error: float
    settings: str


def load(name: str) -> Split:
    """A set with its split. Ids are MovieLens' own."""
    folder, split = SETS[name]
    ratings = load_movielens(folder, split, download=False)
    cells = pd.DataFrame(
        {
            "user": ratings.users[ratings.rows],
            "item": ratings.items[ratings.cols],
            "rating": ratings.values,
            "timestamp": ratings.times,
        }
    )
    tables = load_movielens_attributes(folder, download=False)
    known = {"row_attributes": tables.users, "column_attributes": tables.items}
    return Split(cells[~ratings.test], cells[ratings.test], known)


def measure(split: Split, known: dict[str, Any] | None = None, **settings: Any) -> Run:
    settings = {"time": False} | settings
    began = time.perf_counter()
    model = MatrixCompletion(random_state=0, **settings).fit(split.train, **(known or {}))
    seconds = time.perf_counter() - began
    found = model.predict(split.test)["prediction"]
    return Run(model, rmse(found, split.test["rating"]), seconds)


def rmse(found: Any, wanted: Any) -> float:
    return float(np.sqrt(np.mean((np.asarray(found) - np.asarray(wanted)) ** 2)))


def compile_kernels() -> None:
    """A small fit of each kind, so that the first one that counts does not compile."""
    rows, cols, values, _ = make_ratings((60, 40), 800)
    table = np.random.default_rng(0).standard_normal((60, 2))
    for posterior in (0, 2):
        MatrixCompletion(posterior=posterior, pattern=True, random_state=0).fit(
            (rows, cols, values, (60, 40)), row_attributes=table
        )


def show(heads: list[str]) -> Callable[..., None]:
    """Print the head of a table; the answer prints a line of it."""
    print("| " + " | ".join(heads) + " |\n|" + " --- |" * len(heads), flush=True)
    return lambda *cells: print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def run_pattern(given: argparse.Namespace) -> None:
    line = show(["set", "draws", "plain", "pattern", "change", "time ratio", "kept for"])
    for name in given.sets:
        split = load(name)
        for draws in (0, given.draws):
            plain = measure(split, pattern=False, posterior=draws)
            found = measure(split, posterior=draws)
            line(name, draws, *compare(plain, found), list_patterns(found.model))


def run_sparse(given: argparse.Namespace) -> None:
    """The rest of the ratings within the cut, up to as many, are for the test."""
    line = show(["cut", "cells", "plain", "pattern", "change", "time ratio", "kept for"])
    whole = load("ml-1m")
    cells = pd.concat([whole.train, whole.test])
    for cut in range(given.cuts):
        rng = np.random.default_rng(cut)
        ids = {name: rng.permutation(cells[name].unique())[:3_000] for name in ("user", "item")}
        part = cells[cells["user"].isin(ids["user"]) & cells["item"].isin(ids["item"])]
        part = part.iloc[rng.permutation(len(part))]
        for count in (24_000, 120_000):
            split = Split(part[:count], part[count : 2 * count], {})
            plain, found = measure(split, pattern=False), measure(split)
            line(cut, f"{count:,}", *compare(plain, found), list_patterns(found.model))


def run_everything(given: argparse.Namespace) -> None:
    line = show(["set", "draws", "plain", "with all", "change", "time ratio", "strongest groups"])
    for name in given.sets:
        split = load(name)
        for draws in (0, given.draws):
            plain = measure(split, pattern=False, posterior=draws)
            found = measure(split, split.known, posterior=draws)
            groups = found.model.attribute_effects_.groups[:5]
            told = ", ".join(f"{g.side} {g.group} {g.strength:.3f}" for g in groups)
            line(name, draws, *compare(plain, found), told)


def run_time(given: argparse.Namespace) -> None:
    line = show(["set", "draws", "plain", "with times", "change", "time ratio", "kind", "kept"])
    rng = np.random.default_rng(0)
    for name in given.sets:
        split = load(name)
        mixed = split.train.assign(timestamp=rng.permutation(split.train["timestamp"]))
        for draws in (0, given.draws):
            plain = measure(split, split.known, posterior=draws)
            found = measure(split, split.known, posterior=draws, time="auto")
            line(name, draws, *compare(plain, found), "as given", list_periods(found.model))
            unasked = found.model.predict(split.test["user"], split.test["item"])
            late = found._replace(error=rmse(unasked, split.test["rating"]))
            line(name, draws, *compare(plain, late), "asked without", "")
        found = measure(split._replace(train=mixed), split.known, time="auto")
        plain = measure(split, split.known)
        line(name, 0, *compare(plain, found), "at random", list_periods(found.model))


def list_periods(model: MatrixCompletion) -> str:
    effects = list_time_effects(model)
    return ", ".join(f"{one.side} {one.length} {one.deviation:.3f}" for one in effects) or "–"


def compare(plain: Run, other: Run) -> tuple[str, ...]:
    change, ratio = other.error - plain.error, other.seconds / plain.seconds
    return f"{plain.error:.5f}", f"{other.error:.5f}", f"{change:+.5f}", f"{ratio:.2f}"


def list_patterns(model: MatrixCompletion) -> str:
    groups = model.attribute_effects_.groups
    return ", ".join(group.side for group in groups if group.source == "pattern") or "–"


def run_noise(given: argparse.Namespace) -> None:
    """Random columns as one group of users: the evidence is to drop them."""
    line = show(["set", "columns", "plain", "with noise", "change", "time ratio", "degrees"])
    rng = np.random.default_rng(0)
    for name in given.sets:
        split = load(name)
        ids = np.unique(split.train["user"])  # the order of the rows
        table = rng.standard_normal((len(ids), given.columns))
        group = Attributes(groups={"noise": given.columns})
        plain = measure(split, pattern=False)
        found = measure(split, {"row_attributes": (group, table)}, pattern=False)
        degrees = sum(one.degrees for one in found.model.attribute_effects_.groups)
        line(name, given.columns, *compare(plain, found), f"{degrees:.1f}")


def run_cold(given: argparse.Namespace) -> None:
    whole = load("ml-1m")
    cells = pd.concat([whole.train, whole.test]).sort_index()
    rng = np.random.default_rng(0)
    users, items = (np.unique(cells[name]) for name in ("user", "item"))
    out = rng.choice(users, len(users) // 10, False), rng.choice(items, len(items) // 10, False)
    if find_spec("cmfrec") is None:
        print("cmfrec is not installed, and left out.\n")
    heads = ["new", "method", "test cells", "RMSE", "90 % intervals hold", "spread stars"]
    line = show([*heads, "squared errors over variances"])
    for name, sides in (("films", (0, 1)), ("users", (1, 0)), ("both", (1, 1))):
        new_user, new_item = (
            cells[column].isin(out[t]) if sides[t] else np.zeros(len(cells), bool)
            for t, column in enumerate(("user", "item"))
        )
        is_asked = new_user & new_item if name == "both" else new_user | new_item
        split = Split(cells[~(new_user | new_item)], cells[is_asked], whole.known)
        asked = f"{len(split.test):,}"
        for draws in (0, given.draws):
            found = predict_cold(split, draws)
            shares = f"{found.share:.1%}", f"{found.spread_share:.1%}", f"{found.squares:.3f}"
            line(name, f"pygeco, {draws} draws", asked, f"{found.error:.4f}", *shares)
        none = "–", "–", "–"
        line(name, "means", asked, f"{rmse(guess_means(split), split.test['rating']):.4f}", *none)
        if find_spec("cmfrec") is not None:
            gone = tuple(out[t] if sides[t] else out[t][:0] for t in range(2))
            best = tune_cmfrec(split, (users, items), gone)
            line(name, f"cmfrec, {best.settings}", asked, f"{best.error:.4f}", *none)


class Cold(NamedTuple):
    """Test error, how often 90 % intervals hold, and the mean square of errors in deviations.

    Stars are whole, so that an interval holds one or does not: `spread_share` is what intervals
    hold of stars that are spread evenly over ±½, the variance of that added.
    """

    error: float
    share: float
    spread_share: float
    squares: float


def predict_cold(split: Split, draws: int) -> Cold:
    """Predictions of new users and films by what is known of them."""
    known, new = ({}, {}) if draws == 0 else (split.known, {})
    words = (("row_attributes", "new_rows", "user"), ("column_attributes", "new_columns", "item"))
    for word, other, column in words if draws == 0 else ():
        table = pd.DataFrame(split.known[word])
        was_fitted = table.iloc[:, 0].isin(split.train[column])
        known[word] = table[was_fitted]
        encoder = Attributes().fit(known[word])
        kept = [table.columns[0], *(group.name for group in encoder.groups_)]
        new[other] = table[~was_fitted][kept]
    model = MatrixCompletion(posterior=draws, random_state=0).fit(split.train, **known)
    test = split.test
    found, deviation = model.predict(test["user"], test["item"], return_std=True, **new)
    misses = np.asarray(test["rating"]) - found
    spread = misses + np.random.default_rng(1).uniform(-0.5, 0.5, len(misses))
    return Cold(
        rmse(found, test["rating"]),
        float(np.mean(np.abs(misses) <= NINETY * deviation)),
        float(np.mean(np.abs(spread) <= NINETY * np.sqrt(deviation**2 + 1 / 12))),
        float(np.mean((misses / deviation) ** 2)),
    )


def guess_means(split: Split) -> Array:
    """The mean of all ratings, and the offset of the side that was fitted."""
    mean = split.train["rating"].mean()
    found = np.full(len(split.test), float(mean))
    for side in ("user", "item"):
        offset = split.train.groupby(side)["rating"].mean() - mean
        found += split.test[side].map(offset).fillna(0.0).to_numpy()
    return found


def tune_cmfrec(split: Split, ids: tuple[Array, Array], out: tuple[Array, Array]) -> Tuned:
    """cmfrec's own cold start with the same attributes, at the best of its grid on the test cells.

    It is fitted to the lines that are not new, and asked for new ones by their attributes.
    """
    from cmfrec import CMF

    known, new, places = [], [], []
    words = ("row_attributes", "column_attributes")
    for own, gone, word, name in zip(ids, out, words, ("user", "item"), strict=True):
        table = pd.DataFrame(split.known[word])
        table = table.set_index(table.columns[0], drop=False).loc[own].reset_index(drop=True)
        matrix = Attributes().fit_transform(table).toarray().astype(float)
        is_new = np.isin(own, gone)
        known.append(matrix[~is_new])
        new.append(matrix[is_new])
        rank = np.where(is_new, np.cumsum(is_new), np.cumsum(~is_new)) - 1
        places.append(
            [rank[np.searchsorted(own, part[name])] for part in (split.train, split.test)]
        )
    (fitted_rows, rows), (fitted_cols, cols) = places
    X = sp.coo_matrix(
        (split.train["rating"].to_numpy(float), (fitted_rows, fitted_cols)),
        (len(known[0]), len(known[1])),
    )
    tried = []
    for k, penalty in product(*CMFREC_GRID):
        model = CMF(k=k, lambda_=penalty, **CMFREC).fit(X, U=known[0], I=known[1])
        found = _ask_cold(model, rows, cols, new)
        tried.append(Tuned(rmse(found, split.test["rating"]), f"k {k}, λ {penalty:g}"))
    return min(tried)


def _ask_cold(model: Any, rows: Array, cols: Array, new: list[Array]) -> Array:
    """Predictions of a fitted CMF for pairs of which the sides with attributes in `new` are new."""
    if not len(new[1]):
        return np.asarray(model.predict_cold_multiple(cols, U=new[0][rows]))
    if not len(new[0]):
        return np.asarray(model.predict_new(rows, I=new[1][cols]))
    P = np.stack([model.factors_cold(U=x) for x in new[0]])
    Q = np.stack([model.item_factors_cold(I=x) for x in new[1]])
    return model.glob_mean_ + np.einsum("ij,ij->i", P[rows], Q[cols])


def run_growth(given: argparse.Namespace) -> None:
    """The time of a fit with attributes over that without, where the cells are many.

    Attributes say nothing, or move the values of their rows. Fits take turns; of each the shortest
    time counts.
    """
    m, n = 100_000, 10_000
    rng = np.random.default_rng(0)
    rows, cols, values, _ = make_ratings((m, n), given.cells, random_state=0)
    levels = given.entries // 1_000
    at = rng.integers(0, m, given.entries), rng.integers(0, levels, given.entries)
    table = sp.csr_array(sp.coo_array((np.ones(given.entries), at), (m, levels)))
    moves = table @ rng.standard_normal(levels)
    heads = ["attributes", "cells", "entries", "rank", "sweeps", "seconds plain"]
    line = show([*heads, "time ratio", "CPU ratio"])
    for name, effect in (("noise", 0.0), ("telling", 0.3)):
        told = (values + effect * (moves / moves.std())[rows]).astype(values.dtype)
        wall, cpu = np.full((2, given.turns), np.inf), np.full((2, given.turns), np.inf)
        sweeps = []
        for turn in range(given.turns):
            for t, known in enumerate(({}, {"row_attributes": table})):
                began, used = time.perf_counter(), time.process_time()
                model = MatrixCompletion(pattern=False, random_state=0)
                model.fit((rows, cols, told, (m, n)), **known)
                wall[t, turn] = time.perf_counter() - began
                cpu[t, turn] = time.process_time() - used
                sweeps.append(model.n_iter_)
        ratios = [f"{x[1].min() / x[0].min():.2f}" for x in (wall, cpu)]
        counts = f"{sweeps[0]} and {sweeps[1]}"
        sizes = f"{len(values):,}", f"{given.entries:,}", model.rank_, counts
        line(name, *sizes, f"{wall[0].min():.1f}", *ratios)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="What attributes and known cells add.")
    parts = parser.add_subparsers(required=True)
    commands = {"pattern": run_pattern, "everything": run_everything, "cold": run_cold}
    commands |= {"noise": run_noise, "growth": run_growth, "time": run_time}
    commands["sparse"] = run_sparse
    for name, function in commands.items():
        part = parts.add_parser(name)
        part.set_defaults(run=function)
        if name in ("pattern", "everything", "noise", "time"):
            part.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
        if name in ("pattern", "everything", "cold", "time"):
            part.add_argument("--draws", type=int, default=30)
    parts.choices["sparse"].add_argument("--cuts", type=int, default=4)
    parts.choices["noise"].add_argument("--columns", type=int, default=1_000)
    parts.choices["growth"].add_argument("--cells", type=int, default=10_000_000)
    parts.choices["growth"].add_argument("--entries", type=int, default=1_000_000)
    parts.choices["growth"].add_argument("--turns", type=int, default=2)
    return parser.parse_args()


def main() -> None:
    given = parse()
    warnings.simplefilter("ignore")
    compile_kernels()
    given.run(given)


if __name__ == "__main__":
    main()
