"""`geco fit` and the commands that ask a model, as a user calls them."""

import gzip
import json
import os
import pty
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import pygeco
from cli_cases import frame, run
from pygeco import MatrixCompletion, evaluate
from pygeco.cli.parsing import seconds
from pygeco.data import make_ratings

GECO = [sys.executable, "-c", "from pygeco.cli import main; main()"]


def test_the_model_is_that_of_python(home) -> None:
    model = pygeco.load(home / "m.geco")
    plain = MatrixCompletion(3, random_state=0).fit(frame())
    np.testing.assert_array_equal(model.to_dense(), plain.to_dense())


def test_predictions_to_a_file_and_to_the_screen(home, tmp_path) -> None:
    model = pygeco.load(home / "m.geco")
    wanted = model.predict(frame(), return_std=True)
    run("predict", home / "m.geco", home / "ratings.csv", "-o", tmp_path / "p.parquet", "--std")
    found = pq.read_table(tmp_path / "p.parquet").to_pandas()
    np.testing.assert_array_equal(found.prediction, wanted.prediction)
    np.testing.assert_array_equal(found.deviation, wanted.deviation)
    assert found.item.tolist() == wanted.item.tolist()
    shown = run("predict", home / "m.geco", home / "some.csv").stdout.splitlines()
    assert shown[0] == '"user","item","prediction","known"'
    assert len(shown) == 301
    packed = gzip.compress(b"film-1\t5\nfilm-2\t6\n")
    swapped = run("predict", home / "m.geco", "-", "--user", 2, "--item", 1, stdin=packed)
    assert len(swapped.stdout.splitlines()) == 3


def test_recommendations(home, tmp_path) -> None:
    model = pygeco.load(home / "m.geco")
    told = json.loads(
        run(
            *("recommend", home / "m.geco", "--user", 7, "--user", 9, "-k", 3, "--json"),
            *("--titles", home / "titles.csv"),
        ).stdout
    )["rows"]
    best = model.recommend([7, 9], 3)
    assert [row["item"] for row in told] == best.columns.reshape(-1).tolist()
    assert [row["place"] for row in told] == [1, 2, 3] * 2
    assert all(row["title"] == f"The {row['item'][5:]}th Film" for row in told)
    run("recommend", home / "m.geco", "--all", "-k", 2, "-o", tmp_path / "all.csv")
    every = pd.read_csv(tmp_path / "all.csv")
    assert every.user.nunique() == len(model.row_ids_)
    seen = set(map(tuple, frame()[["user", "item"]].to_numpy()))
    assert not seen & set(map(tuple, every[["user", "item"]].to_numpy()))
    again = run("recommend", home / "m.geco", "--user", 7, "-k", 50, "--include-seen")
    assert len(again.stdout.splitlines()) == 51


def test_users_that_were_not_fitted_follow_the_one_rule(home, tmp_path) -> None:
    """The average with a mark, nothing, or an error: as `predict` and the library do."""
    asked = ("recommend", home / "m.geco", "--user", 7, "--user", 99999, "-k", 3)
    done = run(*asked, "--json")
    told = json.loads(done.stdout)["rows"]
    assert done.stderr == ""
    assert [(row["user"], row["known"]) for row in told] == [(7, True)] * 3 + [(99999, False)] * 3
    model = pygeco.load(home / "m.geco")
    with pytest.warns(UserWarning, match="1 of 2 ids, such as 99999, were not fitted"):
        best = model.recommend([7, 99999], 3)
    assert [row["item"] for row in told] == best.columns.reshape(-1).tolist()
    nothing = json.loads(run(*asked, "--unknown", "nan", "--json").stdout)["rows"]
    assert [(row["user"], row["known"]) for row in nothing] == [(7, True)] * 3
    assert run(*asked, "--unknown", "error", code=2).stdout == ""
    known = json.loads(run(*asked[:4], "-k", 3, "--json").stdout)["rows"]
    assert [row["item"] for row in known] == best.columns[0].tolist()
    assert "known" not in known[0]


def test_candidates_from_files(home, tmp_path) -> None:
    (tmp_path / "some").write_text("film-1\n\nfilm-2\nfilm-3 \nfilm-4\n")
    (tmp_path / "never").write_text("film-2\n")
    asked = ("recommend", home / "m.geco", "--user", 7, "--include-seen")
    limits = ("--items", tmp_path / "some", "--exclude", tmp_path / "never")
    told = json.loads(run(*asked, *limits, "--json").stdout)["rows"]
    assert {row["item"] for row in told} == {"film-1", "film-3", "film-4"}
    (tmp_path / "some").write_text("film-1\nnothing\n")
    said = run(*asked, *limits, code=2).output
    assert "--items: the model does not know 'nothing'" in said


