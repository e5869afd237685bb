"""What `import pygeco` loads, and what it offers."""

import os
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
    parts = (f"pygeco.cli.{name}" for name in ("deferring", "helping", "streams"))
    assert run.stdout.strip() == str(["pygeco", "pygeco.cli", *parts])


FIRST = """
import os, sys
import numba, numpy, scipy.optimize, scipy.stats, sklearn.base  # once for all children
for name in ("minimize", "MatrixCompletion", "losses", "metrics", "Trace"):
    assert "pygeco" not in sys.modules
    child = os.fork()
    if not child:
        exec(f"import pygeco; a = pygeco.{name}; from pygeco import {name}; assert a is {name}")
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        sys.exit(name)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_name_alone_brings_what_it_needs() -> None:
    """Whichever is asked for first: no part waits for another to have been imported."""
    run = subprocess.run([sys.executable, "-c", FIRST], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


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


@pytest.mark.parametrize("collects", [True, False])
def test_garbage_waits_for_an_import_to_end(collects) -> None:
    code = f"""
import gc, pygeco
({"gc.enable" if collects else "gc.disable"})()
seen = []
gc.callbacks.append(lambda phase, info: seen.append(phase))
pygeco.Trace, pygeco.losses
gc.callbacks.clear()
try:
    pygeco.nothing
except AttributeError:
    print(len(seen), gc.isenabled())
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    looks, enabled = run.stdout.split()
    assert int(looks) <= 4  # begun and ended after each of the two, where there were dozens
    assert enabled == str(collects)
