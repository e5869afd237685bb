"""Modules that commands put off: they are read when they are used, and are the real ones then."""

import subprocess
import sys

import pytest

from pygeco.cli import deferring
from pygeco.cli.deferring import Deferred, defer_imports

START = """
import sys
from pygeco.cli.deferring import Deferred, defer_imports
defer_imports()
import sklearn.base
assert "scipy.stats._stats_py" not in sys.modules, "it was read"
"""
USES = {
    "name": "from scipy.stats import norm; assert norm.cdf(0) == 0.5",
    "package": "import scipy; assert scipy.stats.norm.cdf(0) == 0.5",
    "part of a part": "from scipy.stats import distributions; assert distributions.norm",
    "attribute": "import scipy.stats as s; assert s.norm.cdf(0) == 0.5",
    "those who had it": (
        "had = sys.modules['scipy.stats']; from scipy.stats import norm; assert had.norm is norm"
    ),
    "source": "import inspect; assert inspect.getsource(sys.modules['json'])",
}


@pytest.mark.parametrize("use", USES)
def test_a_module_is_there_when_it_is_used(use) -> None:
    end = (
        "assert not isinstance(sys.modules['scipy.stats'], Deferred)"
        if "stats" in USES[use]
        else ""
    )
    code = "\n".join([START, USES[use], end])
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_what_is_there_or_not_installed_is_left_alone(monkeypatch) -> None:
    json = sys.modules["json"]
    monkeypatch.setattr(deferring, "NAMES", ("json", "no_such_module"))
    defer_imports()
    assert sys.modules["json"] is json
    assert "no_such_module" not in sys.modules


def test_a_command_reads_neither(tmp_path) -> None:
    code = "import sys; sys.argv = ['geco', '--version']; import pygeco.cli\n"
    code += "try: pygeco.cli.main()\nexcept SystemExit: pass\n"
    code += "from pygeco.cli.deferring import Deferred\n"
    code += "assert isinstance(sys.modules['scipy.stats'], Deferred)"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


TABLES = """
import sys
from pygeco.cli.deferring import defer_imports
defer_imports(frames=False)
import numpy as np, pyarrow as pa, pyarrow.compute as pc
import sklearn.base
table = pa.table({"a": np.arange(3), "b": ["x", "", None]})
assert table["a"].to_numpy().tolist() == [0, 1, 2]
assert pc.equal(table["b"], "").to_pylist() == [False, True, None]
assert "pandas" not in sys.modules, "it was read"
"""


def test_arrow_and_scikit_learn_do_without_pandas() -> None:
    pytest.importorskip("pandas")
    ended = subprocess.run([sys.executable, "-c", TABLES], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.parametrize("engine", ["cpu", "dask"])
def test_commands_do_without_data_frames_unless_dask_may_ask_for_them(engine) -> None:
    pytest.importorskip("pandas")
    code = f"import sys; sys.argv = ['geco', 'fit', '--engine={engine}', 'none.csv']\n"
    code += "import pygeco.cli\ntry: pygeco.cli.main()\nexcept SystemExit: pass\n"
    code += "import pyarrow as pa, numpy as np; pa.array(np.arange(2))\n"
    code += f"assert ('pandas' in sys.modules) is {engine == 'dask'}"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_one_that_is_gone_says_so(monkeypatch) -> None:
    module = Deferred("no_such_module")
    monkeypatch.setitem(sys.modules, "no_such_module", module)
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        _ = module.anything
