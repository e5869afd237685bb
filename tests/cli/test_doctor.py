"""`geco doctor` tells what is there, and what to fix."""

import json

import pytest
from typer.testing import CliRunner

import pygeco
from pygeco.cli.app import app
from pygeco.diagnostics import machine as health


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
    lines = CliRunner().invoke(app, ["doctor", "--warm"]).output
    for word in ("versions", "BLAS", "cache", "matvec", "sweep"):
        assert word in lines
