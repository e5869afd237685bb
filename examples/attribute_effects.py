"""Which genres are liked, and how sure is that?

A fit with genres and years of films as attributes shows by how much each one moves predictions,
and how certain that is. The data are MovieLens-100K; without its files, films are made up.
"""

from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt

from pygeco import MatrixCompletion, plot
from pygeco.data import load_movielens, load_movielens_attributes

GENRES = np.array(["Action", "Comedy", "Documentary", "Drama", "Horror", "War"])


def read_films():
    """Ratings of MovieLens-100K, as triplets, and its films in the order of the columns."""
    ratings = load_movielens("ml-100k", download=False)
    films = load_movielens_attributes("ml-100k", download=False).items
    order = np.searchsorted(films["movie_id"], ratings.items)
    return ratings.cells(~ratings.test), {name: films[name][order] for name in ("genres", "year")}


def make_films():
    """Ratings of made-up films of one or two genres, which differ in how they are liked."""
    rng = np.random.default_rng(0)
    has = rng.random((300, len(GENRES))) < 0.25
    has[np.arange(300), rng.integers(0, len(GENRES), 300)] = True
    year = rng.integers(1950, 2000, 300).astype(float)
    liking = has @ np.array([-0.2, -0.1, 0.4, 0.2, -0.5, 0.1]) - 0.01 * (year - 1975)
    own = 0.3 * rng.standard_normal((500, len(GENRES)))
    Z = 3.5 + liking + own @ has.T + 0.3 * rng.standard_normal((500, 300))
    rows, cols = np.nonzero(rng.random(Z.shape) < 0.08)
    values = np.clip(np.round(Z[rows, cols] + 0.5 * rng.standard_normal(len(rows))), 1, 5)
    return (rows, cols, values, Z.shape), {
        "genres": ["|".join(GENRES[k]) for k in has],
        "year": year,
    }


def main(output: Path) -> None:
    try:
        ratings, films = read_films()
    except FileNotFoundError:
        ratings, films = make_films()
    model = MatrixCompletion(random_state=0).fit(ratings, column_attributes=films)
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
    plot.attributes(model, ax=axes[0])
    plot.attributes(model, kind="genres", ax=axes[1])
    figure.savefig(output / "attribute_effects.png", dpi=110)
    print(model.attribute_effects_)


if __name__ == "__main__":
    main(Path())
