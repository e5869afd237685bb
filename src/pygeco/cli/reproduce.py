"""`geco reproduce`: the paper's experiments, with a progress bar."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from pygeco.data import archives
from pygeco.experiments import figure1, reproduction, theory
from pygeco.experiments.tasks import DATASETS


def checked(given: list[str]) -> list[str]:
    """The sets to run, all on this machine by now; one that cannot be had is told at once."""
    unknown = sorted(set(given) - set(DATASETS))
    if unknown:
        message = f"unknown {', '.join(unknown)}; use some of {', '.join(DATASETS)}."
        raise typer.BadParameter(message, param_hint="--datasets")
    chosen = [name for name in DATASETS if name in given] or [*DATASETS[:2], *_large()]
    for name in chosen:
        try:
            archives.folder_of(name)
        except OSError as error:
            raise typer.BadParameter(str(error), param_hint="--datasets") from error
    return chosen


def _large() -> list[str]:
    """MovieLens-10M, where its files are on this machine already."""
    try:
        archives.folder_of("ml-10m", download=False)
    except FileNotFoundError:
        return []
    return ["ml-10m"]


def figure(output: Path, datasets: list[str]) -> None:
    """Every method on every split, then what is made of them, in `output`."""
    console = Console()
    jobs = figure1.planned(datasets)

    def shown(curve: figure1.Curve) -> str:
        best = curve.best
        return f"least test RMSE {best.test:.4f} at rank {best.rank}, {curve.seconds:.1f} s"

    curves = watched(console, jobs, lambda job: figure1.curve(job, output), shown)
    console.print()
    for verdict in reproduction.publish(curves, output):
        mark = "[green]holds[/]" if verdict.holds else "[red]does not hold[/]"
        console.print(f"{verdict.claim}, {verdict.data}: {mark} ({verdict.numbers})")
    console.print(
        f"\nThe account is in {output / 'account.md'}, beside the figure and the numbers."
    )


def theorems(output: Path) -> None:
    """Gaps for every τ, and the cells that completion needs for every side."""
    console = Console()
    bounds = watched(
        console,
        theory.TAUS,
        theory.gaps,
        lambda found: f"gap {found[-1].measured:.3g} at rank {found[-1].rank}",
        name="Theorems 1 and 2, τ = {:g}",
    )
    cells = watched(
        console,
        theory.SIDES,
        theory.needed,
        lambda found: f"{found.cells:.0f} cells suffice",
        name="Corollary 1, n = {}",
    )
    said = theory.publish([gap for found in bounds for gap in found], cells, output)
    console.print(f"\n{said}\nThe figure and the numbers are in {output}.", highlight=False)


def watched(
    console: Console,
    jobs: Iterable[Any],
    work: Callable[[Any], Any],
    shown: Callable[[Any], str],
    name: str = "{}",
) -> list[Any]:
    """The results of all jobs, with a bar while they run and a line for each."""
    jobs, results = list(jobs), []
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as progress:
        bar = progress.add_task("", total=len(jobs))
        for job in jobs:
            progress.update(bar, description=name.format(job))
            results.append(work(job))
            progress.advance(bar)
            console.print(f"{name.format(job)}: {shown(results[-1])}", highlight=False)
    return results
