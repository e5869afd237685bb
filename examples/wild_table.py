"""A table with gross errors: which cells are wrong, and what they should be.

Ten sensors record two hidden signals. Some readings are wild, some are missing. One fit finds the
wild cells and restores the table, both at once.
"""

from pathlib import Path

import numpy as np

from pygeco import RobustPCA, plot


def main(output: Path) -> None:
    rng = np.random.default_rng(3)
    hours = np.arange(200)
    signals = np.column_stack([np.sin(hours / 12), np.cos(hours / 31)])
    table = signals @ rng.standard_normal((2, 10)) + 0.05 * rng.standard_normal((200, 10))
    wild = rng.random(table.shape) < 0.05
    readings = np.where(wild, table + 8 * rng.standard_normal(table.shape), table)
    readings[rng.random(table.shape) < 0.1] = np.nan
    model = RobustPCA(2, random_state=0).fit(readings)
    axes = plot.parts(model, readings)
    axes[0].figure.savefig(output / "wild_table.png", dpi=110)
    found = model.outlier_mask_
    seen = wild & ~np.isnan(readings)
    print(
        f"{seen.sum()} wild readings, {(found & seen).sum()} found, {(found & ~wild).sum()} others"
    )


if __name__ == "__main__":
    main(Path())
