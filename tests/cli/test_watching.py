"""What is seen of a fit while it runs, and how it ends in time."""

import json
import os
import time

import pytest

import pygeco
from attribute_files import draw_world
from cli_cases import run
from pygeco import MatrixCompletion
from pygeco.cli.console import Voice
from pygeco.cli.watching import Watch


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--rank", 2, "--posterior", 100_000), "from the posterior; --resume draws them anew"),
        (("--penalty", "none", "--loss", "huber"), "the time limit is reached; --resume continues"),
    ],
)
def test_every_long_part_listens_to_the_time_limit(options, said, home, tmp_path) -> None:
    began = time.monotonic()
    fitted = ("fit", home / "ratings.csv", "-o", tmp_path / "m", *options, "--json")
    limit = "1s" if "--posterior" in options else "0.001s"
    told = json.loads(run(*fitted, "--time-limit", limit).stdout)
    assert said in told["stop"]
    assert time.monotonic() - began < 60  # the draws alone would take many minutes
    assert (tmp_path / "m.checkpoint").exists()
    model = pygeco.load(tmp_path / "m")
    if "--posterior" in options:
        assert 0 < model.average_.sweeps < 100_000
        assert model.rank_ == 2
    else:
        assert model.rank_ == 1  # the first rank that was tried
        whole = json.loads(run(*fitted, "--resume").stdout)
        plain = json.loads(run(*fitted[:3], tmp_path / "n", *options, "--json").stdout)
        assert (whole["rank"], whole["stop"]) == (plain["rank"], plain["stop"])


def test_a_terminal_shows_a_live_table_and_a_file_does_not(home, tmp_path, terminals) -> None:
    fit = ("fit", home / "ratings.csv", "-o", tmp_path / "m", "--rank", "4", "--penalty", "none",
           "--holdout", "0.1")  # fmt: skip
    code, shown = terminals(*fit)
    assert code == 0
    for word in ("objective", "gap at most", "held-out RMSE", "seconds", "user = 'user'"):
        assert word in shown
    streams = (os.devnull, tmp_path / "out", tmp_path / "error")
    assert terminals.redirect(*fit, "--overwrite", streams=streams) == 0
    assert (tmp_path / "error").read_text() == ""
    printed = (tmp_path / "out").read_text()
    assert "rank 4" in printed
    assert "gap at most" not in printed
    assert "\x1b" not in printed


class Screen:
    """What was shown below the table, line by line."""

    def __init__(self) -> None:
        self.captions: list[str] = []

    def update(self, table) -> None:
        self.captions.append(table.caption)


def test_the_sweeps_with_attributes_are_shown_as_such() -> None:
    ratings, users, _, _ = draw_world()
    for table, pattern in ((users, False), (None, False)):
        model = MatrixCompletion(2, pattern=pattern, random_state=0)
        watch = Watch(Voice(), model, None, None)
        watch.live = Screen()
        model.set_params(observer=watch).fit(ratings, row_attributes=table)
        told = [caption.startswith("with attributes, ") for caption in watch.live.captions]
        assert len(told) == model.n_iter_
        assert told == sorted(told)
        assert any(told) == (table is not None)
