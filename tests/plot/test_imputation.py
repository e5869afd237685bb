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
    assert [text.get_text() for text in ax.texts] == [
        "the 40 of 60 columns with the most missing cells"
    ]
    mpl.pyplot.close(ax.figure)


def test_colors_of_both_kinds_are_told_and_long_names_leave_room() -> None:
    number = FilledColumn("n" * 300, "number", "", 3, 5, 1.0, 2.0, False)
    category = FilledColumn("c", "category", "", 2, 5, 0.2, 0.4, True)
    for columns, told in (([number, category], 2), ([number], 0), ([category], 0)):
        ax = plot.imputation(columns)
        legend = ax.get_legend()
        assert (0 if legend is None else len(legend.get_texts())) == told
        assert max(len(label.get_text()) for label in ax.get_yticklabels()) < 60
        assert {bar.get_width() for bar in ax.patches} == {0.5}
        mpl.pyplot.close(ax.figure)
