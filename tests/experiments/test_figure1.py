"""geco reproduce as a whole, on small rating files of its own."""

import csv
import math
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from pygeco import Solver, __version__, minimize
from pygeco.cli.app import app
from pygeco.data import archives
from pygeco.experiments import figure1, methods, tasks
from pygeco.experiments.figure1 import Job


def run(*arguments):
    return CliRunner().invoke(app, ["reproduce", *map(str, arguments)])


def test_everything_is_written_and_a_second_run_goes_on(home, monkeypatch):
    out = home / "out"
    done = run("--datasets", "ml-100k", "--seeds", 2, "-o", out)
    assert done.exit_code == 0, done.output
    jobs = figure1.planned(["ml-100k"], 2)
    assert {job.split for job in jobs} == {"half", "ub"}
    often = sum(method.repeated for method in methods.METHODS.values())
    assert len(jobs) == 2 * (len(methods.METHODS) + often)
    assert often == 4
    assert len(list((out / "runs" / __version__).iterdir())) == len(jobs)
    assert (out / "figure1.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (out / "figure1.svg").read_text(encoding="utf-8")
    account = (out / "account.md").read_text(encoding="utf-8")
    for method in methods.METHODS.values():
        assert f"| {method.label} |" in account
    assert "![Test RMSE against rank](figure1.png)" in account
    assert "a rank of at most 10 is enough for GECO | ml-100k (ub)" in account
    with (out / "numbers.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {(r["split"], r["method"], int(r["seed"])) for r in rows} == {job[1:] for job in jobs}

    (out / "runs" / __version__ / "ml-100k-ub-js-1.csv").unlink()
    ran = []
    real = methods.METHODS["js"].run
    for name, method in methods.METHODS.items():
        counted = method._replace(
            run=lambda data, seed, name=name: ran.append(name) or real(data, seed)
        )
        monkeypatch.setitem(methods.METHODS, name, counted)
    before = (out / "numbers.csv").read_text().splitlines()
    assert run("--datasets", "ml-100k", "--seeds", 2, "-o", out).exit_code == 0
    assert ran == ["js"]
    after = (out / "numbers.csv").read_text().splitlines()
    assert [line.rsplit(",", 3)[0] for line in after] == [line.rsplit(",", 3)[0] for line in before]


def test_errors_are_those_of_the_fit(home):
    data = tasks.load("ml-100k", "ub")
    text = (home / "data" / "ml-100k" / "ub.test").read_text().replace("\t", " ").split()
    held = np.array(text, float).reshape(-1, 4)
    assert data.test.size == len(held) == 100
    points = methods.geco(data, 0)
    path = minimize(data.train, 4, Solver.paper(), random_state=0)
    for point, step in zip(points, path, strict=True):
        assert point.train == pytest.approx(math.sqrt(step.objective))
        A = step.A.to_dense()
        cells = data.test.rows(), data.test.by_row.indices
        error = np.sqrt(np.mean((A[cells] - data.test.by_row.values) ** 2))
        assert point.test == pytest.approx(error, rel=1e-5)
    mean = data.train.by_row.values.mean(dtype=float)
    np.testing.assert_allclose(
        data.centered.train.by_row.values, data.train.by_row.values - mean, atol=1e-6
    )
    np.testing.assert_allclose(
        data.centered.test.by_row.values, data.test.by_row.values - mean, atol=1e-6
    )


def test_runs_are_kept_whole(home):
    job = Job("ml-100k", "half", "er1mp")
    first = figure1.curve(job, home)
    assert figure1.curve(job, home) == first
    assert first.error(1) == first.points[0].test
    assert math.isnan(first.error(10**6))
    assert first.best.test == min(point.test for point in first.points)
    assert str(job) == "ml-100k (half), seed 0: economic R1MP, centered"


def test_wrong_names_and_missing_data_are_told_before_anything_runs(home, monkeypatch):
    wrong = run("--datasets", "ml-100k", "netflix", "-o", home / "out")
    assert wrong.exit_code == 2
    assert "geco reproduce: --datasets: unknown netflix; use some of ml-100k" in wrong.output
    away = archives.ARCHIVES["ml-1m"]._replace(url="http://127.0.0.1:1/ml-1m.zip")
    monkeypatch.setitem(archives.ARCHIVES, "ml-1m", away)
    missing = run("--datasets", "ml-1m", "-o", home / "out")
    assert missing.exit_code == 3
    assert "geco reproduce: ml-1m could not be downloaded" in missing.output
    assert "PYGECO_DATA" in missing.output
    assert not (home / "out").exists()
    both = run("-o", home / "out")  # the default needs ml-1m too, and not ml-10m
    assert both.exit_code == 3
    assert "ml-10m" not in both.output
    (home / "file").write_text("")
    unwritable = run("--datasets", "ml-100k", "-o", home / "file" / "out")
    assert unwritable.exit_code == 4
    assert "geco reproduce: cannot write" in unwritable.output


def test_without_matplotlib_the_numbers_are_there_all_the_same(home, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr(figure1, "METHODS", {"er1mp": methods.METHODS["er1mp"]})
    done = run("ml-100k", "-o", home)
    assert done.exit_code == 0, done.output
    assert "pip install 'pygeco[plot]'" in done.output
    assert "figure1.png" not in (home / "account.md").read_text(encoding="utf-8")
    assert (home / "numbers.csv").is_file()


def test_theory_alone_needs_no_ratings(tmp_path, monkeypatch):
    monkeypatch.setattr("pygeco.experiments.theory.TAUS", (0.0, 0.9))
    monkeypatch.setattr("pygeco.experiments.theory.SIDES", (12, 16))
    monkeypatch.setattr("pygeco.experiments.theory.GRID", 2.0)
    monkeypatch.delenv("PYGECO_DATA", raising=False)
    done = run("--theory", "-o", tmp_path)
    assert done.exit_code == 0, done.output
    assert "0 of 40 gaps exceed a bound" in done.output
    assert {file.name for file in tmp_path.iterdir()} == {"theory.csv", "theory.png", "theory.svg"}
