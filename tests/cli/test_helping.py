"""The process that compiles ahead: where it pays, what it leaves to the fit, and how it ends."""

import json
import os
import pty
import subprocess
import sys
import time
from itertools import product

import numpy as np
import pytest

from pygeco.cli import helping
from pygeco.cli.displays import WORDS
from pygeco.engines.cpu.ahead import CLICKS, RATINGS

FIT = ["fit", "ratings.csv", "-o", "m", "--holdout", "0.1"]
# `geco`, which writes what it has compiled itself, and all types of kernels that it has asked for.
RECORD = """
import atexit, json, sys
import numpy as np
from numba.core import event
from pygeco.cli import helping, main
compiled, asked = [], []
class Record(event.Listener):
    def on_start(self, event):
        compiled.append(event.data["dispatcher"].py_func.__name__)
    def on_end(self, event):
        pass
event.register("numba:compile", Record())
def spell(kind):
    code = np.dtype(str(getattr(kind, "dtype", kind))).str[1:].replace("b1", "?")
    return f"{code}:{kind.ndim}" if hasattr(kind, "ndim") else code
def write():
    from pygeco.engines.cpu.parallel import Kernel
    for module in [m for n, m in sys.modules.items() if n.startswith("pygeco.engines.cpu.")]:
        for name, kernel in vars(module).items():
            if isinstance(kernel, Kernel) and kernel.compiled.py_func.__module__ == module.__name__:
                file = module.__name__.rpartition(".")[2]
                for kinds in kernel.compiled.overloads:
                    asked.append([f"{file}.{name}", " ".join(map(spell, kinds[1:]))])
    helped = [one is not None for one in helping.HELPERS]
    with open("record.json", "w") as file:
        json.dump([compiled, asked, helped], file)
atexit.register(write)
main()
"""


def write_ratings(file, users=40_000, items=60, count=120_000) -> None:
    """Many users and few items, some popular; who likes an item rates it, and more at some hours
    than at others: all kernels of the table are needed.
    """
    rng = np.random.default_rng(0)
    popular = 1 / np.arange(1, items + 1)
    rows = rng.integers(0, users, count)
    cols = rng.choice(items, count, p=popular / popular.sum())
    z = np.sum(rng.normal(size=(users, 2))[rows] * rng.normal(size=(items, 2))[cols], axis=1)
    seen = rng.random(count) < 1 / (1 + np.exp(-2 * z))
    _, at = np.unique((rows * items + cols)[seen], return_index=True)
    rng.shuffle(at)
    hours = rng.integers(0, 3, count)
    moods = 0.6 * rng.normal(size=(users, 3))[rows, hours]
    values = np.clip(np.round(3 + z + moods), 1, 5)
    times = 1_000_000_000 + 3600 * hours + rng.integers(0, 60, count)
    table = np.column_stack([rows, cols, values, times])[seen][at]
    np.savetxt(file, table, "%d", ",", header="user,item,rating,timestamp", comments="")


def run_on_terminal(folder, *arguments, **env) -> tuple[str, list]:
    """What a terminal shows of a recorded command, and its record."""
    leader, follower = pty.openpty()
    env = os.environ | {"TERM": "xterm", "COLUMNS": "100", "NO_COLOR": "1"} | env
    command = [sys.executable, "-c", RECORD, *arguments]
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), follower)
    with subprocess.Popen(command, cwd=folder, env=env, **streams) as process:
        os.close(follower)
        parts = []
        while True:
            try:
                parts.append(os.read(leader, 1 << 16))
            except OSError:
                break
    os.close(leader)
    shown = b"".join(parts).decode()
    assert process.returncode == 0, shown
    return shown, json.loads((folder / "record.json").read_text())


def check_table(table, asked) -> None:
    """A fit has asked for all that is compiled ahead, and for nothing else."""
    lines, fitted = {(name, line) for name in table for line in table[name]}, set(map(tuple, asked))
    wrong = {name for name, _ in lines ^ fitted}
    assert not wrong, "\n".join(f"{name}: {line}" for name, line in sorted(fitted) if name in wrong)


needs_two_cores = pytest.mark.skipif(helping.count_cores() < 2, reason="needs two cores")


@needs_two_cores
def test_a_first_fit_is_helped_and_asks_for_all_that_is_compiled_ahead(tmp_path) -> None:
    """The one test that compiles into an empty folder, and so of all that can be seen of it."""
    (tmp_path / "tmp").mkdir()
    write_ratings(tmp_path / "ratings.csv")
    folders = {"NUMBA_CACHE_DIR": str(tmp_path / "kernels"), "TMPDIR": str(tmp_path / "tmp")}
    shown, (compiled, _, helped) = run_on_terminal(tmp_path, *FIT, **folders)
    assert WORDS in shown
    assert helped == [True]
    kernels = [name for name in compiled if any(key.endswith(f".{name}") for key in RATINGS)]
    assert len(kernels) < sum(map(len, RATINGS.values()))
    assert list((tmp_path / "tmp").iterdir()) == []
    shown, (compiled, asked, helped) = run_on_terminal(tmp_path, *FIT, "--overwrite", **folders)
    assert WORDS not in shown
    assert helped == [False]
    assert compiled == []
    check_table(RATINGS, asked)


