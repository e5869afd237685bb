"""`geco reproduce`: the paper's experiments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from pygeco.cli.console import Voice, check_folder, explain_write_errors, report_errors


def reproduce(
    more: Annotated[
        list[str] | None, typer.Argument(metavar="SETS", help="The same, without the option.")
    ] = None,
    datasets: Annotated[
        list[str] | None,
        typer.Option(
            help="ml-100k, ml-1m, ml-10m; by default the first two, and 10M if it is here."
        ),
    ] = None,
    seeds: Annotated[
        int, typer.Option(min=1, help="Seeds from which GECO and JS are run, for their spread.")
    ] = 3,
    theory: Annotated[
        bool, typer.Option("--theory", help="Measure the theorems instead, or with --datasets too.")
    ] = False,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the results.")] = Path(
        "geco-reproduce"
    ),
) -> None:
    """Run the paper's experiment again: figure, numbers, and which of its claims hold.

    Ratings come from PYGECO_DATA, from the cache, or from GroupLens. Runs that are in the folder
    already are not repeated: an interrupted command goes on, another folder starts afresh.
    """
    with report_errors("reproduce", "interrupted; the same command goes on from here."):
        voice, given = Voice(), [*(datasets or []), *(more or [])]
        chosen = _fetch_sets(given, voice) if given or not theory else []
        check_folder(output)
        output.mkdir(parents=True, exist_ok=True)
        if chosen:
            _figure(output, chosen, seeds, voice)
        if theory:
            _theorems(output, voice)


def _fetch_sets(given: list[str], voice: Voice) -> list[str]:
    """The sets to run, all on this machine by now; one that cannot be had is told at once."""
    from pygeco.data import archives
    from pygeco.errors import ReadError
    from pygeco.experiments.tasks import DATASETS

    unknown = sorted(set(given) - set(DATASETS))
    if unknown:
        raise ValueError(
            f"--datasets: unknown {', '.join(unknown)}; use some of {', '.join(DATASETS)}."
        )
    chosen = [name for name in DATASETS if name in given] or list(DATASETS[:2])
    try:
        for name in chosen:
            with voice.busy(f"looking for {name}"):
                archives.get_folder(name)
    except OSError as error:
        raise ReadError(str(error)) from error
    return chosen if given or not archives.find_folder("ml-10m") else [*chosen, "ml-10m"]


def _figure(output: Path, datasets: list[str], seeds: int, voice: Voice) -> None:
    """Every method on every split, then what is made of them, in `output`."""
    from pygeco.experiments import figure1, reproduction

    def shown(curve: figure1.Curve) -> str:
        best = curve.best
        return f"least test RMSE {best.test:.4f} at rank {best.rank}, {curve.seconds:.1f} s"

    jobs = figure1.planned(datasets, seeds)
    curves = _watch(voice, jobs, lambda job: figure1.curve(job, output), shown)
    print()
    with explain_write_errors(output):
        verdicts = reproduction.publish(curves, output)
    for verdict in verdicts:
        print(f"{verdict.claim}, {verdict.data}: {verdict.words} ({verdict.numbers})")
    print(f"\nThe account is {output / 'account.md'}, the numbers are beside it.")
    _picture(output / "figure1.png")


def _theorems(output: Path, voice: Voice) -> None:
    """Gaps for every τ, and the cells that completion needs for every side."""
    from pygeco.experiments import theory

    bounds = _watch(
        voice,
        theory.TAUS,
        theory.gaps,
        lambda found: f"gap {found[-1].measured:.3g} at rank {found[-1].rank}",
        name="Theorems 1 and 2, τ = {:g}",
    )
    cells = _watch(
        voice,
        theory.SIDES,
        theory.needed,
        lambda found: f"{found.cells:.0f} cells suffice",
        name="Corollary 1, n = {}",
    )
    with explain_write_errors(output):
        said = theory.publish([gap for found in bounds for gap in found], cells, output)
    print(f"\n{said}\nThe numbers are {output / 'theory.csv'}.")
    _picture(output / "theory.png")


def _picture(file: Path) -> None:
    if file.is_file():
        print(f"picture: {file}")
    else:
        print("no picture: it needs an extra; run: pip install 'pygeco[plot]'.")


def _watch(
    voice: Voice,
    jobs: Sequence[Any],
    work: Callable[[Any], Any],
    shown: Callable[[Any], str],
    name: str = "{}",
) -> list[Any]:
    """The results of all jobs, with a bar while they run and a line for each."""
    results: list[Any] = []
    with voice.progress(f"{len(jobs)} runs") as tell:
        for job in jobs:
            tell(len(results) / len(jobs))
            results.append(work(job))
            print(f"{name.format(job)}: {shown(results[-1])}", flush=True)
    return results
