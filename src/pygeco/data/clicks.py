"""Clicks with the splits by which published figures were found."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pygeco.data.movielens import load_movielens
from pygeco.io.click_lists import ClickPairs, read_click_lists, read_left_out

FOLDER = "clicks"  # in PYGECO_DATA
FILES = {
    "yelp2018": ("yelp2018-train.txt.gz", "yelp2018-test.txt.gz"),
    "ml-1m": ("ml-1m.test.negative.gz",),
}
SOURCES = {
    "yelp2018": "LightGCN's train.txt and test.txt of Yelp2018, packed by gzip",
    "ml-1m": "NCF's ml-1m.test.negative, packed by gzip",
}


class ClickSplit(NamedTuple):
    """Clicks to fit and held-out clicks, in matrices of the same shape.

    Attributes
    ----------
    train, test : sparse matrices (m, n)
        Ones where a row clicked.
    negatives : int array or None
        For each held-out click, row by row, the columns to rank it among; None if all columns are
        ranked.
    """

    train: Any
    test: Any
    negatives: NDArray[np.int64] | None = None


def load_clicks(name: str) -> ClickSplit:
    """Read clicks in the splits on which figures were published.

    The files must be in the folder clicks/ inside the folder named by PYGECO_DATA.

    Parameters
    ----------
    name : "yelp2018" or "ml-1m"
        Yelp2018 in LightGCN's split, judged by Recall@20 and nDCG@20 over all columns; or
        MovieLens-1M's ratings as clicks, where NCF (He et al. 2017) left out the last one of each
        user and ranked it among 99 others, judged by HR@10 and NDCG@10. The latter also needs
        MovieLens' own ratings.

    Returns
    -------
    ClickSplit
    """
    if name not in FILES:
        raise ValueError(f"name: unknown set {name!r}; use one of {sorted(FILES)}.")
    paths = [_find_file(name, file) for file in FILES[name]]
    if name == "ml-1m":
        return _leave_one_out(paths[0])
    train, test = (read_click_lists(path) for path in paths)
    m, n = (1 + max(int(x.max(initial=-1)) for x in both) for both in zip(train, test, strict=True))
    return ClickSplit(_make_matrix(train, (m, n)), _make_matrix(test, (m, n)))


def _leave_one_out(path: Path) -> ClickSplit:
    """All ratings but those left out; items are numbered as they first appear, users by id."""
    left = read_left_out(path)
    ratings = load_movielens("ml-1m")
    firsts = np.unique(ratings.cols, return_index=True)[1]
    place = np.empty(ratings.shape[1], np.int64)
    place[np.argsort(firsts)] = np.arange(ratings.shape[1])
    everything = _make_matrix(
        ClickPairs(ratings.rows.astype(np.int64), place[ratings.cols]), ratings.shape
    )
    order = np.lexsort((left.cols, left.rows))
    test = _make_matrix(ClickPairs(left.rows, left.cols), ratings.shape)
    train = everything - everything.multiply(test)
    train.eliminate_zeros()
    return ClickSplit(sp.csr_matrix(train), test, left.negatives[order])


def _make_matrix(pairs: ClickPairs, shape: tuple[int, int]) -> Any:
    """Ones at the pairs, once each."""
    found = sp.coo_matrix((np.ones(len(pairs.rows), np.float32), tuple(pairs)), shape).tocsr()
    found.data[:] = 1
    found.sort_indices()
    return found


def _find_file(name: str, file: str) -> Path:
    folder = os.environ.get("PYGECO_DATA")
    path = Path(folder or ".") / FOLDER / file
    if folder is None or not path.is_file():
        raise FileNotFoundError(
            f"{name} is not on this machine; put {SOURCES[name]}, into {FOLDER}/ of the folder "
            f"that the environment variable PYGECO_DATA names, as {file}."
        )
    return path
