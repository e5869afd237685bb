"""The benchmark keeps working, on sizes too small to time anything."""

import importlib
import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from pygeco import Entries, minimize
from pygeco.objectives.entries import observed

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def bench(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(BENCHMARKS)
    monkeypatch.delenv("PYGECO_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return importlib.import_module("bench")


@pytest.fixture
def made(bench):
    return importlib.import_module("sections.made")


@pytest.fixture
def baseline(bench):
    return importlib.import_module("sections.baseline")


@pytest.fixture
def plan(bench, tmp_path):
    return bench.Plan(
        out=tmp_path / "out",
        rounds=1,
        pause=0.0,
        cells=2_000,
        shape=(80, 70),
        ranks=(3, 17),
        block=32,
        sizes=((500, (60, 50)), (1_000, (70, 60))),
        netflix=(1_500, (80, 70)),
        fixed=500,
        sides=(150, 300),
        path=2,
        path_ranks=(1, 2),
        memory_rank=2,
        fits=((2_000, (80, 70)),),
        first=(1_000, (60, 50)),
        cold=False,
    )


def lines_of(found, section):
    return {line.what: line for line in found[section]}


@pytest.mark.parametrize("least", [1, 1 << 22])
def test_kernels(bench, plan, capsys, monkeypatch, least) -> None:
    """Also where ratings are kept as codes, as they are at the size that is timed."""
    monkeypatch.setattr(observed, "MIN_CODED_CELLS", least)
    lines = lines_of(bench.measure(["kernels"], plan), "kernels")
    assert len(lines) == 7 + 2 * 4
    assert lines["half-sweep of columns, s = 17"].wanted == 40
    assert lines["gradient matvec"].wanted == 60
    assert all(line.figure > 0 for line in lines.values())
    printed = capsys.readouterr().out
    assert "% of sgemm  at least 40" in printed
    written = json.loads((plan.out / "kernels.json").read_text())
    assert [row["what"] for row in written] == list(lines)
    assert written[0]["took"]["wall"] > 0


def test_growth(bench, plan) -> None:
    lines = lines_of(bench.measure(["growth"], plan), "growth")
    assert [line.wanted for line in lines.values() if line.tracked] == [1.05, 1.05, 1.05, 3.0]
    large = lines_of(bench.measure(["growth"], replace(plan, large=True)), "growth")
    assert set(large) - set(lines) == {
        "1,500 cells, rank 2, sweeps",
        "exponent of |E|, sweeps, with the largest",
    }


def test_exponent(bench) -> None:
    measuring = importlib.import_module("sections.measuring")
    assert measuring.exponent([10, 100, 1000], [3, 30, 300]) == pytest.approx(1)


def test_memory(bench, plan, monkeypatch) -> None:
    memory = importlib.import_module("sections.memory")
    if not os.access(memory.REFS, os.W_OK):
        pytest.skip("this system does not let a process reset its peak")
    cells, shape = 400_000, (2_000, 1_500)  # more than what earlier fits left free
    answer = memory._child("path", cells, shape, plan.memory_rank)  # one process for all
    monkeypatch.setattr(memory, "_child", lambda *_: answer)
    plan = replace(plan, cells=cells, shape=shape, large=True, netflix=(cells, shape))
    lines = lines_of(bench.measure(["memory"], plan), "memory")
    assert "default fit, 400,000 cells" in lines
    factors = 8 * sum(shape) * (1 + 2)
    assert lines["path, 400,000 cells"].wanted == pytest.approx(24 + factors / cells)
    assert lines["path, 400,000 cells: time"].unit == "minutes"
    # Two orders of index and value beside the input: no fit can do with less.
    assert all(line.figure > 16 for line in lines.values() if line.unit == "bytes/cell")


def test_peak_of_a_known_fit(bench, monkeypatch, capsys) -> None:
    memory = importlib.import_module("sections.memory")
    if not os.access(memory.REFS, os.W_OK):
        pytest.skip("this system does not let a process reset its peak")
    path = minimize(Entries([0], [0], [1.0]), 1)
    monkeypatch.setitem(memory.FITS, "known", lambda X, rank: (np.ones(60_000_000, "i1"), path)[1])
    memory.child("known", 1_000_000, 5_000, 2_000, 1)
    peak = json.loads(capsys.readouterr().out)["peak"]
    assert peak == pytest.approx(60e6 + 8e6, rel=0.05)


def test_fits_without_movielens(bench, plan, capsys) -> None:
    lines = lines_of(bench.measure(["fits", "movielens"], plan), "fits")
    assert [line.unit for line in lines.values()] == ["s", "products", "RMSE", "s", "s"]
    printed = capsys.readouterr().out
    assert printed.count("skipped: ml-") == 3
    assert not (plan.out / "movielens.json").exists()


def test_paper(bench, plan, made) -> None:
    paper, data = (importlib.import_module(name) for name in ("sections.paper", "pygeco.data"))
    rows, cols, values, shape = data.make_ratings((80, 70), 2_000)
    ids = np.arange(80), np.arange(70)
    ratings = data.Ratings(rows, cols, values, shape, *ids, data.split_cells(2_000))
    train, test, ratio = paper.seeded(ratings, 0, plan)
    assert 0 < train.figure < test.figure
    assert ratio.wanted == 8


def test_startup(bench, plan, monkeypatch, capsys) -> None:
    startup = importlib.import_module("sections.startup")
    for settings in startup.FITS.values():
        exec(startup.FIRST_FIT.format(settings=settings, cells=1_000, shape=(60, 50)), {})
        assert all(float(second) > 0 for second in capsys.readouterr().out.split())
    monkeypatch.setattr(startup, "IMPORTS", 1)
    monkeypatch.setattr(startup, "FIRST_FIT", "print(0.25, 0.5)")  # the fits were made above
    lines = lines_of(bench.measure(["startup"], plan), "startup")
    assert [line.wanted for line in lines.values()] == [1, 20, 3, 20, 3]
    assert [line.figure for line in lines.values()][1:] == [0.25] * 4


def test_unknown_section(bench, capsys) -> None:
    with pytest.raises(SystemExit):
        bench.main(["lunch"])
    assert "unknown section 'lunch'" in capsys.readouterr().err


@pytest.mark.parametrize(("shape", "cells"), [((50, 40), 300), ((3, 40), 60), ((400, 9), 700)])
def test_sparse_ratings(made, shape, cells) -> None:
    X = made.sparse_ratings(shape, cells)
    assert X.nnz == cells
    assert (X.dtype, X.indices.dtype) == (np.float32, np.int32)
    assert set(np.unique(X.data)) <= {1, 2, 3, 4, 5}
    for row in np.split(X.indices, X.indptr[1:-1]):
        assert np.all(np.diff(row) > 0)
        assert row.size == 0 or (row[0] >= 0 and row[-1] < shape[1])
    again = made.sparse_ratings(shape, cells)
    assert (abs(again - X)).nnz == 0


def test_too_many_cells(made) -> None:
    with pytest.raises(ValueError, match="cells: at most 40"):
        made.sparse_ratings((10, 9), 41)


def test_rated_is_kept(made, plan) -> None:
    first, second = (made.rated(plan, 2_000, (80, 70)) for _ in range(2))
    assert len(list(plan.out.glob("*.npy"))) == 1
    size = len(first.train[2]) + len(first.test[2])
    assert size == 2_222
    for a, b in zip(
        first.train[:3] + first.test[:3], second.train[:3] + second.test[:3], strict=True
    ):
        assert np.array_equal(a, b)
    together = sp.coo_array((np.ones(size), np.hstack([first.train[:2], first.test[:2]])), (80, 70))
    assert together.toarray().max() == 1


@pytest.fixture
def found(bench):
    took = importlib.import_module("sections.measuring").Took(1, 2)
    share = bench.Line("share", took, 50.0, "%", more=True, tracked=True)
    slope = bench.Line("slope", took, 1.0, "", 1.05, tracked=True)
    error = bench.Line("error", took, 0.8, "RMSE", tracked=True, slack=0.005)
    return {"kernels": [share, bench.Line("seconds", took, 9.0, "s")], "fits": [slope, error]}


def test_planted_regressions(baseline, found, tmp_path) -> None:
    file = tmp_path / "baseline.json"
    assert "none is kept yet" in baseline.compare(found, file)[0]
    baseline.save(found, file)
    assert baseline.compare(found, file) == ["baseline.json: 3 figures compared, 0 worse."]
    share, seconds = found["kernels"]
    slope, error = found["fits"]

    def said(**figures: float) -> list[str]:
        new = [line._replace(figure=figures.get(line.what, line.figure)) for line in (slope, error)]
        first = share._replace(figure=figures.get("share", share.figure))
        return baseline.compare({"kernels": [first, seconds], "fits": new}, file)

    assert said(share=40.0)[0] == (
        "WORSE by 25.0 %: kernels: share, 40 % where the baseline has 50."
    )
    assert said(slope=1.25)[0].startswith("WORSE by 25.0 %: fits: slope")
    assert said(error=0.81)[0].startswith("WORSE by 1.2 %: fits: error")
    assert len(said(share=1.0, slope=9.0, error=9.0)) == 4
    assert len(said(share=42.0, slope=1.19, error=0.803)) == 1
    assert len(said(share=500.0, slope=0.1, error=0.1)) == 1


def test_saving_some_sections_keeps_the_others(baseline, found, tmp_path) -> None:
    file = tmp_path / "baseline.json"
    baseline.save(found, file)
    share = found["kernels"][0]._replace(what="another", figure=7.0)
    baseline.save({"kernels": [share]}, file)
    figures = json.loads(file.read_text())["figures"]
    assert figures == {
        "kernels: share": 50.0,
        "fits: slope": 1.0,
        "fits: error": 0.8,
        "kernels: another": 7.0,
    }
    notes = baseline.compare({"kernels": [share, share._replace(what="new")]}, file)
    assert notes == [
        "baseline.json: 1 figures compared, 0 worse; 1 measured are not in it; "
        "3 in it were not measured."
    ]


def test_no_baseline_from_cpu_seconds(bench, capsys) -> None:
    with pytest.raises(SystemExit):
        bench.main(["kernels", "--save", "--cpu"])
    assert "leave --cpu out" in capsys.readouterr().err


def test_command(bench, plan, tmp_path, capsys) -> None:
    file = str(tmp_path / "kept.json")
    bench.main(["kernels", "--save", "--baseline", file], plan)
    bench.main(["kernels", "--baseline", file], plan)
    printed = capsys.readouterr().out
    assert "kept.json: none is kept yet" in printed
    assert "kept.json: 14 figures compared" in printed
