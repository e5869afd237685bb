"""`geco fit`: from a file of ratings to a model file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path, PurePath
from typing import Annotated, Any, Literal, NamedTuple

import typer

from pygeco.cli.console import EngineError, Voice, told, writing
from pygeco.cli.options import Item, Json, Missing, Overwrite, Rating, User
from pygeco.cli.outputs import check_apart, check_output
from pygeco.cli.parsing import (
    Cluster,
    cluster_of,
    engine_of,
    marks_of,
    penalty_of,
    rank_of,
    seconds,
)
from pygeco.cli.reading import drop_marked

Loss = Literal[
    "squared",
    "huber",
    "pseudo-huber",
    "log-cosh",
    "absolute",
    "quantile",
    "logistic",
    "smoothed-hinge",
    "poisson",
    "ordinal",
]


class Ratings(NamedTuple):
    """What to fit, what to predict, and what was found, in words."""

    fitted: Any
    held: Any
    found: str
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class Plan:
    """What was asked for."""

    ratings: str
    output: Path
    columns: dict[str, str | None]
    holdout: float | None
    test: Path | None
    limit: float | None
    resume: bool
    restart: bool
    seed: int
    settings: dict[str, Any]
    cluster: Cluster | None = None
    matrix: bool = False
    overwrite: bool = False

    @property
    def name(self) -> str:
        """The name of the file or the folder, as sentences call it."""
        return PurePath(self.ratings).name

    @property
    def checkpoint(self) -> Path:
        return self.output.with_name(self.output.name + ".checkpoint")


def fit(
    ratings: Annotated[
        str,
        typer.Argument(
            help="CSV, TSV, '::'-separated, Parquet, Arrow, JSON lines or Matrix Market, also "
            "compressed; - is standard input. With --engine dask also a folder of Parquet files, "
            "here or at an address such as s3://bucket/folder."
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The model file to write.")],
    user: User = None,
    item: Item = None,
    rating: Rating = None,
    missing: Missing = None,
    matrix: Annotated[
        bool, typer.Option("--matrix", help="The file is a matrix: a row a user, a column an item.")
    ] = False,
    rank: Annotated[
        str, typer.Option(help="The highest rank, which the model keeps to, or auto.")
    ] = "auto",
    loss: Annotated[Loss, typer.Option(help="What is minimized.")] = "squared",
    penalty: Annotated[
        str, typer.Option(help="auto, evidence, none, ridge:ALPHA or trace:ALPHA.")
    ] = "auto",
    posterior: Annotated[
        int,
        typer.Option(
            min=0,
            help="Average this many posterior draws; 30 err less. With --rank auto their mean has "
            "a higher rank than the evidence chose; both are said.",
        ),
    ] = 0,
    holdout: Annotated[
        float | None,
        typer.Option(min=0.0, max=0.9, help="Share of the ratings to hold out and predict."),
    ] = None,
    test: Annotated[Path | None, typer.Option(help="File of ratings to predict instead.")] = None,
    duplicates: Annotated[
        Literal["error", "mean", "sum", "last"],
        typer.Option(help="What to do with a pair of user and item that is given twice."),
    ] = "error",
    engine: Annotated[
        Literal["cpu", "cuda", "dask"], typer.Option(help="Where to compute.")
    ] = "cpu",
    scheduler: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler, such as tcp://host:8786.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Dask workers to start on this machine; one a core.")
    ] = None,
    time_limit: Annotated[
        str | None, typer.Option(help="Stop after this time: 90, 90s, 10m or 1h.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue a fit that was interrupted.")
    ] = False,
    restart: Annotated[
        bool, typer.Option("--restart", help="Drop a fit that was interrupted, and start anew.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the fit and of the split.")] = 0,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> None:
    """Fit a model to a file of ratings and write it to a model file.

    While it runs, MODEL.checkpoint keeps its state; --resume continues from it, to the same bits.
    """
    with told("fit", "interrupted; the same command with --resume continues."):
        if resume and restart:
            raise ValueError("--restart: cannot be given together with --resume; choose one.")
        if holdout and test is not None:
            raise ValueError("--holdout: cannot be given together with --test; choose one.")
        settings = {
            "rank": rank_of(rank),
            "loss": loss,
            "penalty": penalty_of(penalty),
            "biases": True,  # ratings have a level, with or without the evidence
            "posterior": posterior,
            "duplicates": duplicates,
            "missing_values": marks_of(missing),
            "random_state": seed,
        } | engine_of(engine)
        columns = {"user": user, "item": item, "rating": rating}
        limit = None if time_limit is None else seconds(time_limit)
        cluster = cluster_of(engine, scheduler, workers)
        if matrix and cluster is not None:
            raise ValueError("--matrix: is read on this machine; leave --engine dask out.")
        plan = Plan(
            *(ratings, output, columns, holdout, test, limit, resume, restart),
            *(seed, settings, cluster),
            matrix=matrix,
            overwrite=overwrite,
        )
        _run(plan, Voice(as_json))


def _run(plan: Plan, voice: Voice) -> None:
    from pygeco.cli.watching import Watch
    from pygeco.estimators import MatrixCompletion

    inputs = plan.ratings, plan.test
    check_output(plan.output, *inputs, kind="a model", overwrite=plan.overwrite)
    check_apart(plan.checkpoint, *inputs)
    with _started(plan, voice) as client:
        parts = client is not None and _in_parts(plan.ratings)
        ratings = _read_parts(plan, voice, client) if parts else _read(plan, voice)
        voice.note(ratings.found)
        held = ratings.held if plan.test is None else _read_test(plan, voice, ratings.fitted)
        model = MatrixCompletion(**plan.settings)
        continues = _prepare_checkpoint(plan, voice)
        shown = held if client is None else None
        with writing(plan.checkpoint), Watch(voice, model, shown, plan.limit) as watch:
            try:
                model.set_params(observer=watch).fit(ratings.fitted, checkpoint=plan.checkpoint)
            except ValueError:
                if not continues:  # nothing was begun, so nothing is to be continued
                    plan.checkpoint.unlink(missing_ok=True)
                raise
        model.set_params(observer=None)
        model.file_columns_ = ratings.columns or None
        if plan.test is None and held is not None:
            model.keep_held_out(held)
        with writing(plan.output):
            model.save(plan.output)
        if not watch.out_of_time:
            plan.checkpoint.unlink(missing_ok=True)
        _summary(plan, voice, model, held, ratings.found, watch.late)


@contextmanager
def _started(plan: Plan, voice: Voice) -> Iterator[Any]:
    """A client of the cluster, where one does the work."""
    if plan.cluster is None:
        yield None
        return
    from pygeco.engines.dask.cluster import start_cluster
    from pygeco.errors import ClusterError

    if "://" not in plan.ratings and not Path(plan.ratings).exists():
        raise FileNotFoundError(2, "No such file or directory", plan.ratings)
    try:
        with ExitStack() as stack:
            with voice.busy("looking for the workers"):
                client = stack.enter_context(start_cluster(*plan.cluster))
            drawn = f"; dashboard: {client.dashboard_link}" if find_spec("bokeh") else ""
            voice.note(f"{len(client.nthreads())} workers{drawn}.")
            yield client
    except ClusterError as error:
        raise EngineError(f"--{error}") from error


def _in_parts(ratings: str) -> bool:
    """Whether the workers read it: a folder, an address, or a Parquet file."""
    path = Path(ratings)
    if "://" in ratings or path.is_dir():
        return True
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"PAR1"


def _read(plan: Plan, voice: Voice) -> Ratings:
    from pygeco.data.split import split_cells
    from pygeco.io.ratings import read_columns, read_matrix

    with voice.progress(f"reading {plan.name}") as bar:
        read = read_matrix if plan.matrix else read_columns
        reading = read(plan.ratings, dict(plan.columns), bar)
    table, found = drop_marked(reading, plan.settings["missing_values"])
    if not plan.holdout:
        return Ratings(table, None, found, reading.columns)
    out = split_cells(table.num_rows, plan.holdout, plan.seed)
    return Ratings(table.filter(~out), table.filter(out), found, reading.columns)


def _read_parts(plan: Plan, voice: Voice, client: Any) -> Ratings:
    """Parquet files, by the workers."""
    from pygeco.io.partitioned import read_partitioned

    with voice.progress(f"reading {plan.name}") as bar:
        found = read_partitioned(
            plan.ratings,
            client,
            columns=list(plan.columns.values()),
            duplicates=plan.settings["duplicates"],
            holdout=(plan.holdout, plan.seed) if plan.holdout else None,
            missing_values=plan.settings["missing_values"],
            progress=bar,
        )
    return Ratings(found, found.held, found.found, found.names)


def _read_test(plan: Plan, voice: Voice, fitted: Any) -> Any:
    """The ratings to predict, their ids of the kind of those that are fitted."""
    from pygeco.io.ratings import read_columns

    assert plan.test is not None
    kinds = {field.name: str(field.type) for field in getattr(fitted, "schema", ())}
    texts = [role for role in ("user", "item") if kinds.get(role) == "string"]
    with voice.progress(f"reading {plan.test.name}") as bar:
        reading = read_columns(str(plan.test), dict(plan.columns), bar, texts=texts)
    table, found = drop_marked(reading, plan.settings["missing_values"])
    voice.note(found)
    return table


def _prepare_checkpoint(plan: Plan, voice: Voice) -> bool:
    """Whether there is a fit to continue; one that nobody asked to continue is left alone."""
    if plan.restart:
        plan.checkpoint.unlink(missing_ok=True)
    there = plan.checkpoint.exists()
    if plan.resume:
        found = "continuing from" if there else "nothing to continue: there is no"
        voice.note(f"{found} {plan.checkpoint}.")
    elif there:
        raise ValueError(
            f"--resume: {plan.checkpoint} holds a fit that was interrupted or is still running; "
            "continue it with --resume, drop it with --restart, or choose another output with -o."
        )
    return there


def _summary(plan: Plan, voice: Voice, model: Any, held: Any, found: str, late: str) -> None:
    m, n = model.factors_.shape
    cells = len(model.seen_.values)
    why = late or model.stop_reason_.advice
    values: dict[str, Any] = {
        "model": str(plan.output),
        "read": found,
        "users": m,
        "items": n,
        "ratings": cells,
        "rank": model.rank_,
        "stop": why,
        "seconds": model.path_[-1].seconds if len(model.path_) else 0.0,
        "path": [
            {"rank": s.rank, "objective": s.objective, "gap": s.gap, "seconds": s.seconds}
            for s in model.path_
        ],
    }
    lines = [] if voice.live else [found]
    lines.append(f"rank {model.rank_} from {cells:,} ratings of {n:,} items by {m:,} users.")
    if model.average_ is not None:
        drawn, chosen = model.average_.sweeps, model.posterior_.rank
        values |= {"evidence_rank": chosen, "draws": drawn}
        lines.append(
            f"the evidence has rank {chosen}; predictions are the mean of {drawn} posterior draws, "
            f"which takes rank {model.rank_}."
        )
    lines.append(f"stopped: {why}.")
    if held is not None:
        judged, said = _judge_held_out(plan, voice, model, held)
        values["held_out"] = judged
        lines += said
    else:
        voice.note("no held-out error: --holdout 0.1 would measure one.")
    lines.append(f"model: {plan.output}")
    voice.result(values, "\n".join(lines))


def _judge_held_out(
    plan: Plan, voice: Voice, model: Any, held: Any
) -> tuple[dict[str, Any] | None, list[str]]:
    """The error on ratings that were not fitted, for machines and in words."""
    from pygeco.estimators.evaluation import evaluate

    try:
        with voice.progress("predicting what was held out") as bar:
            e = evaluate(model, held, k=10, progress=bar)
    except ValueError as error:  # the model is fitted and written: no reason to fail now
        return None, [f"no held-out error: {error}"]
    lines = [
        f"held-out RMSE {e.errors.rmse:.4f} (95% interval {e.errors.low:.4f} to "
        f"{e.errors.high:.4f}) over {e.errors.cells:,} ratings"
        + (f", {e.unknown:,} of them with a new user or item" if e.unknown else "")
        + (f"; {e.fitted:,} others were fitted and are left out." if e.fitted else ".")
    ]
    if plan.test is None:
        lines.append(
            f"the {plan.holdout:.0%} held out are not part of the fit; geco recommend leaves them "
            "out, too. A fit without --holdout learns from all ratings."
        )
    found = e.errors._asdict() | {"coverage": e.coverage, "unknown": e.unknown, "fitted": e.fitted}
    return found, lines
