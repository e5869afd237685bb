import builtins
import subprocess
import sys

import pytest
from typer.testing import CliRunner

import pygeco
from pygeco import cli
from pygeco.cli.app import app


def run(*arguments: str):
    return CliRunner().invoke(app, list(arguments))


def test_demo_fits_shows_the_path_and_draws_it(tmp_path) -> None:
    result = run("demo", "--rank", "6", "--output", str(tmp_path / "new"))
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    table = [line.split() for line in lines if line[:4].strip().isdigit() and "ratings" not in line]
    assert [int(row[0]) for row in table] == [1, 2, 3, 4, 5, 6]
    train, test = ([float(row[k]) for row in table] for k in (1, 2))
    assert train == sorted(train, reverse=True)
    assert test[3] < test[2] - 0.05  # the fourth taste is found
    assert "99.9% sure" in result.output
    picture = tmp_path / "new" / "path.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert str(picture) in result.output.replace("\n", "")
    assert "Synthetic ratings" in (tmp_path / "new" / "report.html").read_text()


def test_help_and_version() -> None:
    assert "demo" in run("--help").output
    assert "highest rank" in run("demo", "-h").output
    assert run("--version").output.strip() == f"pygeco {pygeco.__version__}"


@pytest.mark.parametrize("arguments", [["demo", "--rank", "0"], ["demo", "--rank", "x"], ["fly"]])
def test_wrong_use_is_told_without_a_traceback(arguments) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert "Traceback" not in result.output


def test_a_folder_that_cannot_be_made_is_told_before_the_fit(tmp_path) -> None:
    (tmp_path / "file").write_text("")
    result = run("demo", "--output", str(tmp_path / "file" / "folder"))
    assert result.exit_code == 4
    assert "cannot write to" in result.output
    assert "rank" not in result.output


def test_geco_is_installed() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from pygeco.cli import main; main()", "--version"],
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
