"""Indexes for approximate search of the largest inner products, by packages that may be there."""

from __future__ import annotations

import importlib
import os
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

KINDS = ("hnswlib", "faiss")
LINKS, BUILD_WIDTH = 32, 200  # of each vector, and candidates while they are linked
SEARCH_WIDTHS = (64, 128, 256, 512, 1024)  # candidates while searching: the first that is enough
WANTED_RECALL = 0.99
JUDGED_ROWS = 1_000


class IndexFile(NamedTuple):
    """What was written: the kind of index, and what its answers are worth.

    `recall` is the share of the true k best columns of rows that it finds, with `width` candidates
    while searching, over `rows` rows.
    """

    kind: str
    recall: float
    k: int
    width: int
    rows: int


def write_index(
    columns: NDArray[np.float32],
    rows: NDArray[np.float32],
    path: str | os.PathLike[str],
    kind: str,
    *,
    k: int = 10,
) -> IndexFile:
    """An index of the columns' vectors, and its recall for vectors of rows, some of which judge it.

    The largest inner products are looked for, as the smallest distances of lifted vectors (see
    `lift_columns`): a row is looked for with a zero at its end. The search width grows until 99 %
    are found.
    """
    if kind not in KINDS:
        raise ValueError(f"--index: unknown {kind!r}; use one of {', '.join(KINDS)}.")
    package = import_package(kind)
    k = min(k, len(columns))
    step = max(1, len(rows) // JUDGED_ROWS)
    judged = np.ascontiguousarray(rows[::step][:JUDGED_ROWS])
    true = find_exactly(columns, judged, k)
    index = (_Hnswlib if kind == "hnswlib" else _Faiss)(package, lift_columns(columns))
    asked = np.column_stack([judged, np.zeros(len(judged), np.float32)])
    recall, width = 0.0, SEARCH_WIDTHS[0]
    for width in SEARCH_WIDTHS:
        recall = measure_recall(index.search(asked, k, max(width, k)), true)
        if recall >= WANTED_RECALL or width >= len(columns):
            break
    index.save(os.fspath(path))
    return IndexFile(kind, recall, k, width, len(judged))


def lift_columns(columns: NDArray[np.float32]) -> NDArray[np.float32]:
    """All of one length by one more coordinate, √(max ‖v‖² − ‖v‖²), which a row has as 0.

    Then ‖v − u‖² = max ‖v‖² + ‖u‖² − 2 ⟨u, v⟩: the nearest column has the largest inner product.
    Graphs of neighbors find the nearest far better than the largest product itself: of the ten best
    films of MovieLens-1M, 79 % so and all but a few by distances.
    """
    sizes = np.sum(columns.astype(float) ** 2, axis=1)
    more = np.sqrt(np.maximum(sizes.max(initial=0.0) - sizes, 0.0))
    return np.column_stack([columns, more]).astype(np.float32)


def find_exactly(
    columns: NDArray[np.float32], rows: NDArray[np.float32], k: int
) -> NDArray[np.int64]:
    """The k columns with the largest inner product with each row, in any order."""
    found = []
    for at in range(0, len(rows), 256):
        table = rows[at : at + 256] @ columns.T
        found.append(np.argpartition(table, len(columns) - k, axis=1)[:, len(columns) - k :])
    return np.concatenate(found) if found else np.zeros((0, k), np.int64)


def measure_recall(found: NDArray[Any], true: NDArray[Any]) -> float:
    """The share of the true ones that were found, row by row."""
    if not true.size:
        return 1.0
    hits = sum(len(np.intersect1d(a, b)) for a, b in zip(found, true, strict=True))
    return hits / true.size


class _Hnswlib:
    def __init__(self, package: Any, vectors: NDArray[np.float32]) -> None:
        self.index = package.Index(space="l2", dim=vectors.shape[1])
        self.index.init_index(
            max_elements=len(vectors), M=LINKS, ef_construction=BUILD_WIDTH, random_seed=0
        )
        self.index.add_items(vectors, np.arange(len(vectors)), num_threads=1)

    def search(self, rows: NDArray[np.float32], k: int, width: int) -> NDArray[Any]:
        self.index.set_ef(width)
        return self.index.knn_query(rows, k=k)[0]

    def save(self, path: str) -> None:
        self.index.save_index(path)


class _Faiss:
    def __init__(self, package: Any, vectors: NDArray[np.float32]) -> None:
        self.package = package
        self.index = package.IndexHNSWFlat(vectors.shape[1], LINKS)
        self.index.hnsw.efConstruction = BUILD_WIDTH
        self.index.add(np.ascontiguousarray(vectors))

    def search(self, rows: NDArray[np.float32], k: int, width: int) -> NDArray[Any]:
        self.index.hnsw.efSearch = width
        return self.index.search(rows, k)[1]

    def save(self, path: str) -> None:
        self.package.write_index(self.index, path)


def import_package(kind: str) -> Any:
    """The package of a kind of index; an error says how to get it."""
    try:
        return importlib.import_module(kind)
    except ModuleNotFoundError as error:
        name = {"faiss": "faiss-cpu"}.get(kind, kind)
        raise ModuleNotFoundError(
            f"--index: {kind} is not installed; run: pip install {name}", name=kind
        ) from error
