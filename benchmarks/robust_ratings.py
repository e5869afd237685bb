"""The paper's claim for robust losses, on ratings: 5 % of MovieLens-1M's training ratings spoilt.

They are replaced by uniform noise on {1, …, 5}; the squared and the Huber model are then compared
on clean test ratings.

    PYGECO_DATA=... python benchmarks/robust_ratings.py [--share 0.05] [--seeds 1]

Random 90/10 split (seed 0). Both models have offsets fitted by their own loss, the same solver (the
default one, full cores) and no penalty, and predictions clipped to 1 … 5. Huber's threshold is the
default: two robust standard deviations of the residuals of row and column means.
"""

from __future__ import annotations

import argparse

import numpy as np
from numpy.typing import NDArray

from pygeco import MatrixCompletion, Solver
from pygeco.data import Ratings, load_movielens

RANK = 10


def spoilt(ratings: Ratings, share: float, seed: int) -> NDArray[np.float32]:
    """The values, with this share of the training ones drawn anew, uniform on {1, …, 5}."""
    rng = np.random.default_rng([seed, 1])
    train = np.flatnonzero(~ratings.test)
    hit = rng.choice(train, round(share * len(train)), replace=False)
    values = ratings.values.copy()
    values[hit] = rng.integers(1, 6, len(hit))
    return values


def errors(ratings: Ratings, values: NDArray[np.float32], loss: str) -> NDArray[np.float64]:
    """Test RMSE at ranks 1, 2, …, against the clean ratings."""
    train, test = ~ratings.test, ratings.test
    model = MatrixCompletion(
        RANK, loss=loss, penalty=None, biases=True, solver=Solver(), random_state=0
    ).fit((ratings.rows[train], ratings.cols[train], values[train], ratings.shape))
    rows, cols = ratings.rows[test], ratings.cols[test]
    found = []
    for step in model.path_:
        guess = np.clip(step.A.entries(rows, cols) + model.biases_.at(rows, cols), 1, 5)
        found.append(np.sqrt(np.mean((guess - ratings.values[test]) ** 2)))
    return np.array(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--share", type=float, default=0.05)
    parser.add_argument("--seeds", type=int, default=1)
    given = parser.parse_args()
    ratings = load_movielens("ml-1m")
    for seed in range(given.seeds):
        values = spoilt(ratings, given.share, seed)
        squared, huber = (errors(ratings, values, loss) for loss in ("squared", "huber"))
        print(f"MovieLens-1M, {given.share:.0%} of the training ratings spoilt, seed {seed}")
        print("rank  squared   Huber     squared − Huber")
        for k in range(1, RANK):
            print(f"{k + 1:4d}  {squared[k]:.5f}  {huber[k]:.5f}  {squared[k] - huber[k]:+.5f}")
        better = bool(np.all(huber[1:] < squared[1:]))
        print(f"Huber lower at every rank from 2 to {RANK}: {'yes' if better else 'NO'}\n")


if __name__ == "__main__":
    main()
