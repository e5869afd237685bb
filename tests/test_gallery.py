"""Every example runs and draws its picture."""

import runpy
from pathlib import Path

import matplotlib as mpl
import pytest

mpl.use("Agg")
from matplotlib import pyplot as plt

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path, tmp_path, capsys) -> None:
    runpy.run_path(str(path))["main"](tmp_path)
    plt.close("all")
    assert (tmp_path / f"{path.stem}.png").read_bytes().startswith(b"\x89PNG")
    assert capsys.readouterr().out
