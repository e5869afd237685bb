"""`geco report`: from a model file to a page."""

import json

import pytest
from typer.testing import CliRunner

from pygeco.cli.app import app
from report_cases import ratings


def run(*arguments):
    return CliRunner().invoke(app, [str(one) for one in arguments])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A file of ratings, a model fitted to nine tenths of it, and titles."""
    folder = tmp_path_factory.mktemp("report")
    rows, cols, values, shape = ratings()[0]
    lines = [f"{i + 1}::{j + 1}::{y:g}::0" for i, j, y in zip(rows, cols, values, strict=True)]
    (folder / "ratings.dat").write_text("\n".join(lines) + "\n")
    names = [f"{j + 1}::Film <b>{j + 1}</b>::Drama" for j in range(shape[1])]
    (folder / "films.dat").write_text("\n".join(names) + "\n")
    model = folder / "model.geco"
    result = run("fit", folder / "ratings.dat", "-o", model, "--holdout", "0.1", "--json")
    assert result.exit_code == 0, result.output
    return folder


def test_a_page_with_titles_and_held_out_ratings(folder, tmp_path) -> None:
    page = tmp_path / "page.html"
    result = run(
        "report", folder / "model.geco", "-o", page, "--ratings", folder / "ratings.dat",
        "--titles", folder / "films.dat", "--heading", "Films & tastes", "--json",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    told = json.loads(result.output)
    assert told["bytes"] == page.stat().st_size
    assert 150 < told["held_out"] < 330  # a tenth of 2,389
    text = page.read_text()
    assert "<title>Films &amp; tastes</title>" in text
    assert "Film &lt;b&gt;" in text
    assert "RMSE, held out" in text
    assert "No held-out cells were given" not in text


def test_without_ratings_those_that_the_model_keeps_are_taken(folder, tmp_path) -> None:
    page = tmp_path / "page.html"
    result = run("report", folder / "model.geco", "-o", page, "--json")
    assert result.exit_code == 0, result.output
    assert 150 < json.loads(result.output)["held_out"] < 330
    assert "RMSE, held out" in page.read_text()


def test_without_ratings_the_page_says_so(folder, tmp_path) -> None:
    assert run("fit", folder / "ratings.dat", "-o", tmp_path / "all.geco").exit_code == 0
    result = run("report", tmp_path / "all.geco", "-o", tmp_path / "page.html")
    assert result.exit_code == 0, result.output
    assert "open it in a browser" in result.output
    assert "No held-out cells were given" in (tmp_path / "page.html").read_text()


def test_wrong_input_is_told_and_the_old_page_stays(folder, tmp_path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<!doctype html>old")
    (tmp_path / "no.geco").write_text("not a model")
    everything = tmp_path / "all.geco"
    assert run("fit", folder / "ratings.dat", "-o", everything).exit_code == 0
    cases = {
        "No such file": ("report", tmp_path / "gone.geco", "-o", page),
        "no.geco": ("report", tmp_path / "no.geco", "-o", page),
        "fitted to every rating": (
            *("report", everything, "-o", page),
            *("--ratings", folder / "ratings.dat"),
        ),
        "there is no folder": ("report", everything, "-o", tmp_path / "no" / "page.html"),
    }
    for said, arguments in cases.items():
        result = run(*arguments)
        assert result.exit_code in (2, 3, 4), result.output
        assert said in result.output
        assert len(result.output.strip().splitlines()) == 1
    assert page.read_text() == "<!doctype html>old"
