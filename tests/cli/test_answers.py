"""Titles beside items."""

import json

from cli_cases import run
from pygeco.cli.answers import _write_column


def test_titles_of_other_columns_and_of_other_items(home, tmp_path) -> None:
    (tmp_path / "t.csv").write_text("nr;what;name\nfilm-3;Drei;x\nfilm-4;Vier;y\n")
    asked = ("similar", home / "m.geco", "film-1", "-k", 49, "--titles", tmp_path / "t.csv")
    named = run(*asked, "--title", "what", "--title-item", "nr", "--json").stdout
    titles = {row["item"]: row["title"] for row in json.loads(named)["rows"]}
    assert (titles["film-3"], titles["film-4"], titles["film-5"]) == ("Drei", "Vier", "film-5")
    wrong = run(*asked, "--title", "name", "--title-item", "what", code=3).output
    assert "None of its items, such as 'Drei', is one of the model's, such as 'film-0'" in wrong
    lost = run("similar", home / "m.geco", "film-1", "--title", "what", code=2).output
    assert "give it with --titles" in lost


def test_numbers_of_any_size_can_be_told_apart_on_a_terminal() -> None:
    """Predictions of a billionth were 0.000, each of them; ids keep their form."""
    assert _write_column([5.08e-9, 4.44e-9, 3.0e-10]) == ["5.080e-09", "4.440e-09", "3.000e-10"]
    assert _write_column([5073831943.74, 2.5]) == ["5,073,831,944", "2"]
    assert _write_column([4.0127, -0.0002]) == ["4.013", "-0.000"]
    assert _write_column([1, 10_000_000, "x", None]) == ["1", "10000000", "x", "None"]
