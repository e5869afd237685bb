"""Terminals of every kind: hostile text, closed streams, few signs, few columns, interrupts."""

import json
import re
import subprocess
import sys

import pandas as pd
import pytest
import typer

from cli_cases import EVIL, run
from pygeco import MatrixCompletion
from pygeco.cli.console import report_errors
from pygeco.data import read_ratings
from pygeco.errors import ReadError
from pygeco.errors.visible_text import HIDDEN


def is_harmless(text: str) -> bool:
    """No trace of EVIL, and nothing hidden but ends of lines and rich's own bold."""
    plain = text.replace("\x1b[1m", "").replace("\x1b[0m", "").replace("\r\n", "")
    return not HIDDEN.search(plain.replace("\n", ""))


@pytest.mark.parametrize(
    "arguments",
    [
        ("recommend", "m", "--user", "1", "-k", "2", "--titles", "t.csv"),
        ("recommend", "m", "--all", "-k", "40"),
    ],
)
def test_a_terminal_gets_no_control_characters_from_data(hostile, arguments, terminals) -> None:
    given = [hostile / one if (hostile / one).exists() else one for one in arguments]
    code, shown = terminals(*given)
    assert code == 0
    assert r"\x1b[2J\x1b]0;name\x07" in shown
    assert is_harmless(shown)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("inspect", "m"), 0),
        (("recommend", "m", "--user", "1", "--json"), 0),
        (("similar", "m", "nothing"), 2),
        (("similar", "m", f"{EVIL}x"), 2),
        (("fit", "text.csv", "-o", "new"), 3),
        (("fit", "twice.csv", "-o", "new"), 2),
        (("fit", "header.csv", "-o", "new"), 2),
        (("impute", "header.csv", "-o", "new.csv"), 0),
        (("fit", f"{EVIL}.csv", "-o", "new"), 3),
    ],
)
def test_results_and_errors_are_escaped(hostile, arguments, code, monkeypatch) -> None:
    monkeypatch.chdir(hostile)
    told = run(*arguments, code=code).output
    assert is_harmless(told)
    if arguments[-1] == "--json":
        rows = json.loads(told)["rows"]
        assert rows[0]["item"].startswith(EVIL)


def test_a_pipe_gets_the_ids_as_they_are(hostile) -> None:
    assert EVIL in run("recommend", hostile / "m", "--user", "1").stdout


def test_errors_of_python_are_escaped(hostile) -> None:
    with pytest.raises(ReadError) as caught:
        read_ratings(hostile / "text.csv")
    assert is_harmless(str(caught.value))
    table = pd.DataFrame({"user": [1, 1], "item": [EVIL, EVIL], "rating": [1.0, 2.0]})
    with pytest.raises(ValueError, match="more than once") as repeated:
        MatrixCompletion().fit(table)
    assert is_harmless(str(repeated.value))


@pytest.mark.parametrize("columns", [1, 10, 40])
def test_narrow_terminals_lose_nothing(hostile, columns, terminals) -> None:
    code, shown = terminals("recommend", hostile / "m", "--user", "1", "-k", "3", columns=columns)
    assert code == 0
    assert shown.count("film-") == 3
    assert "…" not in shown


@pytest.mark.parametrize("module", ["numpy", "numba", "typer", "pygeco.arrays", "pygeco.cli.app"])
def test_an_interrupt_while_anything_is_imported(module, tmp_path) -> None:
    """From the first line of the console script on: the package itself loads nothing heavy."""
    (tmp_path / "r.csv").write_text("user,item,rating\n1,2,3\n2,2,4\n")
    fit = ("fit", str(tmp_path / "r.csv"), "-o", str(tmp_path / "m"))
    code = (
        "import os, signal, sys\n"
        "class Late:\n"
        "    def find_spec(self, name, *rest):\n"
        f"        if name == {module!r}:\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Late())\n"
        "from pygeco.cli import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *fit], capture_output=True, text=True, check=False
    )
    assert done.returncode == 130
    assert re.fullmatch(r"geco( fit)?: interrupted.*\n", done.stderr)
    assert not (tmp_path / "m").exists()


def test_what_an_interrupt_left_half_made_says_nothing_more(monkeypatch, capsys):
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)  # put back afterwards

    class HalfMade:
        def __del__(self):
            raise AttributeError("_ptr")

    with pytest.raises(typer.Exit) as left, report_errors("fit", "interrupted; go on."):
        raise KeyboardInterrupt
    assert left.value.exit_code == 130
    thing = HalfMade()
    del thing
    assert capsys.readouterr().err == "geco fit: interrupted; go on.\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("impute", "some.csv", "-o", "filled.csv", "--fill", "what"), "--fill: expected one of"),
        (("robust", "some.csv", "-o", "parts", "--rank", 99), "--rank: must be between 1 and"),
        (("robust", "some.csv", "-o", "parts", "--threshold", -1), "--threshold: expected"),
        (
            ("fit", "some.csv", "-o", "new", "--posterior", 3, "--penalty", "none"),
            "--posterior: draws need --penalty evidence",
        ),
        (
            ("fit", "some.csv", "-o", "new", "--times", "rating"),
            "some.csv: times and rating must be different columns",
        ),
        (("recommend", "m.geco", "1", "--by", "what"), "--by: unknown 'what'"),
    ],
)
def test_errors_name_options_and_not_arguments(home, arguments, said, monkeypatch) -> None:
    monkeypatch.chdir(home)
    assert run(*arguments, code=2).output.startswith(f"geco {arguments[0]}: {said}")
