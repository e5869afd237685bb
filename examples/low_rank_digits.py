"""How many directions does it take to tell ten digits apart?

A multinomial classifier has one vector of weights a class. Under a rank constraint all of them
share a few directions. Four of the nine possible ones come close to all of them.
"""

from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from pygeco import LowRankClassifier


def main(output: Path) -> None:
    X, y = load_digits(return_X_y=True)
    X_fit, X_test, y_fit, y_test = train_test_split(X / 16.0, y, train_size=400, random_state=0)
    ranks = (1, 2, 3, 4, 6, 9)
    shares = [
        LowRankClassifier(rank, alpha=1e-3, random_state=0).fit(X_fit, y_fit).score(X_test, y_test)
        for rank in ranks
    ]
    _, ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
    ax.plot(ranks, np.array(shares), "o-", color="#1d4ed8")
    ax.set(xlabel="rank of the coefficients", ylabel="share of digits told right")
    ax.grid(axis="y", alpha=0.3)
    ax.figure.savefig(output / "low_rank_digits.png", dpi=110)
    print(
        *(f"rank {rank}: {share:.3f}" for rank, share in zip(ranks, shares, strict=True)), sep="\n"
    )


if __name__ == "__main__":
    main(Path())
