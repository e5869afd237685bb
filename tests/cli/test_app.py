"""The command `geco` as a whole: help, version, wrong use, missing extras."""

import builtins
import subprocess
import sys

import pytest
import typer

import pygeco
from cli_cases import GECO, run
from pygeco import cli
from pygeco.cli.app import app


def test_help_breaks_where_the_terminal_ends() -> None:
    for command in typer.main.get_command(app).commands.values():
        assert not any("\n" in part for part in command.help.split("\n\n"))
        assert command.get_short_help_str().endswith(".")
        assert not command.get_short_help_str().endswith("...")


def test_help_and_version() -> None:
    assert "demo" in run("--help").output
    assert "highest rank" in run("demo", "-h").output
    assert run("--version").output.strip() == f"pygeco {pygeco.__version__}"


@pytest.mark.parametrize("arguments", [["demo", "--rank", "0"], ["demo", "--rank", "x"], ["fly"]])
def test_wrong_use_is_told_without_a_traceback(arguments) -> None:
    run(*arguments, code=2)


def test_geco_is_installed() -> None:
    done = subprocess.run(
        [*GECO, "--version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == f"pygeco {pygeco.__version__}"


def without(name, monkeypatch) -> None:
    """As if the package `name` were not installed."""
    real = builtins.__import__

    def missing(module, *rest, **options):
        if module.split(".")[0] == name:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return real(module, *rest, **options)

    for loaded in [
        key for key in sys.modules if key.split(".")[0] == name or key == "pygeco.cli.app"
    ]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setattr(builtins, "__import__", missing)


def test_missing_extras_are_named(monkeypatch, tmp_path, capsys) -> None:
    with monkeypatch.context() as patch:
        without("typer", patch)
        with pytest.raises(SystemExit, match=r"pip install 'pygeco\[cli\]'"):
            cli.main()
    from pygeco.cli.demo import run as demo

    with monkeypatch.context() as patch:
        without("matplotlib", patch)
        demo(tmp_path, 1, 0)
    assert "pip install 'pygeco[plot]'" in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    with monkeypatch.context() as patch:
        without("jinja2", patch)
        demo(tmp_path, 1, 0)
    assert "pip install 'pygeco[report]'" in capsys.readouterr().out