def test_similar_users(home) -> None:
    near = run("similar", home / "m.geco", "7", "--users", "-k", 4).stdout.splitlines()
    assert near[0] == '"place","user","similarity"'
    wanted = pygeco.load(home / "m.geco").similar_rows(7, 4).columns
    assert [int(line.split(",")[1]) for line in near[1:]] == wanted.tolist()
    said = run("similar", home / "m.geco", "7", "--users", "--titles", home / "titles.csv", code=2)
    assert "--titles: items have titles" in said.output


def test_explanations(home, tmp_path) -> None:
    model = pygeco.load(home / "m.geco")
    asked = ("explain", home / "m.geco", "--user", 7, "--item", "film-3", "-k", 3)
    told = json.loads(run(*asked, "--json", "--titles", home / "titles.csv").stdout)
    why = model.explain(7, "film-3", 3)
    assert told["base"] == why.base
    assert told["prediction"] == pytest.approx(model.predict([7], ["film-3"])[0])
    assert [row["item"] for row in told["rows"]] == why.columns.tolist()
    assert [row["adds"] for row in told["rows"]] == why.contributions.tolist()
    assert told["rows"][0]["title"].endswith("th Film")
    assert run(*asked).stdout.splitlines()[0] == '"item","adds"'
    run("fit", home / "some.csv", "-o", tmp_path / "m", "--penalty", "none", "--rank", 1)
    said = run("explain", tmp_path / "m", "--user", 7, "--item", "film-3", code=2).output
    assert "was fitted without the evidence" in said


def test_similar_items(home) -> None:
    near = run("similar", home / "m.geco", "film-3", "-k", 4).stdout.splitlines()
    assert near[0] == '"place","item","similarity"'
    wanted = pygeco.load(home / "m.geco").similar("film-3", 4).columns
    assert [line.split(",")[1].strip('"') for line in near[1:]] == wanted.tolist()


def test_evaluation_agrees_with_python(home) -> None:
    model = pygeco.load(home / "m.geco")
    told = json.loads(run("evaluate", home / "m.geco", home / "new.csv", "--json").stdout)
    e = evaluate(model, frame(seed=1).iloc[:300])
    assert told["rmse"] == e.errors.rmse
    assert told["coverage"] == e.coverage
    assert told["ndcg"] == e.ranking.ndcg
    text = run("evaluate", home / "m.geco", home / "new.csv", "-k", 5).stdout
    for word in ("RMSE", "MAE", "coverage", "precision@5", "recall@5", "NDCG@5"):
        assert word in text


def test_evaluation_leaves_fitted_ratings_out_and_counts_them(home, tmp_path) -> None:
    model, known = pygeco.load(home / "m.geco"), set(map(tuple, frame()[["user", "item"]].values))
    new = frame(seed=1).iloc[:300]
    fresh = new[[pair not in known for pair in map(tuple, new[["user", "item"]].values)]]
    both = pd.concat([frame().iloc[:200], new])
    both.to_csv(tmp_path / "both.csv", index=False)
    told = json.loads(run("evaluate", home / "m.geco", tmp_path / "both.csv", "--json").stdout)
    assert told["fitted"] == len(both) - len(fresh) > 200
    assert told["cells"] == len(fresh)
    error = model.predict(fresh).prediction - fresh.rating
    assert told["rmse"] == pytest.approx(np.sqrt(np.mean(error**2)))
    fresh.to_csv(tmp_path / "fresh.csv", index=False)
    alone = json.loads(run("evaluate", home / "m.geco", tmp_path / "fresh.csv", "--json").stdout)
    assert alone == told | {"fitted": 0}  # rankings too
    text = run("evaluate", home / "m.geco", tmp_path / "both.csv").stdout
    assert f"left out      {told['fitted']:,}   ratings that the model was fitted to" in text
    said = run("evaluate", home / "m.geco", home / "some.csv", code=2).output
    assert "the model was fitted to all of its 300 cells" in said


