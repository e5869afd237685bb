"""A loss of your own: the ninetieth percentile of every cell.

The quantile loss asks for the value that nine of ten observations stay below. Its corner is
smoothed, so that it has a slope everywhere; two formulas are all that a loss needs.
"""

from pathlib import Path

import numpy as np

from pygeco import MatrixCompletion, plot
from pygeco.losses import Loss


class SmoothQuantile(Loss):
    """q·r for r > 0 and (q − 1)·r below, r = y − z, with the corner rounded over a width."""

    name = "smooth quantile"
    regression = True

    def __init__(self, q: float = 0.9, width: float = 0.05) -> None:
        self.q, self.width = q, width

    def value(self, z, y):
        r = y - z
        soft = self.width * np.logaddexp(0, -r / self.width)
        return self.q * r + soft

    def slope(self, z, y):
        return -self.q + 0.5 * (1 - np.tanh((y - z) / (2 * self.width)))


def main(output: Path) -> None:
    rng = np.random.default_rng(0)
    level = 5 + rng.standard_normal((150, 1)) @ rng.standard_normal((1, 100))
    noise = rng.exponential(1.0, level.shape)
    data = np.where(rng.random(level.shape) < 0.3, level + noise, np.nan)
    model = MatrixCompletion(1, loss=SmoothQuantile(), biases=True, random_state=0).fit(data)
    rows, cols = np.nonzero(~np.isnan(data))
    below = np.mean(data[rows, cols] < model.predict(rows, cols))
    ax = plot.residuals(model)
    ax.set_title(f"{below:.0%} of the cells lie below their 90 % quantile", fontsize=10)
    ax.figure.savefig(output / "quantile_loss.png", dpi=110)
    print(f"{below:.1%} of the cells lie below what the model predicts")


if __name__ == "__main__":
    main(Path())
