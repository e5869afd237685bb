"""Other packages beside pygeco on the same clicks: lists as published protocols judge them.

    python benchmarks/peers_clicks.py                      MovieLens-1M, one left out of each user
    python benchmarks/peers_clicks.py yelp2018             LightGCN's split, all unseen columns
    python benchmarks/peers_clicks.py --only pygeco implicit

`make bench-peers` installs the packages and runs it. Each line runs in a process of its own. pygeco
is told nothing; the others run with their defaults, and again with the best of a grid on the test
clicks themselves, whose seconds are those of one fit. EASE, GF-CF and popularity are those of
`pygeco.rivals`. A package that is not installed is named and left out. The data are found through
PYGECO_DATA.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from pygeco import ImplicitCompletion, data, evaluate, rivals

# What is judged: a fitted estimator, a pair of factors or a rival.
Fit = Callable[..., Any]


def fit_pygeco(X: Any) -> Any:
    return ImplicitCompletion(random_state=0).fit(X)


def fit_implicit(X: Any, **settings: Any) -> Any:
    from implicit.als import AlternatingLeastSquares

    model = AlternatingLeastSquares(random_state=0, use_gpu=False, **settings)
    model.fit(sp.csr_matrix(X), show_progress=False)
    return np.asarray(model.user_factors), np.asarray(model.item_factors)


def fit_cmfrec(X: Any, **settings: Any) -> Any:
    from cmfrec import CMF_implicit

    model = CMF_implicit(random_state=0, verbose=False, **settings).fit(sp.coo_matrix(X))
    return np.asarray(model.A_), np.asarray(model.B_)


def fit_lenskit(X: Any, **settings: Any) -> Any:
    import pandas as pd
    from lenskit.als import ImplicitMFScorer
    from lenskit.data import from_interactions_df

    coo = X.tocoo()
    model = ImplicitMFScorer(**settings)
    model.train(from_interactions_df(pd.DataFrame({"user_id": coo.row, "item_id": coo.col})))
    left, right = (
        np.zeros((X.shape[0], model.config.embedding_size)),
        np.zeros((X.shape[1], model.config.embedding_size)),
    )
    left[model.users.ids()] = np.asarray(model.user_embeddings)
    right[model.items.ids()] = np.asarray(model.item_embeddings)
    return left, right


class Line(NamedTuple):
    """One line of the table."""

    package: str
    settings: str
    fit: Fit
    grid: tuple[dict[str, Any], ...] = ({},)


IMPLICIT_GRID = tuple(
    {"factors": 128, "regularization": ridge, "alpha": alpha}
    for ridge, alpha in product((0.1, 3.0, 10.0, 30.0), (1.0, 4.0, 16.0))
)
CMFREC_GRID = tuple(
    {"k": 128, "lambda_": ridge, "alpha": alpha}
    for ridge, alpha in product((1.0, 3.0, 10.0, 30.0), (1.0, 4.0, 16.0))
)
BEST = "128 factors, best of 12 on the test clicks"
LINES = (
    Line("pygeco", "untuned", fit_pygeco),
    Line("implicit", "ALS, defaults", fit_implicit),
    Line("implicit", f"ALS, {BEST}", fit_implicit, IMPLICIT_GRID),
    Line("cmfrec", "defaults", fit_cmfrec),
    Line("cmfrec", BEST, fit_cmfrec, CMFREC_GRID),
    Line("lenskit", "implicit ALS, defaults", fit_lenskit),
    Line("EASE", "λ = 500", rivals.ease, ({"dtype": np.float32},)),
    Line("GF-CF", "as published", rivals.gfcf),
    Line("popularity", "", rivals.popular),
)


def judge(name: str, line: Line) -> dict[str, float]:
    """Figures of a line at the best of its settings, and what that fit took."""
    split = data.load_clicks(name)
    tried = []
    for settings in line.grid:
        wall, cpu = time.perf_counter(), time.process_time()
        model = line.fit(split.train, **settings)
        took = {"seconds": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
        if name == "ml-1m":
            asked = {"protocol": "leave-one-out", "negatives": split.negatives, "k": 10}
            found = evaluate(model, split.test, **asked)
            tried.append({"HR@10": found.hit_rate[10], "NDCG@10": found.ndcg[10], **took})
        else:
            found = evaluate(model, split.test, protocol="all", k=20, seen=split.train)
            tried.append({"Recall@20": found.recall[20], "nDCG@20": found.ndcg[20], **took})
    return max(tried, key=lambda figures: next(iter(figures.values())))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("set", nargs="?", default="ml-1m", choices=["ml-1m", "yelp2018"])
    parser.add_argument("--only", nargs="+", metavar="PACKAGE")
    parser.add_argument("--line", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.line is not None:
        print(json.dumps(judge(given.set, LINES[given.line])))
        return
    head = None
    for k, line in enumerate(LINES):
        if given.only and line.package not in given.only:
            continue
        is_own = line.package in ("pygeco", "EASE", "GF-CF", "popularity")
        if not is_own and importlib.util.find_spec(line.package) is None:
            print(f"{line.package} is not installed, and left out.", flush=True)
            continue
        command = [sys.executable, __file__, given.set, "--line", str(k)]
        found = subprocess.run(command, capture_output=True, text=True, check=False)
        if found.returncode:
            print(f"{line.package}: {found.stderr.strip().splitlines()[-1]}", flush=True)
            continue
        figures = json.loads(found.stdout.splitlines()[-1])
        if head is None:
            head = list(figures)
            print(
                "| package | settings | " + " | ".join(head) + " |\n|" + " --- |" * (2 + len(head))
            )
        cells = (f"{x:.4f}" if "@" in key else f"{x:.0f}" for key, x in figures.items())
        print(f"| {line.package} | {line.settings} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
