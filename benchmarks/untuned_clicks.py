"""Clicks with nothing to tune: lists of ImplicitCompletion, and of MatrixCompletion, as published.

    python benchmarks/untuned_clicks.py                    all of these:
    python benchmarks/untuned_clicks.py yelp2018           LightGCN's split, all unseen columns
    python benchmarks/untuned_clicks.py ml1m               leave-one-out (He et al. 2017)
    python benchmarks/untuned_clicks.py ratings            MovieLens-1M, 90/10, by value and choice
    python benchmarks/untuned_clicks.py cold               MovieLens-1M, new users and new films
    python benchmarks/untuned_clicks.py yelp2018 --rivals  GF-CF and popularity beside it

The data are found through PYGECO_DATA; test clicks are seen by no fit.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import pandas as pd

from pygeco import ImplicitCompletion, MatrixCompletion, data, evaluate, metrics, rivals
from pygeco.estimators.ranking import Ranking


def yelp2018(plan: argparse.Namespace) -> None:
    split = data.load_clicks("yelp2018")
    judge("ImplicitCompletion", fit_clicks(split.train, plan), split, "all", (20,))
    if plan.rivals:
        for name, fit in (("GF-CF", rivals.gfcf), ("popularity", rivals.popular)):
            judge(name, fit(split.train), split, "all", (20,), seen=split.train)


def ml1m(plan: argparse.Namespace) -> None:
    split = data.load_clicks("ml-1m")
    model = fit_clicks(split.train, plan)
    judge("ImplicitCompletion", model, split, "leave-one-out", (10,), negatives=split.negatives)


def ratings(plan: argparse.Namespace) -> None:
    """Random 90/10 over the file, relevant from the mean of the fitted ratings on: nDCG@10."""
    given = data.load_movielens("ml-1m")
    test = np.random.default_rng(0).random(len(given.values)) < 0.1
    cells = given.rows[~test], given.cols[~test], given.values[~test], given.shape
    began = time.perf_counter()
    model = MatrixCompletion(random_state=plan.seed, engine=plan.engine).fit(cells)
    print(f"fit {time.perf_counter() - began:.1f} s", flush=True)
    began = time.perf_counter()
    model.learn_lists()
    print(f"learn_lists {time.perf_counter() - began:.1f} s", flush=True)
    liked = test & (given.values >= given.values[~test].mean())
    users, row = np.unique(given.rows[liked], return_inverse=True)
    counts = np.bincount(cells[1], minlength=given.shape[1])
    popular = np.tile(counts.astype(float), (given.shape[0], 1))
    popular[cells[0], cells[1]] = -1
    lists = {by: model.recommend(k=10, by=by).columns for by in ("auto", "value", "choice")}
    lists["popularity"] = np.argsort(-popular, axis=1, kind="stable")[:, :10]
    for by, columns in lists.items():
        found = metrics.ranking(columns[users], row, given.cols[liked])
        print(f"{by:12} nDCG@10 {found.ndcg:.4f}", flush=True)


def cold(plan: argparse.Namespace) -> None:
    """A tenth of the users and of the films without a click, listed by their attributes alone."""
    given = data.load_movielens("ml-1m", download=False)
    tables = data.load_movielens_attributes("ml-1m", download=False)
    told = {name: value for name, value in tables.users.items() if name != "zip_code"}
    films = {name: value for name, value in tables.items.items() if name != "title"}
    rng = np.random.default_rng(0)
    new_row, new_column = (rng.random(size) < 0.1 for size in given.shape)
    is_new = new_row[given.rows], new_column[given.cols]
    clicks = pd.DataFrame({"user": given.users[given.rows], "item": given.items[given.cols]})
    sides = [
        {
            name: np.asarray(column)[np.isin(table[key], ids) == wanted]
            for name, column in table.items()
        }
        for table, key, ids in (
            (told, "user_id", given.users[new_row]),
            (films, "movie_id", given.items[new_column]),
        )
        for wanted in (False, True)
    ]
    fitted = clicks[~is_new[0] & ~is_new[1]]
    began = time.process_time()
    model = ImplicitCompletion(random_state=plan.seed, engine=plan.engine).fit(
        fitted, row_attributes=sides[0], column_attributes=sides[2]
    )
    print(f"fit {time.process_time() - began:.1f} CPU s", flush=True)
    print(model.choice_.to_pandas().query("weight.notna()").to_string(), flush=True)
    users = np.sort(given.users[new_row])
    popular = np.tile(fitted["item"].value_counts().index[:20], (len(users), 1))
    show_cold("popular", Ranking(popular, popular, users), clicks[is_new[0] & ~is_new[1]])
    alone = {"items": [], "new_columns": sides[3]}
    show_cold("new users", model.recommend(k=20, new_rows=sides[1]), clicks[is_new[0] & ~is_new[1]])
    show_cold("new films", model.recommend(k=20, **alone), clicks[~is_new[0] & is_new[1]])
    both = model.recommend(k=20, new_rows=sides[1], **alone)
    show_cold("both", both, clicks[is_new[0] & is_new[1]])


def show_cold(name: str, best: object, truth: pd.DataFrame) -> None:
    """Lists at the clicks that were left out."""
    users, row = np.unique(truth["user"], return_inverse=True)
    lists = best.columns[np.searchsorted(best.rows, users)]
    found = metrics.ranking(lists, row, truth["item"].to_numpy())
    print(f"{name:12} Recall@20 {found.recall:.4f} nDCG@20 {found.ndcg:.4f}", flush=True)


def fit_clicks(clicks: object, plan: argparse.Namespace) -> ImplicitCompletion:
    began = time.perf_counter()
    model = ImplicitCompletion(random_state=plan.seed, engine=plan.engine).fit(clicks)
    chosen = model.choice_
    print(f"fit {time.perf_counter() - began:.1f} s, {model.n_iter_} trials, rank {model.rank_}")
    print(f"  {chosen.spectral}\n  {chosen.squares}\n  share of squares {chosen.share}", flush=True)
    return model


def judge(
    name: str, model: object, split: object, protocol: str, k: tuple[int, ...], **more
) -> None:
    found = evaluate(model, split.test, protocol=protocol, k=k, **more)
    print(f"{name}\n{found}", flush=True)


SECTIONS = {"yelp2018": yelp2018, "ml1m": ml1m, "ratings": ratings, "cold": cold}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", metavar="section", help=", ".join(SECTIONS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--engine", choices=["cpu", "cuda"])
    parser.add_argument("--rivals", action="store_true")
    plan = parser.parse_args()
    unknown = set(plan.sections) - set(SECTIONS)
    if unknown:
        parser.error(f"unknown section {unknown.pop()!r}; there are {', '.join(SECTIONS)}")
    for name in plan.sections or SECTIONS:
        print(f"== {name}", flush=True)
        SECTIONS[name](plan)


if __name__ == "__main__":
    main()
