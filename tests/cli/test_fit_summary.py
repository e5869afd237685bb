"""What `geco fit` says at the end."""

import json

import numpy as np

from cli_cases import run
from pygeco.cli.fit_summary import tell_errors
from pygeco.diagnostics import metrics


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
    assert "no held-out error: the model was fitted to all of its 300 cells" in tested.output
    assert "held out, as by geco fit --holdout 0.1.\n" in tested.output


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


def test_errors_of_any_unit_keep_their_digits() -> None:
    """Those of data of a billionth were 0.0000; one rating alone has no interval."""
    targets = np.array([1.0, 2.0, 4.0])
    for unit, shown in ((1e-9, "1.4142e-09"), (1.0, "1.4142"), (1e9, "1,414,213,562")):
        rmse, mae, interval = tell_errors(
            metrics.errors(unit * np.array([2.0, 4.0, 5.0]), unit * targets)
        )
        assert rmse == shown
        assert float(mae.replace(",", "")) > 1.3 * unit
        low, high = interval.removeprefix("95% interval ").replace(",", "").split(" to ")
        assert float(low) < unit * 2**0.5 < float(high)
    assert tell_errors(metrics.errors(targets[:1] + 0.5, targets[:1])) == ("0.5000", "0.5000", "")