def test_recommendations_leave_out_what_was_held_out(home, tmp_path) -> None:
    result = run(
        "fit", home / "ratings.csv", "-o", tmp_path / "m.geco", "--rank", 2, "--holdout", "0.3"
    )
    assert "the 30% held out are not part of the fit; geco recommend leaves them out" in (
        " ".join(result.output.split())
    )
    run("recommend", tmp_path / "m.geco", "--all", "-k", 50, "-o", tmp_path / "all.csv")
    every = set(map(tuple, pd.read_csv(tmp_path / "all.csv")[["user", "item"]].values))
    rated = set(map(tuple, frame()[["user", "item"]].values))
    model = pygeco.load(tmp_path / "m.geco")
    assert not every & rated
    assert len(every) + len(rated) == model.factors_.shape[0] * model.factors_.shape[1]
    assert len(model.held_out_.values) + len(model.seen_.values) == 1500


def test_inspection(home) -> None:
    text = run("inspect", home / "m.geco").stdout
    for word in ("MatrixCompletion", "every checksum is right", f"pygeco {pygeco.__version__}",
                 "row_ids_", "gap at most", "stopped: "):  # fmt: skip
        assert word in text
    told = json.loads(run("inspect", home / "m.geco", "--json").stdout)
    assert told["path"][0]["rank"] == 3
    assert told["settings"]["rank"] == "3"


def test_exports(home, tmp_path) -> None:
    model = pygeco.load(home / "m.geco")
    run("export", home / "m.geco", "-o", tmp_path / "f.npz")
    with np.load(tmp_path / "f.npz") as found:
        np.testing.assert_array_equal(found["U"], model.factors_.U)
        assert found["column_ids"].tolist() == model.column_ids_.tolist()
        product = found["row_vectors"] @ found["column_vectors"].T
    for side, ids in (("items", model.column_ids_), ("users", model.row_ids_)):
        run("export", home / "m.geco", "-o", tmp_path / "f.parquet", "--side", side)
        table = pq.read_table(tmp_path / "f.parquet")
        assert table.column("id").to_pylist() == ids.tolist()
    base = model.biases_.mean + model.biases_.row
    linear = model.set_params(clip=False).to_dense()
    np.testing.assert_allclose(product + base[:, None], linear, rtol=1e-5)


def test_held_out_error(home, tmp_path) -> None:
    told = json.loads(
        run("fit", home / "ratings.csv", "-o", tmp_path / "m", "--rank", 2, "--holdout", "0.2",
            "--json").stdout
    )  # fmt: skip
    held = told["held_out"]
    assert 200 < held["cells"] < 400
    assert held["low"] < held["rmse"] < held["high"]
    assert told["ratings"] + held["cells"] == 1500
    tested = run("fit", home / "some.csv", "-o", tmp_path / "m", "--rank", 2, "--test",
                 home / "ratings.csv")  # fmt: skip
    assert "over 1,200 ratings" in tested.output
    assert "300 others were fitted and are left out" in tested.output
    assert "held-out RMSE" in tested.output
    tested = run("fit", home / "ratings.csv", "-o", tmp_path / "m", "--rank", 2, "--test",
                 home / "some.csv")  # fmt: skip
    assert "no held-out error: X: the model was fitted to all of its 300 cells" in tested.output


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


def test_the_rank_asked_for_is_kept_and_the_cap_is_named(home, tmp_path) -> None:
    run_ = ("fit", home / "ratings.csv", "-o", tmp_path / "m", "--posterior", 20)
    text = " ".join(run(*run_, "--rank", 2).output.split())
    assert "rank 2 from" in text
    assert "the evidence has rank 2; predictions are the mean of 20 posterior draws" in text
    assert "stopped: the highest rank allowed is reached" in text
    told = json.loads(run(*run_, "--json").stdout)
    assert told["evidence_rank"] < told["rank"]
    assert told["draws"] == 20
    assert "the evidence supports no further component" in told["stop"]


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


def test_times() -> None:
    assert [seconds(text) for text in ("90", "1.5s", "10m", "1h")] == [90, 1.5, 600, 3600]


def test_help_names_options_and_exit_codes() -> None:
    text = run("fit", "--help").output
    for option in ("--output", "--user", "--item", "--rating", "--rank", "--loss", "--holdout",
                   "--test", "--engine", "--time-limit", "--resume", "--json"):  # fmt: skip
        assert option in text
    assert "Exit codes: 0 done; 2 a wrong option" in " ".join(text.split())


