"""Indexes are judged against exact search; packages stand behind a small face."""

import importlib
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from pygeco.io.vector_index import (
    KINDS,
    find_exactly,
    lift_columns,
    measure_recall,
    write_index,
)

RNG = np.random.default_rng(0)
COLUMNS = RNG.standard_normal((80, 6)).astype(np.float32)
ROWS = RNG.standard_normal((40, 6)).astype(np.float32)


class Careless:
    """Hnswlib's face over exact search, which misses every fourth until it looks wide enough."""

    def __init__(self, space, dim) -> None:
        assert (space, dim) == ("l2", 7)

    def init_index(self, max_elements, **_) -> None:
        self.vectors = np.zeros((max_elements, 7), np.float32)

    def add_items(self, vectors, ids, **_) -> None:
        self.vectors[ids] = vectors

    def set_ef(self, width) -> None:
        self.width = width

    def knn_query(self, rows, k):
        apart = np.linalg.norm(rows[:, None] - self.vectors, axis=2)
        found = np.argsort(apart, axis=1)[:, :k]
        if self.width < 200:
            found[::4] = -1
        return found, None

    def save_index(self, path) -> None:
        np.save(f"{path}.npy", self.vectors)


def test_recall_is_measured_and_the_search_widened(tmp_path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "hnswlib", SimpleNamespace(Index=Careless))
    found = write_index(COLUMNS, ROWS, tmp_path / "a", "hnswlib", k=5)
    assert (found.recall, found.rows, found.k) == (0.75, 40, 5)  # 128 looks at all 80
    many = np.repeat(COLUMNS, 9, axis=0) + 1e-3 * RNG.standard_normal((720, 6)).astype(np.float32)
    found = write_index(many, ROWS, tmp_path / "a", "hnswlib", k=5)
    assert (found.recall, found.width) == (1.0, 256)
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), lift_columns(many))
    sizes = np.linalg.norm(lift_columns(many), axis=1)
    np.testing.assert_allclose(sizes, sizes[0], rtol=1e-5)


def test_exact_search_and_recall() -> None:
    table = ROWS @ COLUMNS.T
    true = find_exactly(COLUMNS, ROWS, 7)
    for line, scores in zip(true, table, strict=True):
        assert set(line) == set(np.argsort(-scores)[:7])
    assert measure_recall(true, true) == 1
    assert measure_recall(np.full_like(true, -1), true) == 0
    assert measure_recall(true[:, :0], true[:, :0]) == 1


def test_a_package_that_is_not_there_is_named(tmp_path, monkeypatch) -> None:
    for kind in KINDS:
        monkeypatch.setitem(sys.modules, kind, None)
        with pytest.raises(ModuleNotFoundError, match="pip install"):
            write_index(COLUMNS, ROWS, tmp_path / "a", kind)
    with pytest.raises(ValueError, match="unknown 'x'"):
        write_index(COLUMNS, ROWS, tmp_path / "a", "x")


@pytest.mark.parametrize("kind", KINDS)
def test_the_packages_themselves(tmp_path, kind) -> None:
    try:
        importlib.import_module(kind)
    except ModuleNotFoundError:
        pytest.skip(f"{kind} is not installed")
    found = write_index(COLUMNS, ROWS, tmp_path / "a", kind)
    assert found.recall >= 0.99
    assert (tmp_path / "a").stat().st_size > COLUMNS.nbytes
