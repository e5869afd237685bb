"""The table of what attributes say: lines, text, and pandas."""

import pytest

from pygeco.diagnostics.attribute_effects import AttributeEffects, GroupEffect, LevelEffect


def make_group(name: str, sizes: list[float]) -> GroupEffect:
    levels = tuple(
        LevelEffect("row", name, f"{name}{t}", -size, 0.1, size, 2.5, 0.25)
        for t, size in enumerate(sizes)
    )
    return GroupEffect("row", name, "table", 1.0, 2.5, 0.25, levels)


def test_it_is_a_sequence_and_a_table_of_lines() -> None:
    effects = AttributeEffects((make_group("a", [3.0, 2.0]), make_group("b", [1.0])))
    assert len(effects) == 3
    assert [line.level for line in effects] == ["a0", "a1", "b0"]
    assert effects[-1].group == "b"
    table = effects.to_pandas()
    assert tuple(table.columns) == LevelEffect._fields
    assert [tuple(line) for line in table.itertuples(index=False)] == list(map(tuple, effects))
    assert len(AttributeEffects().to_pandas()) == 0
    assert tuple(AttributeEffects().to_pandas().columns) == LevelEffect._fields


def test_its_text_has_aligned_columns() -> None:
    effects = AttributeEffects((make_group("first", [3.0, 2.0]), make_group("b", [1.0])))
    lines = repr(effects).splitlines()
    assert tuple(lines[0].split()) == LevelEffect._fields
    assert lines[1].split() == [
        "row",
        "first",
        "first0",
        "-3.000",
        "0.100",
        "3.000",
        "2.5",
        "25.0%",
    ]
    assert len({len(line) for line in lines}) == 1
    unknown = GroupEffect("row", "pattern", "pattern", 1.0, 2.0, 0.5, (
        LevelEffect("row", "pattern", "", float("nan"), float("nan"), 1.0, 2.0, 0.5),
    ))  # fmt: skip
    text = repr(AttributeEffects((unknown,))).splitlines()[1]
    assert text.split() == ["row", "pattern", "–", "–", "1.000", "2.0", "50.0%"]
    assert "nothing was told" in repr(AttributeEffects())


@pytest.mark.parametrize(("groups", "levels", "more"), [(1, 9, "… 3 more"), (14, 1, "… 2 more")])
def test_much_is_cut_in_the_text_alone(groups, levels, more) -> None:
    effects = AttributeEffects(
        tuple(
            make_group(f"g{t}", [float(levels - k) for k in range(levels)]) for t in range(groups)
        )
    )
    assert more in repr(effects)
    assert len(repr(effects).splitlines()) < len(effects) + 1
    assert len(effects.to_pandas()) == groups * levels
