"""What `import pygeco` loads, and what it offers."""

import subprocess
import sys

import pytest

import pygeco


def test_import_leaves_the_heavy_optional_parts_alone() -> None:
    heavy = ["sklearn", "matplotlib", "pandas", "typer", "cvxpy", "pyarrow", "cupy", "dask"]
    code = f"import sys, pygeco; print([name for name in {heavy} if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_the_package_itself_loads_none_of_its_parts() -> None:
    heavy = ("pygeco", "numpy", "scipy", "numba", "typer")
    code = f"import sys, pygeco.cli; print(sorted(m for m in sys.modules if m.startswith({heavy})))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "['pygeco', 'pygeco.cli', 'pygeco.cli.streams']"


@pytest.mark.parametrize("name", ["minimize", "MatrixCompletion", "losses", "metrics", "Trace"])
def test_a_name_alone_brings_what_it_needs(name) -> None:
    """Whichever is asked for first: no part waits for another to have been imported."""
    code = f"import pygeco; a = pygeco.{name}; from pygeco import {name}; print(a is {name})"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "True"


def test_dir_lists_the_public_names_and_nothing_else() -> None:
    assert dir(pygeco) == sorted(pygeco.__all__)
    code = (
        "import pygeco; before = dir(pygeco); import pygeco.cli.app; print(before == dir(pygeco))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "True"
    for name in ("MatrixCompletion", "load", "losses", "rivals", "plot"):
        assert name in dir(pygeco)


def test_every_public_name_is_there() -> None:
    for name in pygeco.__all__:
        assert getattr(pygeco, name) is not None
    assert sorted(pygeco.__all__) == list(pygeco.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Unknown'"):
        _ = pygeco.Unknown
