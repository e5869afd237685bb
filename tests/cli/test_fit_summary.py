"""What `geco fit` says at the end."""

import json

from cli_cases import run


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
