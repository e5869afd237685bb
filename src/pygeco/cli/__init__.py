"""The `geco` command: arguments and printing, nothing else."""

from __future__ import annotations

import sys


def main() -> None:
    """Run `geco`; say what is missing where the extra is not installed."""
    try:
        from pygeco.cli.app import app
    except ModuleNotFoundError as error:
        if error.name and error.name.split(".")[0] == "typer":
            sys.exit("geco: the command line needs an extra; run: pip install 'pygeco[cli]'")
        raise
    app()
