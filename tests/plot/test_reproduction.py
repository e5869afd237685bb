"""Pictures of the reproductions draw what they are given."""

import numpy as np

from pygeco.plot.reproduction import Bounded, Line, figure1, theory


def test_each_split_has_a_panel_with_its_lines() -> None:
    lines = [
        Line("geco", "GECO", [1, 2, 5], [1.0, 0.9, 0.95], [0.1, 0.1, 0.1]),
        Line("js", "JS", [1, 2, 5], [1.2, 1.1, 1.0], [0.0, 0.0, 0.0]),
        Line("other", "another", [1], [1.3], [0.0]),
    ]
    figure = figure1({"one": lines, "two": lines[:1]})
    first, second = figure.axes
    assert (first.get_title(), second.get_title()) == ("one", "two")
    drawn = {line.get_label(): line for line in first.get_lines()}
    np.testing.assert_array_equal(drawn["GECO"].get_ydata(), [1.0, 0.9, 0.95])
    dashed = [line for line in first.get_lines() if line.get_linestyle() == "--"]
    assert [line.get_ydata()[0] for line in dashed] == [1.0]  # the least error of JS
    assert len(first.collections) == 1  # a band where there is a spread
    low, high = first.get_ylim()
    assert low < 0.9
    assert high > 1.3
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["GECO", "JS", "another"]


def test_the_gap_stands_beside_its_bounds() -> None:
    gaps = {"τ = 0": [Bounded(1, 0.1, 0.2, 0.3, 0.4), Bounded(2, 0.05, 0.1, 0.2, 0.3)]}
    figure = theory(gaps, [10, 20], [100.0, 250.0], 1.3)
    bounds, cells = figure.axes
    drawn = {line.get_label(): list(line.get_ydata()) for line in bounds.get_lines()}
    assert drawn["measured"] == [0.1, 0.05]
    assert drawn["theorem 2"] == [0.4, 0.3]
    law = [line for line in cells.get_lines() if "Corollary" in line.get_label()]
    np.testing.assert_allclose(law[0].get_ydata(), [100, 100 * 2**1.5])