@needs_two_cores
def test_a_fit_of_clicks_asks_for_all_that_is_compiled_ahead(tmp_path) -> None:
    """With kernels where they are kept: what the fit asks for is the same."""
    write_ratings(tmp_path / "ratings.csv", users=9_000, count=30_000)
    _, (_, asked, _) = run_on_terminal(tmp_path, *FIT, "--implicit")
    check_table(CLICKS, asked)


@pytest.fixture
def started(monkeypatch):
    """The kinds of fits for which a process would have been started."""
    kinds = []
    monkeypatch.setattr(helping, "HELPERS", [])
    monkeypatch.setattr(helping, "Helper", kinds.append)
    monkeypatch.setattr(helping, "count_cores", lambda: 2)
    monkeypatch.setattr(helping, "is_kept", lambda kind: False)
    return kinds


@pytest.mark.parametrize(
    ("arguments", "kinds"),
    [
        (FIT, ["ratings"]),
        ([*FIT, "--rank", "5"], ["ratings"]),
        ([*FIT, "--implicit"], ["clicks"]),
        ([*FIT, "--engine", "cuda"], []),
        ([*FIT, "--engine=dask"], []),
        ([*FIT, "--penalty", "none"], []),
        (["fit", "--help"], []),
        (["report", "m"], []),
        ([], []),
    ],
)
def test_usual_fits_are_helped(arguments, kinds, started, monkeypatch) -> None:
    helping.compile_ahead(arguments)
    assert started == kinds
    started.clear()
    monkeypatch.setattr(helping, "count_cores", lambda: 1)
    helping.compile_ahead(arguments)
    assert started == []


@pytest.mark.parametrize(("kept", "implicit"), [*product(helping.LARGEST, (False, True))])
def test_kernels_of_either_kind_say_what_the_files_here_are(
    kept, implicit, started, monkeypatch
) -> None:
    monkeypatch.setattr(helping, "is_kept", lambda kind: kind == kept)
    helping.compile_ahead([*FIT, "--implicit"] if implicit else FIT)
    helped = ["clicks"] if implicit and kept == "ratings" else []
    assert started == helped


def test_a_process_of_others_is_left_alone(started) -> None:
    helping.turn_to_clicks()  # no command line has begun
    assert started == []


def test_one_core_for_numba_is_one(monkeypatch) -> None:
    monkeypatch.setenv("NUMBA_NUM_THREADS", "1")
    assert helping.count_cores() == 1


def test_the_index_of_the_largest_kernels_says_whether_they_are_kept(tmp_path, monkeypatch) -> None:
    """In the folders that numba has, and only from these sources, which the check reads fast."""
    from pygeco.engines.cpu import background_sweep, sweep

    for kernel in (sweep.half_sweep, background_sweep.solve_rows):
        index = kernel.compiled._cache._cache_file
        assert os.path.dirname(index._index_path) in map(str, helping.find_folders())
    assert os.path.samefile(index._cache_path, kernel.stats.cache_path)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    (folder,) = helping.find_folders()
    assert not helping.is_kept("clicks")
    folder.mkdir(parents=True)
    monkeypatch.setattr(index, "_index_path", str(folder / index._index_name))
    index._save_index({})
    assert helping.is_kept("clicks")
    began = time.perf_counter()
    assert helping.is_kept("clicks")
    assert time.perf_counter() - began < 0.1
    monkeypatch.setattr(index, "_source_stamp", (b"others",))
    index._save_index({})
    assert not helping.is_kept("clicks")


def test_a_helper_ends_at_once_with_its_folder(monkeypatch) -> None:
    from pygeco.engines.cpu import claims

    monkeypatch.setattr(claims, "SHARES", [])
    monkeypatch.setattr(helping.atexit, "register", lambda function: None)
    helper = helping.Helper("ratings")
    (shares,) = claims.SHARES
    assert shares.is_accompanied()
    helper.end()
    helper.end()
    assert not shares.is_accompanied()
    assert not helper.folder.exists()


def test_a_helper_that_cannot_start_is_no_error(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(helping, "HELPERS", [])
    monkeypatch.setattr(helping, "count_cores", lambda: 2)
    monkeypatch.setattr(helping, "is_kept", lambda kind: False)
    monkeypatch.setattr(helping.sys, "executable", str(tmp_path / "none"))
    monkeypatch.setattr(helping.tempfile, "tempdir", str(tmp_path))
    helping.compile_ahead(FIT)
    assert helping.HELPERS == []
    assert list(tmp_path.iterdir()) == []
