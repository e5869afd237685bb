"""Every rank from one fit, with what the certificate leaves possible.

GECO grows the matrix one rank at a time. The error on fitted cells falls with each rank; the error
on held-out cells has a lowest point. The dashed line is the certificate: no matrix of the same
trace norm, of any rank, fits better than that. A ridge keeps it tight.
"""

from pathlib import Path

from pygeco import MatrixCompletion, Ridge, plot
from pygeco.data import make_ratings, split_cells


def main(output: Path) -> None:
    rows, cols, values, shape = make_ratings(random_state=1)
    held = split_cells(len(values), 0.1)
    fitted = ~held
    model = MatrixCompletion(
        8,
        biases=True,
        penalty=Ridge(2e-5),
        random_state=0,
    ).fit((rows[fitted], cols[fitted], values[fitted], shape))
    ax = plot.path(model, (rows[held], cols[held], values[held]))
    ax.figure.savefig(output / "rank_path.png", dpi=110)
    print(model.path_)


if __name__ == "__main__":
    main(Path())
