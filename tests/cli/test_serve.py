"""`geco serve`: options become settings; the token comes from a file or the environment."""

import pytest
from typer.testing import CliRunner

from pygeco.cli.app import app
from pygeco.serve import running

TOKEN = "0123456789abcdef"


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Calls the command and gives the settings that the server would have had."""
    found = []
    monkeypatch.setattr("pygeco.serve.logs.set_up_logs", lambda: None)
    monkeypatch.setattr(
        running, "serve", lambda settings, announce: (found.append(settings), announce("HERE"))
    )
    monkeypatch.delenv("GECO_TOKEN", raising=False)

    def call(*options):
        result = CliRunner().invoke(app, ["serve", "m.geco", *options])
        return result, found[-1] if found else None

    return call


def test_options_become_settings(run, monkeypatch, tmp_path) -> None:
    result, settings = run("--titles", "t.csv", "--port", "0", "--workers", "3", "--access-log")
    assert result.exit_code == 0, result.output
    assert "serving m.geco at HERE" in result.output
    assert (settings.workers, settings.port, str(settings.titles)) == (3, 0, "t.csv")
    assert settings.host == "127.0.0.1"
    assert settings.token is None
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\nmore\n")
    assert run("--token-file", str(file))[1].token == TOKEN
    monkeypatch.setenv("GECO_TOKEN", TOKEN[::-1])
    assert run()[1].token == TOKEN[::-1]
    assert run("--token-file", str(file))[1].token == TOKEN


def test_wrong_options_are_one_sentence(run, tmp_path) -> None:
    file = tmp_path / "token"
    file.write_text("\n")
    result, _ = run("--token-file", str(file))
    assert result.exit_code == 2
    assert "first line" in result.output
    assert run("--token-file", str(tmp_path / "none"))[0].exit_code == 3
