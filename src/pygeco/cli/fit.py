"""`geco fit`: from a file of ratings to a model file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pygeco.cli import fit_plan as asked
from pygeco.cli.attributes import OPTIONS, read_sides, take_sides
from pygeco.cli.click_fit import fit_clicks
from pygeco.cli.click_reading import read_cells
from pygeco.cli.cluster import open_cluster, parse_cluster
from pygeco.cli.console import Voice, explain_write_errors, hear_warnings, report_errors
from pygeco.cli.fit_plan import Plan, make_settings
from pygeco.cli.fit_summary import summarize_fit
from pygeco.cli.helping import turn_to_clicks
from pygeco.cli.options import Item, Json, Missing, Overwrite, Rating, Times, User
from pygeco.cli.outputs import check_apart, check_output
from pygeco.cli.parsing import parse_seconds
from pygeco.cli.reading import (
    Ratings,
    is_in_parts,
    read_folder,
    read_parts,
    read_ratings,
    read_test,
)
from pygeco.cli.times import speak_of_times


def fit(
    ratings: asked.RatingsFile,
    output: asked.Output,
    user: User = None,
    item: Item = None,
    rating: Rating = None,
    missing: Missing = None,
    matrix: asked.Matrix = False,
    implicit: asked.Implicit = None,
    rank: asked.Rank = "auto",
    loss: asked.Loss = "squared",
    penalty: asked.Penalty = "auto",
    posterior: asked.Posterior = 0,
    users: asked.Users = None,
    items: asked.Items = None,
    pattern: asked.Pattern = "auto",
    times: Times = None,
    no_time: asked.NoTime = False,
    holdout: asked.Holdout = None,
    test: asked.Test = None,
    duplicates: asked.Duplicates = "error",
    engine: asked.Engine = "cpu",
    scheduler: asked.Scheduler = None,
    workers: asked.Workers = None,
    time_limit: asked.TimeLimit = None,
    resume: asked.Resume = False,
    restart: asked.Restart = False,
    seed: asked.Seed = 0,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> None:
    """Fit a model to a file of ratings or of clicks and write it to a model file.

    While it runs, MODEL.checkpoint keeps its state; --resume continues from it, to the same bits.
    """
    with report_errors("fit", "interrupted; the same command with --resume continues."):
        judging = holdout, test, parse_seconds(time_limit)
        fitting = rank, loss, penalty, posterior, duplicates, missing, seed, engine
        plan = Plan(
            ratings,
            output,
            {"user": user, "item": item, "rating": rating},
            make_settings(*fitting, pattern, no_time),
            *judging,
            resume=resume,
            restart=restart,
            cluster=parse_cluster(engine, scheduler, workers),
            matrix=matrix,
            overwrite=overwrite,
            attributes=(users, items),
            implicit=implicit,
            times=times,
        )
        _run(plan, Voice(as_json))


def _run(plan: Plan, voice: Voice) -> None:
    from pygeco.cli.watching import Watch
    from pygeco.errors import ColumnWarning
    from pygeco.estimators import MatrixCompletion

    inputs = plan.ratings, plan.test, *plan.attributes
    check_output(plan.output, *inputs, kind="a model", overwrite=plan.overwrite)
    check_apart(plan.checkpoint, *inputs)
    model = MatrixCompletion(**plan.settings)
    _check_evidence(plan, model)
    tables = read_sides(plan.attributes)
    with open_cluster(plan.cluster, plan.ratings, voice) as client:
        ratings = _read(plan, voice, client)
        voice.note(ratings.found)
        if ratings.clicks:
            turn_to_clicks()
            fit_clicks(plan, voice, ratings, tables)
            return
        ratings = read_test(plan, voice, ratings)
        on_cluster = client is not None
        taken = take_sides(plan.attributes, tables, ratings.fitted, on_cluster=on_cluster)
        found = [ratings.found, *(side.tell() for side in taken if side)]
        for line in found[1:]:
            voice.note(line)
        given = (side and side.given for side in taken)
        known: dict[str, Any] = dict(
            zip(("row_attributes", "column_attributes"), given, strict=True)
        )
        known |= {} if plan.times is None else {"times": "timestamp"}
        continues = _prepare_checkpoint(plan, voice)
        shown = ratings.held if client is None else None
        with explain_write_errors(plan.checkpoint), Watch(voice, model, shown, plan.limit) as watch:
            try:
                model.set_params(observer=watch)
                with hear_warnings(ColumnWarning) as left_out, speak_of_times(ratings.times):
                    model.fit(ratings.fitted, checkpoint=plan.checkpoint, **known)
            except ValueError:
                if not continues:  # nothing was begun, so nothing is to be continued
                    plan.checkpoint.unlink(missing_ok=True)
                raise
        model.set_params(observer=None)
        model.file_columns_ = ratings.columns or None
        if plan.test is None and ratings.held is not None:
            model.keep_held_out(ratings.held)
        _learn_lists(plan, voice, model)
        with explain_write_errors(plan.output):
            model.save(plan.output)
        if not watch.out_of_time:
            plan.checkpoint.unlink(missing_ok=True)
        summarize_fit(plan, voice, model, ratings, found, taken, watch.late, left_out)


def _read(plan: Plan, voice: Voice, client: Any) -> Ratings:
    """The ratings, by the workers of a cluster or here."""
    if client is None:
        is_folder = Path(plan.ratings).is_dir()
        return read_folder(plan, voice) if is_folder else read_cells(plan, voice)
    if is_in_parts(plan.ratings):
        return read_parts(plan, voice, client)
    return read_ratings(plan, voice)


def _learn_lists(plan: Plan, voice: Voice, model: Any) -> None:
    """What people choose, for the lists of the file, unless time is short."""
    if plan.limit is None:
        with voice.busy("learning what people choose"):
            model.learn_lists()


def _check_evidence(plan: Plan, model: Any) -> None:
    """Fail before anything is read where attributes would say nothing to the fit."""
    for option, path in zip(OPTIONS, plan.attributes, strict=True):
        if path is not None and not model.uses_evidence:
            raise ValueError(
                f"{option}: attributes say something to a fit by the evidence alone; use --penalty "
                "evidence, or leave them out."
            )


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
