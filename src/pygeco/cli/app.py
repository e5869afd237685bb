"""The commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import pygeco
from pygeco.cli.asking import predict, recommend, similar
from pygeco.cli.console import EXIT_CODES, check_folder, report_errors
from pygeco.cli.doctor import doctor
from pygeco.cli.explain import explain
from pygeco.cli.exporting import export
from pygeco.cli.fit import fit
from pygeco.cli.impute import impute
from pygeco.cli.judging import evaluate, inspect
from pygeco.cli.report import report
from pygeco.cli.reproduce import reproduce
from pygeco.cli.robust import robust
from pygeco.cli.serve import serve

app = typer.Typer(
    help="Low-rank matrices with a certificate, from any convex loss.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def root(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and leave.")
    ] = False,
) -> None:
    if version:
        print(f"pygeco {pygeco.__version__}")
        raise typer.Exit


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the results.")] = Path(
        "geco-demo"
    ),
    rank: Annotated[int, typer.Option(min=1, max=50, help="The highest rank.")] = 10,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the ratings and of the fit.")] = 0,
) -> None:
    """Fit synthetic ratings rank by rank; draw the test error, and write a report."""
    from pygeco.cli.demo import run

    with report_errors("demo"):
        check_folder(output)
        output.mkdir(parents=True, exist_ok=True)
        run(output, rank, seed)


def _join_lines(text: str | None) -> str:
    """Paragraphs without line breaks, which are those of the source and not of the terminal."""
    return "\n\n".join(" ".join(part.split()) for part in (text or "").split("\n\n"))


for command in (
    *(fit, predict, recommend, similar, explain, evaluate, inspect, export),
    *(report, serve, robust, impute, reproduce, doctor, demo),
):
    told = _join_lines(command.__doc__)
    app.command(help=told, short_help=told.partition("\n")[0], epilog=EXIT_CODES)(command)
