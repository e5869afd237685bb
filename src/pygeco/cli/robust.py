"""`geco robust`: a matrix, a table, a video or a folder of images = low rank + outliers."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, BinaryIO, NamedTuple

import typer

from pygeco.cli.console import Voice, check_folder, explain_write_errors, report_errors
from pygeco.cli.impute_numbers import tell_number_names
from pygeco.cli.options import Json
from pygeco.cli.outputs import check_apart

Write = Callable[[BinaryIO], None]
FILM_RANK = 3  # a still scene and changing light; the data would support what moves, too


class Given(NamedTuple):
    """What was read: cells (samples in rows), and the picture of a row where it is one."""

    X: Any
    kind: str
    shape: tuple[int, int] | None = None
    source: Any = None


def robust(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="npy, npz, mtx; csv, tsv or Parquet, also compressed; a video; or a folder of "
            "images.",
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the results.")],
    rank: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="The rank, location apart; by default what the data support, and 3 for films.",
            show_default=False,
        ),
    ] = None,
    cutoff: Annotated[
        float,
        typer.Option(min=0.1, help="An outlier is off by this many deviations of its column."),
    ] = 3.5,
    threshold: Annotated[
        float | None,
        typer.Option(help="An outlier is off by more than this, in the units of the data."),
    ] = None,
    engine: Annotated[str, typer.Option(help="Where passes run: cpu or cuda.")] = "cpu",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the start vectors.")] = 0,
    as_json: Json = False,
) -> None:
    """Split data into a low-rank part and outliers; missing cells are allowed.

    Writes the factors, the outliers, the low-rank part in the form of the input, and a picture.
    """
    with report_errors("robust"):
        settings = {"cutoff": cutoff, "engine": engine, "random_state": seed}
        if threshold is not None:
            settings["threshold"] = threshold
        _run(source, output, rank, settings, Voice(as_json))


def _run(
    source: Path, output: Path, rank: int | None, settings: dict[str, Any], voice: Voice
) -> None:
    import numpy as np

    from pygeco.estimators import RobustPCA
    from pygeco.io.table_columns import has_number_names

    began = time.perf_counter()
    check_folder(output)
    with voice.progress(f"reading {source.name}") as progress:
        given = _read(source, progress)
    model = RobustPCA(_choose_rank(given) if rank is None else rank, **settings)
    size = f"{given.X.shape[0]:,} × {given.X.shape[1]:,}"
    with voice.busy(f"splitting {size} cells"), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(given.X).to("cpu")
    with voice.progress("writing") as progress:
        written = _write(source, output, _results(model, given), progress)
    is_table = given.kind == "table"
    values = {
        "kind": given.kind,
        "numbers_as_names": is_table and has_number_names(given.source.whole),
        "other_columns": given.source.others if is_table else [],
        "rows": given.X.shape[0],
        "columns": given.X.shape[1],
        "rank": model.n_components_,
        "noise": model.scale_,
        "threshold": float(np.median(model.threshold_)),
        "threshold_range": [float(np.min(model.threshold_)), float(np.max(model.threshold_))],
        "outliers": int(model.outliers_.nnz),
        "sweeps": model.n_iter_,
        "seconds": round(time.perf_counter() - began, 3),
        "warnings": sorted({str(one.message) for one in caught}),
        "written": [str(path) for path in written],
    }
    voice.result(values, "\n".join(_lines(values, output)))


def _choose_rank(given: Given) -> int | str:
    if given.shape is None:
        return "auto"
    return min(FILM_RANK, *given.X.shape)


def _write(
    source: Path, output: Path, results: dict[str, Write], progress: Callable[[float], object]
) -> list[Path]:
    from pygeco.arrays.whole_file import whole_file

    for name in results:
        check_apart(output / name, source)
    written: list[Path] = []
    for name, write in results.items():
        path = output / name
        with explain_write_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(path) as file:
                write(file)
        written.append(path)
        progress(len(written) / len(results))
    return written


def _read(source: Path, progress: Callable[[float], object]) -> Given:
    from pygeco.errors import ReadError
    from pygeco.io.matrices import ARRAYS, TABLES, read_array, read_table
    from pygeco.io.pictures import VIDEOS, read_film
    from pygeco.io.sources import take_ending
    from pygeco.io.table_columns import counts_rows

    kind = source.suffix.lower()
    if source.is_dir() or kind in VIDEOS:
        film = read_film(source, progress)
        return Given(film.pixels, "images" if source.is_dir() else "video", film.shape, film)
    if take_ending(source) in TABLES:
        table = read_table(source)
        if table.inexact:
            raise ReadError(
                f"{source}: column {table.inexact[0]!r} holds whole numbers beyond 2⁵³, which lose "
                "their last digits as floats; divide them, or leave the column out of the file."
            )
        kept = [k for k in range(len(table.names)) if not counts_rows(table.values[:, k])]
        table = table.take(kept or range(len(table.names)))
        return Given(table.values, "table", None, table)
    if kind not in ARRAYS:
        source.stat()  # a file that is not there is told as such
        known = ", ".join((*ARRAYS, *TABLES, *VIDEOS))
        raise ValueError(f"{source}: expected a folder of images or a file ending in {known}.")
    array = read_array(source)
    if array.ndim == 2:
        return Given(array, "matrix")
    return Given(array.reshape(len(array), -1), "matrix", array.shape[1:])


def _results(model: Any, given: Given) -> dict[str, Write]:
    """What to write, by name."""
    import numpy as np
    import scipy.sparse as sp

    low = model.low_rank_
    results: dict[str, Write] = {
        "factors.npz": lambda file: np.savez(file, U=low.U, s=low.s, V=low.V),
        "outliers.npz": lambda file: sp.save_npz(file, model.outliers_.tocsr()),
    }
    if given.kind == "matrix":
        results["low_rank.npy"] = lambda file: np.save(file, low.to_dense())
    elif given.kind == "table":
        results |= _tables(model, given)
    else:
        results |= _films(model, given)
    picture = _picture(model, given)
    return results if picture is None else results | {"picture.png": picture}


def _tables(model: Any, given: Given) -> dict[str, Write]:
    """The low-rank part as a table like the one given, and a list of the outliers."""
    import pyarrow as pa

    from pygeco.io.matrices import write_table

    low, table = model.low_rank_, given.source
    rows, cols = model.outliers_.tocoo().coords
    listed = pa.table(
        {
            "row": rows + 1,
            "column": [table.names[k] for k in cols],
            "value": given.X[rows, cols],
            "expected": low.entries(rows, cols),
        }
    )
    whole = table.with_values(low.to_dense())
    return {
        "low_rank.csv": lambda file: write_table(file, whole, Path("x.csv"), table.named),
        "outliers.csv": lambda file: write_table(file, listed, Path("x.csv")),
    }


def _films(model: Any, given: Given) -> dict[str, Write]:
    """The background, and what moves before it in white on black: a video, or images."""
    import numpy as np

    from pygeco.io.pictures import write_image, write_video

    low, moved = model.low_rank_, model.outliers_.tocsr()
    left = low.U * low.s

    def background(t: int) -> Any:
        return np.clip(np.rint(left[t] @ low.V.T), 0, 255).astype(np.uint8).reshape(given.shape)

    def foreground(t: int) -> Any:
        strong = 2 * np.abs(moved[[t]].toarray()[0])
        return np.clip(strong, 0, 255).astype(np.uint8).reshape(given.shape)

    names, rate = given.source.names, given.source.rate
    parts = {"low_rank": background, "outliers": foreground}

    def image(folder: str, t: int) -> Write:
        return lambda file: write_image(file, parts[folder](t))

    def video(name: str) -> Write:
        return lambda file: write_video(file, map(parts[name], range(len(names))), rate)

    if given.kind == "video":
        return {f"{name}.mp4": video(name) for name in parts}
    return {
        f"{folder}/{Path(name).stem}.png": image(folder, t)
        for folder in parts
        for t, name in enumerate(names)
    }


def _picture(model: Any, given: Given) -> Write | None:
    """Frames, or the matrix itself, with both parts beside it; none without matplotlib."""
    try:
        import matplotlib as mpl
    except ModuleNotFoundError:
        return None
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    from pygeco import plot

    if given.shape is None:
        axes = plot.parts(model, given.X)
    else:
        axes = plot.frames(model, given.X, given.shape)
    figure = axes.flat[0].figure
    plt.close(figure)  # it still draws; pyplot lets go of it
    return lambda file: figure.savefig(file, dpi=120, format="png")


def _lines(found: dict[str, Any], output: Path) -> list[str]:
    cells = found["rows"] * found["columns"]
    what = {"video": "frames × pixels", "images": "images × pixels"}.get(found["kind"], "cells")
    least, most = found["threshold_range"]
    ends = "" if least == most else f" (the median column; {least:.4g} to {most:.4g})"
    others = found["other_columns"]
    shown = sorted({Path(name).relative_to(output).parts[0] for name in found["written"]})
    return [
        f"{found['rows']:,} × {found['columns']:,} {what}: rank {found['rank']}, "
        f"{found['sweeps']} sweeps, noise {found['noise']:.4g}.",
        f"{found['outliers']:,} outliers ({found['outliers'] / cells:.2%} of the cells), off by "
        f"more than {found['threshold']:.4g}{ends}.",
        *([f"left as they are: {', '.join(map(repr, others))}."] if others else []),
        *found["warnings"],
        *tell_number_names(found),
        f"written to {output}: {', '.join(shown)} ({found['seconds']} s)",
    ]
