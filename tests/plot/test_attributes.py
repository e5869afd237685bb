"""Pictures of what attributes say draw the numbers of the table."""

import numpy as np
import pytest

from pygeco import plot
from report_cases import by_attributes, by_path


def test_groups_are_drawn_by_strength() -> None:
    groups = by_attributes().attribute_effects_.groups
    ax = plot.attributes(by_attributes())
    drawn = {round(bar.get_y() + bar.get_height() / 2): bar.get_width() for bar in ax.patches}
    np.testing.assert_allclose([drawn[t] for t in range(len(groups))], [g.strength for g in groups])
    assert [text.get_text() for text in ax.get_yticklabels()] == [g.group for g in groups]
    said = [text.get_text().strip() for text in ax.texts]
    assert f"{groups[0].share:.1%}" in said
    assert "says nothing" in said


@pytest.mark.parametrize("kind", ["levels", "genre"])
def test_levels_are_drawn_with_two_deviations(kind) -> None:
    ax = plot.attributes(by_attributes(), kind=kind)
    lines = {
        line.level: line for line in by_attributes().attribute_effects_ if line.group == "genre"
    }
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert set(names) == set(lines)
    bars = ax.containers[0]
    np.testing.assert_allclose(bars[0].get_xdata(), [lines[name].weight for name in names])
    for name, segment in zip(names, bars[2][0].get_segments(), strict=True):
        assert segment[1, 0] - segment[0, 0] == pytest.approx(4 * lines[name].deviation)


def test_a_number_is_drawn_by_one_deviation_and_a_dropped_group_says_so() -> None:
    for kind, label in (("age", "one deviation"), ("color", "says nothing")):
        ax = plot.attributes(by_attributes(), kind=kind)
        assert [text.get_text() for text in ax.get_yticklabels()] == [label]


def test_what_cannot_be_drawn_is_said() -> None:
    with pytest.raises(ValueError, match="model: was told nothing"):
        plot.attributes(by_path())
    with pytest.raises(ValueError, match=r"kind: expected .*'genre'.*, not 'hue'"):
        plot.attributes(by_attributes(), kind="hue")
