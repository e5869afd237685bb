"""`geco doctor` tells what is there, and what to fix."""

import json

import pytest
from typer.testing import CliRunner

import pygeco
from pygeco.cli.app import app
from pygeco.diagnostics import machine as health
from pygeco.engines.cpu.health import Cache

WELL = Cache("somewhere", True, 1.0, 5, 0)
NO_GPU = health.Gpu([], None)


@pytest.fixture
def _small(monkeypatch):
    full = health.speeds
    monkeypatch.setattr(health, "speeds", lambda: full(cells=40_000, s=8))


@pytest.mark.usefixtures("_small")
def test_doctor_measures_and_tells() -> None:
    result = CliRunner().invoke(app, ["doctor", "--json"])
    assert result.exit_code == 0, result.output
    found = json.loads(result.output)
    assert found["versions"]["pygeco"] == pygeco.__version__
    assert all(value > 0 for value in found["speeds"].values())
    assert found["cache"]["hits"] + found["cache"]["misses"] >= 4
    assert found["threads"]["kernels"] >= 1
    lines = CliRunner().invoke(app, ["doctor"]).output
    for word in ("versions", "BLAS", "cache", "matvec", "sweep"):
        assert word in lines


def test_advice_names_each_fault() -> None:
    whole = dict.fromkeys(("python", "pygeco", *health.NEEDED, *health.EXTRAS), "1.0")
    assert health.advice(whole, 4, 4, WELL, NO_GPU) == []
    cases = {
        "use 1 of 4 cores": health.advice(whole, 1, 4, WELL, NO_GPU),
        "NUMBA_CACHE_DIR": health.advice(whole, 4, 4, WELL._replace(writable=False), NO_GPU),
        "run geco doctor again": health.advice(whole, 4, 4, WELL._replace(misses=3), NO_GPU),
        "pygeco[report]": health.advice(whole | {"jinja2": None}, 4, 4, WELL, NO_GPU),
        "no CuPy": health.advice(whole, 4, 4, WELL, health.Gpu(["H200"], None)),
        "keep this machine busy": health.advice(whole, 4, 4, WELL, NO_GPU, load=9.0),
    }
    for said, lines in cases.items():
        assert len(lines) == 1
        assert said in lines[0]


def test_cells_for_the_measure_are_distinct() -> None:
    assert health._cells(40_000).size == 40_000
