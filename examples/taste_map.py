"""A map of items from their ratings alone.

Users of three tastes rate films of three genres. The first two components of the fitted matrix
lay the genres apart, though the model has never been told about them.
"""

from pathlib import Path

import numpy as np

from pygeco import MatrixCompletion, plot

GENRES = ("western", "musical", "thriller")


def main(output: Path) -> None:
    rng = np.random.default_rng(4)
    taste, genre = rng.integers(0, 3, 400), np.repeat(np.arange(3), 30)
    liking = 3.0 + 1.4 * (taste[:, None] == genre) + 0.7 * rng.standard_normal((400, 90))
    ratings = np.where(rng.random(liking.shape) < 0.15, np.clip(liking, 1, 5), np.nan)
    model = MatrixCompletion(random_state=0).fit(ratings)
    titles = [f"{GENRES[genre[j]]} {j % 30 + 1}" for j in range(90)]
    ax = plot.factors(model, labels=titles, count=18)
    ax.figure.savefig(output / "taste_map.png", dpi=110)
    print(f"rank {model.rank_}; like {titles[0]}:", *(titles[j] for j in model.similar(0, 4)[0]))


if __name__ == "__main__":
    main(Path())
