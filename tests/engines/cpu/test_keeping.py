"""Compiled functions on the disk belong to all the files that their code came from."""

import importlib.util

import pytest

from pygeco.engines.cpu import sources


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
