"""The command line in this process, and a small set of ratings for it."""

import pandas as pd
from typer.testing import CliRunner

from pygeco.cli.app import app
from pygeco.data import make_ratings


def run(*arguments, code: int = 0, stdin: bytes | None = None):
    result = CliRunner().invoke(app, [str(a) for a in arguments], input=stdin)
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result


def frame(cells=1500, seed=0) -> pd.DataFrame:
    rows, cols, values, _ = make_ratings((80, 50), cells, seed=seed)
    return pd.DataFrame({"user": rows + 1, "item": [f"film-{k}" for k in cols], "rating": values})
