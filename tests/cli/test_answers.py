"""Titles beside items."""

import json

from cli_cases import run


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
