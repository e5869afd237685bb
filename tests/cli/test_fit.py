"""`geco fit` and the commands that ask a model, as a user calls them."""

import json
import signal
import subprocess
import time

import numpy as np
import pandas as pd
import pytest

import pygeco
from cli_cases import GECO, frame, run
from pygeco import MatrixCompletion
from pygeco.data import make_ratings


def test_the_model_is_that_of_python(home) -> None:
    model = pygeco.load(home / "m.geco")
    plain = MatrixCompletion(3, random_state=0).fit(frame())
    np.testing.assert_array_equal(model.to_dense(), plain.to_dense())


@pytest.mark.parametrize(
    "options",
    [
        ("--loss", "huber", "--penalty", "none", "--rank", "2"),
        ("--penalty", "none", "--rank", "2"),
        ("--penalty", "ridge:1e-4", "--rank", "2"),
        ("--penalty", "trace:1e-3", "--rank", "2"),
        ("--rank", "2", "--posterior", "2"),
    ],
)
def test_other_models(options, home, tmp_path) -> None:
    told = json.loads(
        run("fit", home / "some.csv", "-o", tmp_path / "m", "--json", *options).stdout
    )
    assert told["rank"] >= 1
    assert told["path"][-1]["objective"] > 0
    run("recommend", tmp_path / "m", "--user", 80, "-k", 1)


def test_time_limit_and_resume(home, tmp_path) -> None:
    model, checkpoint = tmp_path / "m", tmp_path / "m.checkpoint"
    fit = ("fit", home / "ratings.csv", "-o", model, "--rank", "8", "--penalty", "none")
    told = run(*fit, "--time-limit", "0.001").output
    assert "stopped: the time limit is reached; --resume continues." in told
    assert "rank 1 from" in told
    assert checkpoint.exists()
    assert "rank 8 from" in run(*fit, "--resume").output
    assert not checkpoint.exists()
    resumed = pygeco.load(model)
    assert "rank 8 from" in run(*fit).output
    np.testing.assert_array_equal(pygeco.load(model).to_dense(), resumed.to_dense())
    run(*fit, "--time-limit", "0.001")
    other = run(*fit, "--resume", "--seed", "5", code=2)
    assert "belongs to other data or settings; delete it" in other.output
    assert checkpoint.exists()


def test_only_its_own_fit_removes_a_checkpoint(home, tmp_path) -> None:
    model, checkpoint = tmp_path / "m", tmp_path / "m.checkpoint"
    fit = ("fit", home / "some.csv", "-o", model, "--rank", "3", "--penalty", "none")
    run(*fit, "--time-limit", "0.001")
    kept = checkpoint.read_bytes()
    for mistake in (
        ("--resume", "--rank", "999"),
        ("--rank", "999"),
        ("--resume", "--loss", "logistic"),
        ("--user", "nobody"),
        ("--resume", "--restart"),
        (),  # a second fit with the same output
    ):
        run(*fit, *mistake, code=2)
        assert checkpoint.read_bytes() == kept
    said = run(*fit, code=2).output
    assert "continue it with --resume, drop it with --restart" in " ".join(said.split())
    run(*fit, "--restart")
    assert not checkpoint.exists()
    run(*fit, "--rank", "999", code=2)
    assert not checkpoint.exists()  # nothing was begun


def test_help_names_options_and_exit_codes() -> None:
    text = run("fit", "--help").output
    for option in ("--output", "--user", "--item", "--rating", "--rank", "--loss", "--holdout",
                   "--test", "--engine", "--time-limit", "--resume", "--json"):  # fmt: skip
        assert option in text
    assert "Exit codes: 0 done; 2 a wrong option" in " ".join(text.split())


def test_an_interrupt_leaves_a_checkpoint_and_no_model(tmp_path) -> None:
    rows, cols, values, _ = make_ratings((700, 650), 20_000)
    pd.DataFrame({"user": rows, "item": cols, "rating": values}).to_csv(
        tmp_path / "r.csv", index=False
    )
    fit = [*GECO, "fit", str(tmp_path / "r.csv"), "-o", str(tmp_path / "m"), "--rank", "600",
           "--penalty", "none"]  # fmt: skip
    child = subprocess.Popen(fit, stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "m.checkpoint").exists() and child.poll() is None:
        time.sleep(0.01)
    child.send_signal(signal.SIGINT)
    _, told = child.communicate()
    assert child.returncode == 130
    assert told == "geco fit: interrupted; the same command with --resume continues.\n"
    assert (tmp_path / "m.checkpoint").exists()
    assert not (tmp_path / "m").exists()
