"""`geco fit`: from a file of ratings to a model file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from pygeco.cli.console import EngineError, Voice, check_output, told, writing
from pygeco.cli.options import Item, Json, Rating, User

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


@dataclass(frozen=True)
class Plan:
    """What was asked for."""

    ratings: Path
    output: Path
    columns: dict[str, str | None]
    holdout: float | None
    test: Path | None
    limit: float | None
    resume: bool
    seed: int
    settings: dict[str, Any]

    @property
    def checkpoint(self) -> Path:
        return self.output.with_name(self.output.name + ".checkpoint")


def fit(
    ratings: Annotated[
        Path,
        typer.Argument(
            help="CSV, TSV, '::'-separated, Parquet, Arrow, JSON lines or Matrix Market, also "
            "compressed; - is standard input."
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The model file to write.")],
    user: User = None,
    item: Item = None,
    rating: Rating = None,
    rank: Annotated[str, typer.Option(help="The highest rank, or auto.")] = "auto",
    loss: Annotated[Loss, typer.Option(help="What is minimised.")] = "squared",
    penalty: Annotated[
        str, typer.Option(help="auto, evidence, none, ridge:ALPHA or trace:ALPHA.")
    ] = "auto",
    posterior: Annotated[
        int, typer.Option(min=0, help="Average this many posterior draws; 30 err less.")
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
    time_limit: Annotated[
        str | None, typer.Option(help="Stop after this time: 90, 90s, 10m or 1h.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue a fit that was interrupted.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the fit and of the split.")] = 0,
    as_json: Json = False,
) -> None:
    """Fit a model to a file of ratings and write it to a model file.

    While it runs, MODEL.checkpoint keeps its state; --resume continues from it, to the same bits.
    """
    with told("fit", "interrupted; the same command with --resume continues."):
        if holdout and test is not None:
            raise ValueError("--holdout: cannot be given together with --test; choose one.")
        settings = {
            "rank": _rank(rank),
            "loss": loss,
            "penalty": _penalty(penalty),
            "biases": True,  # ratings have a level, with or without the evidence
            "posterior": posterior,
            "duplicates": duplicates,
            "random_state": seed,
        } | _engine(engine)
        columns = {"user": user, "item": item, "rating": rating}
        limit = None if time_limit is None else seconds(time_limit)
        plan = Plan(ratings, output, columns, holdout, test, limit, resume, seed, settings)
        _run(plan, Voice(as_json))


def _run(plan: Plan, voice: Voice) -> None:
    from pygeco.cli.watching import Watch
    from pygeco.data.files import read_columns
    from pygeco.data.split import split_cells
    from pygeco.estimators import MatrixCompletion

    check_output(plan.output)
    with voice.progress(f"reading {plan.ratings.name}") as bar:
        reading = read_columns(str(plan.ratings), dict(plan.columns), bar)
    voice.note(reading.found)
    table, held = reading.table, None
    if plan.holdout:
        out = split_cells(table.num_rows, plan.holdout, plan.seed)
        table, held = table.filter(~out), table.filter(out)
    elif plan.test is not None:
        with voice.progress(f"reading {plan.test.name}") as bar:
            again = read_columns(str(plan.test), dict(plan.columns), bar)
        voice.note(again.found)
        held = again.table
    model = MatrixCompletion(**plan.settings)
    _prepare_checkpoint(plan, voice)
    with writing(plan.checkpoint), Watch(voice, model, held, plan.limit) as watch:
        try:
            model.set_params(callback=watch).fit(table, checkpoint=plan.checkpoint)
        except ValueError:
            if not plan.resume:
                plan.checkpoint.unlink(missing_ok=True)
            raise
    model.set_params(callback=None)
    with writing(plan.output):
        model.save(plan.output)
    if not watch.out_of_time:
        plan.checkpoint.unlink(missing_ok=True)
    _summary(plan, voice, model, held, reading.found, watch.out_of_time)


def _prepare_checkpoint(plan: Plan, voice: Voice) -> None:
    there = plan.checkpoint.exists()
    if plan.resume:
        found = "continuing from" if there else "nothing to continue: there is no"
        voice.note(f"{found} {plan.checkpoint}.")
    elif there:
        voice.note(f"starting anew; --resume would have continued from {plan.checkpoint}.")
        plan.checkpoint.unlink()


def _summary(
    plan: Plan, voice: Voice, model: Any, held: Any, found: str, out_of_time: bool
) -> None:
    from pygeco.estimators.evaluation import evaluate

    m, n = model.factors_.shape
    cells = len(model.seen_.values)
    why = (
        "the time limit is reached; --resume continues"
        if out_of_time
        else model.stop_reason_.advice
    )
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
    lines.append(f"stopped: {why}.")
    if held is not None:
        with voice.progress("predicting what was held out") as bar:
            e = evaluate(model, held, k=10, progress=bar)
        values["held_out"] = e.errors._asdict() | {"coverage": e.coverage, "unknown": e.unknown}
        lines.append(
            f"held-out RMSE {e.errors.rmse:.4f} (95% interval {e.errors.low:.4f} to "
            f"{e.errors.high:.4f}) over {e.errors.cells:,} ratings"
            + (f", {e.unknown:,} of them with a new user or item." if e.unknown else ".")
        )
    else:
        voice.note("no held-out error: --holdout 0.1 would measure one.")
    lines.append(f"model: {plan.output}")
    voice.result(values, "\n".join(lines))


def _rank(text: str) -> int | str:
    if text == "auto":
        return text
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"--rank: expected auto or a whole number of at least 1, not {text!r}.")
    return int(text)


def _penalty(text: str) -> Any:
    from pygeco import Ridge, Trace

    kind, _, alpha = text.partition(":")
    if kind in ("auto", "evidence") and not alpha:
        return kind
    if kind == "none" and not alpha:
        return None
    try:
        if kind == "ridge":
            return Ridge(float(alpha))
        if kind == "trace":
            return Trace(float(alpha))
    except ValueError:
        pass
    raise ValueError(
        f"--penalty: expected auto, evidence, none, ridge:ALPHA or trace:ALPHA, not {text!r}."
    )


def _engine(name: str) -> dict[str, Any]:
    """Settings for the engine; a sentence where it cannot be had."""
    from pygeco.engines import chosen

    if name == "cpu":
        return {}
    try:
        chosen(name)
    except ValueError:
        raise EngineError(f"--engine: this version has no {name}; use --engine cpu.") from None
    except (ImportError, RuntimeError) as error:
        why = str(error).rstrip(".")
        raise EngineError(
            f"--engine: {name} cannot be used here ({why}); use --engine cpu."
        ) from error
    return {"engine": name}


def seconds(text: str) -> float:
    """90, 90s, 10m and 1h as seconds."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text.strip())
    if not found or float(found[1]) <= 0:
        raise ValueError(f"--time-limit: expected a time such as 90s, 10m or 1h, not {text!r}.")
    return float(found[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[found[2]]
