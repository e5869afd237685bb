"""The commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import pygeco
from pygeco.cli.asking import predict, recommend, similar
from pygeco.cli.console import EXIT_CODES
from pygeco.cli.doctor import doctor
from pygeco.cli.fit import fit
from pygeco.cli.impute import impute
from pygeco.cli.judging import evaluate, export, inspect
from pygeco.cli.report import report
from pygeco.cli.robust import robust

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


for command in (
    *(fit, predict, recommend, similar, evaluate, inspect, export),
    *(report, robust, impute, doctor),
):
    app.command(epilog=EXIT_CODES)(command)


@app.command()
def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the picture.")] = Path(
        "geco-demo"
    ),
    rank: Annotated[int, typer.Option(min=1, max=50, help="The highest rank.")] = 10,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the ratings and of the fit.")] = 0,
) -> None:
    """Fit synthetic ratings rank by rank, and draw test error against rank."""
    from pygeco.cli.demo import run

    _make(output)
    run(output, rank, seed)


@app.command()
def reproduce(
    datasets: Annotated[
        list[str] | None,
        typer.Option(
            help="ml-100k, ml-1m, ml-10m; by default the first two, and 10M if it is here."
        ),
    ] = None,
    more: Annotated[
        list[str] | None, typer.Argument(metavar="SETS", help="The same, without the option.")
    ] = None,
    theory: Annotated[
        bool, typer.Option("--theory", help="Measure the theorems instead, or with --datasets too.")
    ] = False,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the results.")] = Path(
        "geco-reproduce"
    ),
) -> None:
    """Run the paper's experiment again: figure, numbers, and which of its claims hold.

    Ratings come from PYGECO_DATA, from the cache, or from GroupLens. A run that was interrupted
    goes on where it stopped; another folder starts afresh.
    """
    from pygeco.cli import reproduce as command

    given = [*(datasets or []), *(more or [])]
    chosen = command.checked(given) if given or not theory else []
    _make(output)
    if chosen:
        command.figure(output, chosen)
    if theory:
        command.theorems(output)


def _make(folder: Path) -> None:
    """The folder for results, or a sentence on why it cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"cannot write to {folder}: {error.strerror}."
        raise typer.BadParameter(message, param_hint="--output") from error
