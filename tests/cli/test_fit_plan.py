"""What the options of `geco fit` stand for."""

from pathlib import Path

import pytest

from pygeco import Ridge
from pygeco.cli.cluster import Cluster
from pygeco.cli.fit_plan import Plan, make_settings, refuse_both


def plan(**given) -> Plan:
    settings = {"holdout": None, "test": None, "limit": None, "resume": False, "restart": False}
    settings |= {"cluster": None, "matrix": False, "overwrite": False}
    made = make_settings("3", "squared", "ridge:0.5", 0, "mean", ["-1"], 7, "cpu")
    return Plan("folder/r.csv", Path("out/m.geco"), {}, made, **settings | given)


def test_settings_are_parameters_of_the_estimator() -> None:
    made = plan().settings
    assert made["rank"] == 3
    assert made["penalty"] == Ridge(0.5)
    assert made["missing_values"] == [-1.0]
    assert made["random_state"] == plan().seed == 7
    assert "engine" not in made
    from pygeco import MatrixCompletion

    assert MatrixCompletion(**made).get_params()["duplicates"] == "mean"


def test_names_of_files() -> None:
    assert plan().name == "r.csv"
    assert plan().checkpoint == Path("out/m.geco.checkpoint")


def test_options_that_exclude_each_other() -> None:
    with pytest.raises(ValueError, match=r"^--a: cannot be given together with --b; choose one\."):
        refuse_both("--a", 0.1, "--b", Path("x"))
    refuse_both("--a", None, "--b", True)
    with pytest.raises(ValueError, match=r"^--matrix: is read on this machine"):
        plan(matrix=True, cluster=Cluster(None, 2))