def on_a_terminal(*arguments) -> str:
    """What a person sees: the command on a pseudo-terminal."""
    leader, follower = pty.openpty()
    child = subprocess.Popen(
        [*GECO, *map(str, arguments)],
        stdout=follower,
        stderr=follower,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "120"},
    )
    os.close(follower)
    shown = b""
    while True:
        try:
            part = os.read(leader, 1 << 16)
        except OSError:
            break
        if not part:
            break
        shown += part
    assert child.wait() == 0
    os.close(leader)
    return shown.decode()


def test_a_terminal_shows_a_live_table_and_a_pipe_does_not(home, tmp_path) -> None:
    fit = ("fit", home / "ratings.csv", "-o", tmp_path / "m", "--rank", "4", "--penalty", "none",
           "--holdout", "0.1")  # fmt: skip
    shown = on_a_terminal(*fit)
    for word in ("objective", "gap at most", "held-out RMSE", "seconds", "user = 'user'"):
        assert word in shown
    piped = subprocess.run([*GECO, *map(str, fit)], capture_output=True, check=True, text=True)
    assert piped.stderr == ""
    assert "gap at most" not in piped.stdout
    assert "\x1b" not in piped.stdout


def test_an_interrupt_leaves_a_checkpoint_and_no_model(tmp_path) -> None:
    rows, cols, values, _ = make_ratings((1500, 900), 60_000)
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


def test_a_reader_that_has_seen_enough(home) -> None:
    command = " ".join([f"'{part}'" for part in [*GECO, "predict", str(home / "m.geco")]])
    done = subprocess.run(
        f"{command} '{home / 'ratings.csv'}' | head -1",
        shell=True, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == '"user","item","prediction","known"\n'
    assert done.stderr == ""


def test_titles_of_other_columns_and_of_other_items(home, tmp_path) -> None:
    (tmp_path / "t.csv").write_text("nr;what;name\nfilm-3;Drei;x\nfilm-4;Vier;y\n")
    asked = ("similar", home / "m.geco", "film-1", "-k", 49, "--titles", tmp_path / "t.csv")
    named = run(*asked, "--title", "what", "--title-item", "nr", "--json").stdout
    titles = {row["item"]: row["title"] for row in json.loads(named)["rows"]}
    assert (titles["film-3"], titles["film-4"], titles["film-5"]) == ("Drei", "Vier", "film-5")
    wrong = run(*asked, "--title", "name", "--title-item", "what", code=3).output
    assert "None of its items, such as 'Drei', is one of the model's, such as 'film-0'" in wrong
    lost = run("similar", home / "m.geco", "film-1", "--title", "what", code=2).output
    assert "give it with --titles" in lost


def test_ids_of_a_part_are_those_of_the_whole(tmp_path) -> None:
    """A file whose users all look like numbers asks a model whose users are texts."""
    ratings = frame()
    ratings["user"] = [f"0{user}" if user % 2 else f"{user}" for user in ratings.user]
    part = ratings[~ratings.user.str.startswith("0")].iloc[::9]
    ratings.drop(part.index).to_csv(tmp_path / "r.csv", index=False)
    part.to_csv(tmp_path / "part.csv", index=False)
    model = tmp_path / "m"
    told = run("fit", tmp_path / "r.csv", "-o", model, "--rank", 2, "--test", tmp_path / "part.csv")
    assert "held-out RMSE" in told.output
    assert "new user" not in told.output
    shown = run("predict", model, tmp_path / "part.csv", "--unknown", "error").stdout
    assert len(shown.splitlines()) == len(part) + 1
    assert "01" in pygeco.load(model).row_ids_


def test_a_matrix_of_ratings(tmp_path) -> None:
    values = frame().pivot_table(index="user", columns="item", values="rating")
    values.to_csv(tmp_path / "wide.csv", sep=";", decimal=",")
    hint = run("fit", tmp_path / "wide.csv", "-o", tmp_path / "m", "--user", "user", code=2).output
    assert "no column looks like" in hint
    told = run("fit", tmp_path / "wide.csv", "-o", tmp_path / "m", "--matrix", "--rank", 2).output
    assert f"{values.shape[0]} rows are users, {values.shape[1]} columns are items" in told
    model = pygeco.load(tmp_path / "m")
    assert model.row_ids_.tolist() == values.index.tolist()
    assert model.column_ids_.tolist() == sorted(values.columns)
