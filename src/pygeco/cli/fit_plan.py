"""What `geco fit` is asked for: its options, and the plan that they make."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Annotated, Any, Literal

import typer

from pygeco.cli.attributes import OPTIONS
from pygeco.cli.cluster import Cluster
from pygeco.cli.parsing import parse_engine, parse_penalty, parse_rank, read_marks

RatingsFile = Annotated[
    str,
    typer.Argument(
        help="CSV, TSV, '::'-separated, Parquet, Arrow, JSON or Matrix Market, also "
        "compressed; - is standard input. A folder of Parquet files, too; with --engine dask "
        "also at an address such as s3://bucket/folder."
    ),
]
Output = Annotated[Path, typer.Option("--output", "-o", help="The model file to write.")]
Matrix = Annotated[
    bool, typer.Option("--matrix", help="The file is a matrix: a row a user, a column an item.")
]
Implicit = Annotated[
    bool | None,
    typer.Option(
        "--implicit/--explicit",
        help="Whether these are clicks, plays or purchases, or ratings. By default the file tells: "
        "pairs, lists, counts and ratings that are all equal are clicks.",
    ),
]
Rank = Annotated[str, typer.Option(help="The highest rank, which the model keeps to, or auto.")]
Loss = Annotated[
    Literal[
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
    ],
    typer.Option(help="What is minimized."),
]
Penalty = Annotated[str, typer.Option(help="auto, evidence, none, ridge:ALPHA or trace:ALPHA.")]
Posterior = Annotated[
    int,
    typer.Option(
        min=0,
        help="Average this many posterior draws; 30 err less. With --rank auto their mean has "
        "a higher rank than the evidence chose; both are said.",
    ),
]
Users = Annotated[
    Path | None,
    typer.Option(
        "--users",
        help="Table of what is known of users (age, occupation, …), with a column of their ids: "
        "CSV, TSV, '::'-separated, Parquet or Arrow. MovieLens' own files are recognized.",
    ),
]
Items = Annotated[
    Path | None,
    typer.Option("--items", help="The same of items (genres, year, …), such as movies.dat."),
]
Pattern = Annotated[
    Literal["auto", "yes", "no", "row", "column"],
    typer.Option(
        help="Whether it counts which items a user rated, beside how: auto keeps it where the "
        "evidence does; row is for users alone, column for items alone."
    ),
]
NoTime = Annotated[bool, typer.Option("--no-time", help="Leave out when ratings were given.")]
Holdout = Annotated[
    float | None,
    typer.Option(min=0.0, max=0.9, help="Share of the ratings to hold out and predict."),
]
Test = Annotated[Path | None, typer.Option(help="File of ratings to predict instead.")]
Duplicates = Annotated[
    Literal["error", "mean", "sum", "last"],
    typer.Option(help="What to do with a pair of user and item that is given twice."),
]
Engine = Annotated[Literal["cpu", "cuda", "dask"], typer.Option(help="Where to compute.")]
Scheduler = Annotated[
    str | None, typer.Option(help="Address of a Dask scheduler, such as tcp://host:8786.")
]
Workers = Annotated[
    int | None, typer.Option(min=1, help="Dask workers to start on this machine; one a core.")
]
TimeLimit = Annotated[str | None, typer.Option(help="Stop after this time: 90, 90s, 10m or 1h.")]
Resume = Annotated[bool, typer.Option("--resume", help="Continue a fit that was interrupted.")]
Restart = Annotated[
    bool, typer.Option("--restart", help="Drop a fit that was interrupted, and start anew.")
]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the fit and of the split.")]

# Options that clicks do not have, the setting of each and its default.
FOR_RATINGS = (
    ("--loss", ("loss", "squared")),
    ("--penalty", ("penalty", "auto")),
    ("--posterior", ("posterior", 0)),
    ("--pattern", ("pattern", "auto")),
    ("--missing", ("missing_values", "auto")),
)


@dataclass(frozen=True)
class Plan:
    """What was asked for."""

    ratings: str
    output: Path
    columns: dict[str, str | None]
    settings: dict[str, Any]
    holdout: float | None
    test: Path | None
    limit: float | None
    resume: bool
    restart: bool
    cluster: Cluster | None
    matrix: bool
    overwrite: bool
    attributes: tuple[Path | None, Path | None] = (None, None)  # of users, of items
    implicit: bool | None = None  # None: the file tells
    times: str | None = None  # the column that has them

    @property
    def wanted_times(self) -> str | bool | None:
        """As `read_columns` takes it."""
        return self.times if self.settings["time"] else False

    def __post_init__(self) -> None:
        refuse_both("--restart", self.restart, "--resume", self.resume)
        refuse_both("--holdout", self.holdout, "--test", self.test)
        refuse_both("--no-time", not self.settings["time"], "--times", self.times)
        if self.cluster is not None and self.attributes[0] is not None:
            raise ValueError(
                "--users: is not for --engine dask, where --items and --pattern are; leave it out, "
                "or fit on one machine."
            )
        for option, path in zip(OPTIONS, self.attributes, strict=True):
            if str(path) == "-" and [self.ratings, *map(str, self.attributes)].count("-") > 1:
                raise ValueError(f"{option}: standard input has one table; name a file instead.")
        if self.implicit and self.cluster is not None:
            raise ValueError(
                "--implicit: clicks are fitted on one machine; leave --engine dask out."
            )
        if self.matrix and self.cluster is not None:
            raise ValueError("--matrix: is read on this machine; leave --engine dask out.")

    @property
    def name(self) -> str:
        """The name of the file or the folder, as sentences call it."""
        return PurePath(self.ratings).name

    @property
    def seed(self) -> int:
        return int(self.settings["random_state"])

    @property
    def for_ratings(self) -> str | None:
        """The first option that says something of ratings alone, where one is given."""
        given = {option: self.settings[name] != value for option, (name, value) in FOR_RATINGS}
        given["--duplicates"] = self.settings["duplicates"] in ("mean", "last")
        return next((option for option, is_given in given.items() if is_given), None)

    @property
    def checkpoint(self) -> Path:
        return self.output.with_name(self.output.name + ".checkpoint")


def make_settings(
    rank: str,
    loss: str,
    penalty: str,
    posterior: int,
    duplicates: str,
    missing: list[str] | None,
    seed: int,
    engine: str,
    pattern: str = "auto",
    no_time: bool = False,
) -> dict[str, Any]:
    """The parameters of MatrixCompletion that the options stand for."""
    return {
        "rank": parse_rank(rank),
        "loss": loss,
        "penalty": parse_penalty(penalty),
        "biases": True,  # ratings have a level, with or without the evidence
        "posterior": posterior,
        "pattern": {"yes": True, "no": False}.get(pattern, pattern),
        "time": False if no_time else "auto",
        "duplicates": duplicates,
        "missing_values": read_marks(missing),
        "random_state": seed,
    } | parse_engine(engine)


def refuse_both(option: str, given: object, other: str, also: object) -> None:
    """Fail where two options that exclude each other are both given."""
    if given and also:
        raise ValueError(f"{option}: cannot be given together with {other}; choose one.")
