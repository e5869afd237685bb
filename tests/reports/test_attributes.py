"""The page says what the attributes say, where there are some."""

from pygeco import MatrixCompletion
from pygeco.diagnostics import GroupEffect, LevelEffect
from pygeco.reports import words
from pygeco.reports.attributes import MAX_LEVELS, gather_attributes
from report_cases import Reader, by_attributes, by_evidence, by_path, page_of, ratings

KINDS = ("row", "column", "cell")


def test_the_section_is_there_only_with_attributes(tmp_path) -> None:
    with_pattern = MatrixCompletion(random_state=0, pattern=True).fit(ratings()[0])
    assert with_pattern.attribute_effects_
    for model in (by_evidence(), by_path(), with_pattern):
        assert gather_attributes(model, KINDS) is None
        assert "What the attributes say" not in page_of(model, tmp_path)
    page = page_of(by_attributes(), tmp_path)
    assert page.count('href="#attributes"') == page.count('id="attributes"') == 1
    assert "What the attributes say" in Reader(page).text


def test_it_has_the_numbers_of_the_table_and_escapes_levels(tmp_path) -> None:
    page = page_of(by_attributes(), tmp_path)
    text = " ".join(Reader(page).text.split())
    effects = by_attributes().attribute_effects_
    for line in effects:
        if line.group == "genre":
            assert f"{line.level} ± {2 * line.deviation:.2f}" in text
            assert f"{line.weight:+.2f}" in text
    for group in effects.groups:
        name = "which cells are known" if group.group == "pattern" else group.group
        side = "row" if group.side == "row" else "column"
        assert f"{name}{side}{group.strength:.3f}" in text or not group.strength
        assert f"{group.share:.1%}" in text or not group.strength
    assert "&lt;b&gt;noir" in page
    assert "<b>noir" not in page
    assert "one standard deviation more" in text


def test_long_groups_are_cut() -> None:
    levels = tuple(
        LevelEffect("row", "town", f"t{k}", 0.0, 0.1, 20.0 - k, 3.0, 0.1) for k in range(20)
    )

    class Model:
        attribute_effects_ = type(by_attributes().attribute_effects_)(
            (GroupEffect("row", "town", "table", 1.0, 3.0, 0.1, levels),)
        )

    shown = gather_attributes(Model(), KINDS)["detailed"][0]
    assert len(shown["top"]) == MAX_LEVELS
    assert shown["more"] == 20 - MAX_LEVELS
    assert all(level["bar"] == 0 for level in shown["top"])


def test_words_name_the_strongest_and_the_silent() -> None:
    one = GroupEffect("row", "age", "table", 0.5, 1.0, 0.1, ())
    two = GroupEffect("column", "hue", "table", 0.0, 0.0, 0.0, ())
    said = words.describe_attributes([one, two], ("user", "item", "rating"))
    assert "Of 2 attributes, age of the user matters most" in said
    assert said.endswith("1 says nothing beside the others: hue.")
    assert words.describe_attributes([one], KINDS).startswith("Of 1 attribute, age of the row")
    assert words.describe_attributes([two], KINDS).startswith("None of the attributes")
