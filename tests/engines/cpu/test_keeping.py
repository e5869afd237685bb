"""Compiled functions on the disk belong to all the files that their code came from."""

import importlib.util
import sys
from types import SimpleNamespace

import numba
import numpy as np
import pytest

from pygeco.engines.cpu import sources
from pygeco.engines.cpu.keeping import OnceLibrary, njit


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A file with a kernel, and the one that it imports."""
    (tmp_path / "inner.py").write_text("HALF = 1\n")
    (tmp_path / "outer.py").write_text(
        "from pygeco.engines.cpu.keeping import njit\n"
        '"""\nfrom pygeco.engines.cpu.inner import HALF\n"""\n'
        "@njit(cache=True)\ndef double(x):\n    return 2 * x\n"
    )
    monkeypatch.setattr(sources, "FOLDER", tmp_path)
    return tmp_path


def compile_double(folder):
    """The function of the file as a new process would find it, and how it came to be."""
    sources.hash_sources.cache_clear()
    spec = importlib.util.spec_from_file_location("outer", folder / "outer.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.double(4) == 8
    return sum(module.double.stats.cache_hits.values())


def test_a_change_in_an_imported_file_compiles_anew(folder) -> None:
    assert compile_double(folder) == 0
    assert compile_double(folder) == 1
    (folder / "inner.py").write_text("HALF = 2\n")
    assert compile_double(folder) == 0
    assert compile_double(folder) == 1


def test_files_that_are_not_imported_do_not_count(folder) -> None:
    compile_double(folder)
    (folder / "other.py").write_text("HALF = 3\n")
    assert compile_double(folder) == 1


def test_the_kernels_own_files() -> None:
    """A product's code is in four files and more."""
    one, other = (sources.FOLDER / f"{name}.py" for name in ("products", "listing_kernels"))
    assert sources.hash_sources(one) != sources.hash_sources(other)


def add_shares(x, y, out):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * y[i]
        out[i] = x[i] / (1.0 + y[i] * y[i])
    return total


@pytest.mark.parametrize("real", [np.float32, np.float64])
@pytest.mark.parametrize("count", [0, 1, 33, 1000])
def test_the_bits_are_those_of_numba(count, real) -> None:
    rng = np.random.default_rng(count)
    x, y = rng.standard_normal((2, count)).astype(real)
    found = []
    for compiled in (njit(nogil=True)(add_shares), numba.njit(add_shares)):
        out = np.empty(count, real)
        found.append((compiled(x, y, out), out.tobytes()))
    assert found[0] == found[1]


def test_arrays_are_neither_lost_nor_kept() -> None:
    compiled, x, out = njit(add_shares), np.ones(5), np.empty(5)
    compiled(x, x, out)
    before = sys.getrefcount(x), sys.getrefcount(out)
    for _ in range(20):
        compiled(x, x, out)
    assert (sys.getrefcount(x), sys.getrefcount(out)) == before


def test_an_array_of_numba_s_is_refused_and_does_not_leak() -> None:
    with pytest.raises(numba.core.errors.TypingError):
        njit(lambda count: np.empty(count).sum())(3)
    assert njit(lambda count: np.ones(count).sum(), _nrt=True)(3) == 3


@pytest.mark.parametrize("has_builder", [True, False])
def test_passes_of_older_numba_have_no_builder(has_builder) -> None:
    asked = []
    passes = SimpleNamespace(run=lambda *given: asked.append(given))
    made = (passes, "builder") if has_builder else passes
    codegen = SimpleNamespace(_module_pass_manager=lambda: made)
    library = SimpleNamespace(_codegen=codegen, _final_module="module")
    OnceLibrary._optimize_final_module(library)
    assert asked == [("module", "builder") if has_builder else ("module",)]
