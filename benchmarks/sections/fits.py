"""Default fits from end to end: seconds, test RMSE, rank, and lists for every user."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from pygeco import MatrixCompletion
from pygeco.data import load_movielens, make_ratings
from sections.made import Split, rated, split_of
from sections.measuring import Line, Plan, show, timed

PRODUCTS = 20
SECONDS = 5.0  # for the lists of all users


def fits(plan: Plan) -> list[Line]:
    """`MatrixCompletion()` on MovieLens, where it is there, and on made ratings."""
    MatrixCompletion(random_state=0).fit(make_ratings((60, 40), 1_000)).recommend([0, 1])
    lines = [line for name in ("ml-100k", "ml-1m") for line in _movielens(plan, name)]
    for cells, shape in plan.fits:
        lines += _lines(plan, f"{cells:,} made", rated(plan, cells, shape), lists=True)
    return show("fits: MatrixCompletion(), random 90/10", lines)


def _movielens(plan: Plan, name: str) -> list[Line]:
    try:
        ratings = load_movielens(name, download=False)
    except FileNotFoundError as error:
        print(f"fits, {name}: skipped: {error}")
        return []
    cells = ratings.rows, ratings.cols, ratings.values, ratings.shape
    return _lines(plan, name, split_of(*cells, ratings.test))


def _lines(plan: Plan, name: str, split: Split, *, lists: bool = False) -> list[Line]:
    """The fit in scipy's products with the same matrix, which the machine's speed leaves alone."""
    rows, cols, values, shape = split.train
    matrix = sp.csr_array((values.astype(float), (rows, cols)), shape)
    model = MatrixCompletion(random_state=0)
    product = _product(matrix, plan)
    took = timed(lambda: model.fit(split.train))
    product = 0.5 * (product + _product(matrix, plan))
    error = -model.score(split.test)
    lines = [
        Line(f"{name}: fit, rank {model.rank_}", took, took.by(plan), "s"),
        Line(f"{name}: fit by products", took, took.by(plan) / product, "products", tracked=True),
        Line(f"{name}: test error", took, error, "RMSE", tracked=True, slack=0.005),
    ]
    if lists:
        users = np.arange(shape[0])
        took = timed(model.learn_lists)
        lines.append(Line(f"{name}: lists learned", took, took.by(plan), "s"))
        took = timed(lambda: model.recommend(users, 10))
        lines.append(Line(f"{name}: top 10 of all users", took, took.by(plan), "s", SECONDS))
    return lines


def _product(matrix: Any, plan: Plan) -> float:
    """Seconds of a product with scipy's CSR, on one core."""
    x = np.ones(matrix.shape[1])
    return min(timed(lambda: matrix @ x).by(plan) for _ in range(PRODUCTS))
