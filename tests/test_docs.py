"""Every code block of the documentation runs: Python in order, `geco` lines as commands."""

import os
import re
import shlex
import sys
import tomllib
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import pygeco
from pygeco.cli.app import app
from pygeco.data import make_ratings

mpl.use("Agg")
from matplotlib import pyplot as plt

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
TARGETS = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)


def command(line: str) -> None:
    """Run a `geco` line; check what others ask for."""
    words = shlex.split(line, comments=True)
    if not words:
        return
    if words[:2] == ["geco", "serve"]:  # which would not end; its options are read
        typer.main.get_command(app).commands["serve"].make_context("serve", words[2:])
    elif words[0] == "geco":
        result = CliRunner().invoke(app, words[1:])
        assert result.exit_code == 0, f"{line}\n{result.output}"
    elif words[:2] == ["pip", "install"]:
        asked = re.search(r"\[(.*?)\]", words[2])
        assert set(asked[1].split(",") if asked else []) <= set(EXTRAS), line
    elif words[0] == "python":
        assert (ROOT / words[1]).is_file(), line
    else:
        words = [word for word in words if "=" not in word]
        assert words[0] == "make", line
        assert words[1] in TARGETS, line


def files() -> None:
    """What a reader of the README has: MovieLens' files, here with few ratings."""
    rows, cols, values, _ = make_ratings((80, 60), 1500, rank=2)
    lines = [f"{i + 1}::{j + 1}::{y:g}::0\n" for i, j, y in zip(rows, cols, values, strict=True)]
    Path("ratings.dat").write_text("".join(lines))
    pairs = [f"{i + 1},{j + 1}\n" for i, j in zip(rows, cols, strict=True)]
    Path("clicks.csv").write_text("user,item\n" + "".join(pairs[100:]))
    Path("later.csv").write_text("user,item\n" + "".join(pairs[:100]))
    people = [f"{i + 1},{20 + i % 50},{('student', 'doctor')[i % 2]}\n" for i in range(100)]
    Path("people.csv").write_text("user_id,age,occupation\n" + "".join(people))
    Path("movies.dat").write_text("".join(f"{j + 1}::Film {j + 1}::Drama\n" for j in range(60)))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_blocks_run(page, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    files()
    names: dict[str, object] = {}
    for kind, block in BLOCK.findall(page.read_text(encoding="utf-8")):
        if kind == "console" and page.stem == "cli":
            continue  # usage, written by typer
        if kind == "dockerfile":
            continue
        assert kind in ("python", "sh"), f"a block of kind {kind!r}: use python or sh"
        if kind == "python":
            exec(compile(block, str(page), "exec"), names)
        else:
            for line in block.splitlines():
                command(line)
    plt.close("all")
    if page.stem == "README":
        assert "rank  objective     gap at most" in capsys.readouterr().out
        assert [step.rank for step in names["path"]] == [1, 2, 3, 4, 5]  # as the text says
        assert names["path"].stop is pygeco.Stop.OPTIMAL


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_and_pictures_are_there(page) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", text):
        assert (page.parent / target).is_file(), target
    for target in re.findall(r'--8<-- "(.*?)"', text):
        assert (ROOT / target).is_file(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_files_that_are_named_are_there(page) -> None:
    text = page.read_text(encoding="utf-8")
    named = set(re.findall(r"(?<![\w./-])((?:tests|benchmarks|src|examples)/[\w./-]*\w)", text))
    assert not [name for name in named - {"examples/NAME.py"} if not (ROOT / name).exists()]
    tests = set(re.findall(r"\btest_\w+\.py", text))
    assert not [name for name in tests if not any((ROOT / "tests").rglob(name))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_tables_end_with_an_empty_line(page) -> None:
    """The site takes what follows a table without one for a row of it, code included."""
    lines = page.read_text(encoding="utf-8").splitlines()
    rows = [line.startswith("|") for line in lines]
    below = [line for row, line in zip(rows, lines[1:], strict=False) if row]
    assert not [line for line in below if line and not line.startswith("|")]


def test_the_reference_has_every_command_and_public_name() -> None:
    reference = ROOT / "docs" / "reference"
    commands = (reference / "cli.md").read_text(encoding="utf-8")
    for command in typer.main.get_command(app).commands:
        assert f"`geco {command}`" in commands, "run make docs"
    pages = "".join(page.read_text(encoding="utf-8") for page in reference.glob("*.md"))
    for name in pygeco.__all__:
        assert f"::: pygeco.{name}\n" in pages, name


def test_troubleshooting_quotes_what_is_said() -> None:
    """A reader looks for a part of the message there; each quoted one is in a row of its own."""
    text = (ROOT / "docs" / "howto" / "troubleshooting.md").read_text(encoding="utf-8")
    quoted = re.findall(r'^\| "(.*?)" \|', text, re.MULTILINE)
    rows, cols = np.divmod(np.arange(400), 20)
    stars = 1.0 + np.arange(400) % 5
    marked = np.where(rows == cols, -1.0, stars)
    said = "did not converge"  # by which tests/estimators/test_linear.py knows it
    for ask in (
        lambda: pygeco.MatrixCompletion().fit((rows, cols, marked)),
        lambda: pygeco.MatrixCompletion().fit((rows, 0 * cols, stars)),
        lambda: pygeco.MatrixCompletion().fit((rows, cols, np.ones(400))),
    ):
        with pytest.raises((ValueError, Warning)) as raised:
            ask()
        said += str(raised.value)
    assert len(quoted) == 4
    assert not [quote for quote in quoted if quote not in said]


def test_the_gallery_shows_every_example() -> None:
    text = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    shown = set(re.findall(r'--8<-- "examples/(\w+)\.py"', text))
    assert shown == {path.stem for path in (ROOT / "examples").glob("*.py")}
    for name in shown:
        assert f"img/{name}.png" in text
