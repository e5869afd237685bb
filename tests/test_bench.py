"""The benchmark script keeps working, on sizes too small to time anything."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "bench.py"


@pytest.fixture
def bench(tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location("bench", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "OUT", tmp_path / "out")
    monkeypatch.setattr(module, "SIZES", [(500, (60, 50)), (1000, (70, 60))])
    monkeypatch.delenv("PYGECO_DATA", raising=False)
    return module


def test_sections_by_name(bench, monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "argv", ["bench.py", "growth", "movielens"])
    bench.main()
    printed = capsys.readouterr().out
    assert "exponent" in printed
    assert "skipped: PYGECO_DATA is not set" in printed
    written = json.loads((bench.OUT / "growth.json").read_text())
    assert [row["cells"] for row in written["rows"]] == [500, 1000]
    assert not (bench.OUT / "movielens.json").exists()


def test_unknown_section(bench, monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "argv", ["bench.py", "lunch"])
    with pytest.raises(SystemExit):
        bench.main()
    assert "unknown section 'lunch'" in capsys.readouterr().err
