"""A fit with nothing to tune, and predictions that know how sure they are.

`MatrixCompletion()` sets the rank and every weight from the data. On cells that it has not seen,
predictions are right on average, and nine of ten observations lie inside the 90 % intervals.
"""

from pathlib import Path

from pygeco import MatrixCompletion, plot
from pygeco.data import make_ratings, split_cells


def main(output: Path) -> None:
    rows, cols, values, shape = make_ratings(random_state=2)
    held = split_cells(len(values), 0.2)
    fitted = ~held
    model = MatrixCompletion(random_state=0)
    model.fit((rows[fitted], cols[fitted], values[fitted], shape))
    ax = plot.calibration(model, (rows[held], cols[held], values[held]))
    ax.figure.savefig(output / "honest_intervals.png", dpi=110)
    mean, deviation = model.predict(rows[held][:5], cols[held][:5], return_std=True)
    for y, m, s in zip(values[held][:5], mean, deviation, strict=True):
        print(f"observed {y:.1f}, predicted {m:.2f} ± {1.645 * s:.2f}")


if __name__ == "__main__":
    main(Path())
