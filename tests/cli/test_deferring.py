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
assert not {"pandas.core", "scipy.stats._stats_py"} & set(sys.modules), "they were read"
"""
USES = {
    "attribute": "import pandas as pd; assert pd.DataFrame({'a': [1]}).a.sum() == 1",
    "name": "from scipy.stats import norm; assert norm.cdf(0) == 0.5",
    "package": "import scipy; assert scipy.stats.norm.cdf(0) == 0.5",
    "part": "import pandas.api.types as t; assert t.is_integer(1)",
    "part of a part": "from scipy.stats import distributions; assert distributions.norm",
    "those who had it": (
        "from sklearn.utils import fixes; import pandas; assert fixes.pd.DataFrame\n"
        "import pandas as real; assert fixes.pd.DataFrame is real.DataFrame"
    ),
    "arrow": "import pyarrow as pa; assert pa.table({'a': [1]}).to_pandas().a[0] == 1",
    "source": "import inspect; assert inspect.getsource(sys.modules['json'])",
}


@pytest.mark.parametrize("use", USES)
def test_a_module_is_there_when_it_is_used(use) -> None:
    pytest.importorskip("pandas")
    end = "assert not isinstance(sys.modules['pandas'], Deferred)" if "pandas" in USES[use] else ""
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


def test_one_that_is_gone_says_so(monkeypatch) -> None:
    module = Deferred("no_such_module")
    monkeypatch.setitem(sys.modules, "no_such_module", module)
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        _ = module.anything
