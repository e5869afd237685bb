"""Fitted models for the tests of pictures and reports, and a reader of pages."""

from functools import cache
from html.parser import HTMLParser

import numpy as np

import pygeco
from pygeco import MatrixCompletion, Ridge, Solver
from pygeco.data import make_ratings, split_cells


@cache
def ratings():
    """Fitted and held-out triplets of one small matrix."""
    rows, cols, values, shape = make_ratings((120, 80), 3000, rank=2, random_state=3)
    held = split_cells(len(values), 0.2, 1)
    part = [(rows[mask], cols[mask], values[mask], shape) for mask in (~held, held)]
    return part[0], part[1]


@cache
def by_evidence():
    return MatrixCompletion(random_state=0).fit(ratings()[0])


@cache
def by_attributes():
    """Ratings that follow the genre of an item and the age of a user; its color says nothing."""
    rng = np.random.default_rng(1)
    genre, color = rng.choice(["<b>noir", "drama", "horror"], 60), rng.choice(list("rgbk"), 60)
    age = rng.uniform(20, 70, 90)
    liking = np.select([genre == "drama", genre == "horror"], [0.8, -0.8])
    Z = 3 + liking * (1 + (age[:, None] - 45) / 20) + 0.02 * (age[:, None] - 45)
    rows, cols = np.nonzero(rng.random(Z.shape) < 0.35)
    values = Z[rows, cols] + 0.3 * rng.standard_normal(len(rows))
    return MatrixCompletion(random_state=0).fit(
        (rows, cols, values, Z.shape),
        row_attributes={"age": age},
        column_attributes={"genre": genre, "color": color},
    )


@cache
def by_path():
    return MatrixCompletion(
        5, solver=Solver(correction="sweep"), penalty=Ridge(1e-4), biases=True, random_state=0
    ).fit(ratings()[0])


@cache
def by_labels():
    rows, cols, values, shape = ratings()[0]
    labels = np.where(values > 3.5, 1.0, 0.0)
    return MatrixCompletion(2, loss="logistic", biases=True, random_state=0).fit(
        (rows, cols, labels, shape)
    )


class Reader(HTMLParser):
    """Tags, ids, links and text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag, attrs) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data) -> None:
        self.text += data


def page_of(model, tmp_path, held_out=None, **settings):
    path = pygeco.report(model, held_out, output=tmp_path / "r.html", **settings)
    assert path == tmp_path / "r.html"
    return path.read_text(encoding="utf-8")
