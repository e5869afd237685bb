"""The command line in this process, and a small set of ratings for it."""

import sys

import pandas as pd
from typer.testing import CliRunner

from pygeco.cli.app import app
from pygeco.data import make_ratings

GECO = [sys.executable, "-c", "from pygeco.cli import main; main()"]
# Clears the screen, names the window, fills the clipboard, with ESC and with CSI; turns the text.
EVIL = "\x1b[2J\x1b]0;name\x07\x1b]52;c;aGk=\x07\x9b2J\x7f\u202e"


def run(*arguments, code: int = 0, stdin: bytes | None = None):
    result = CliRunner().invoke(app, [str(a) for a in arguments], input=stdin)
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result


def frame(cells=1500, seed=0) -> pd.DataFrame:
    rows, cols, values, _ = make_ratings((80, 50), cells, random_state=seed)
    return pd.DataFrame({"user": rows + 1, "item": [f"film-{k}" for k in cols], "rating": values})
