"""The picture of an imputation without columns that could be measured."""

import matplotlib as mpl

from pygeco import plot
from pygeco.diagnostics import FilledColumn

mpl.use("Agg")


def test_only_columns_with_most_gaps_are_drawn() -> None:
    columns = [
        FilledColumn(f"c{k}", "number", "", k, 5, 1.0, 2.0 + k, False) for k in range(60)
    ] + [FilledColumn("none", "skip", "", 99, 0, 0.0, 0.0, False)]
    ax = plot.imputation(columns)
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert len(names) == 40
    assert not any(name.startswith(("c5 ", "none")) for name in names)
    assert ax.get_xlim()[1] == 1.1
    mpl.pyplot.close(ax.figure)
