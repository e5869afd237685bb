"""Loaders of clicks: on small files of their own, and on the real ones where they are."""

import gzip
import os
from pathlib import Path

import numpy as np
import pytest

from pygeco import evaluate
from pygeco.data import load_clicks
from pygeco.rivals import popular

HERE = Path(os.environ.get("PYGECO_DATA", "nowhere")) / "clicks"
real = pytest.mark.skipif(not HERE.is_dir(), reason="the clicks are not in PYGECO_DATA")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PYGECO_DATA", str(tmp_path))
    (tmp_path / "clicks").mkdir()
    (tmp_path / "ml-1m").mkdir()
    files = {
        "yelp2018-train.txt.gz": b"0 2 1\n1 0\n",
        "yelp2018-test.txt.gz": b"1 3\n",
        "ml-1m.test.negative.gz": b"(1,0)\t2\t1\n(0,1)\t0\t2\n",
    }
    for name, text in files.items():
        (tmp_path / "clicks" / name).write_bytes(gzip.compress(text))
    # Items in the order of their first appearance: 9, 4, 7.
    ratings = "1::9::5::8\n1::4::3::8\n2::7::2::8\n2::9::1::8\n"
    (tmp_path / "ml-1m" / "ratings.dat").write_text(ratings)
    return tmp_path


def test_lists_become_matrices_of_one_shape(folder) -> None:
    train, test, negatives = load_clicks("yelp2018")
    np.testing.assert_array_equal(train.toarray(), [[0, 1, 1, 0], [1, 0, 0, 0]])
    np.testing.assert_array_equal(test.toarray(), [[0, 0, 0, 0], [0, 0, 0, 1]])
    assert negatives is None


def test_one_of_each_user_is_left_out(folder) -> None:
    train, test, negatives = load_clicks("ml-1m")
    np.testing.assert_array_equal(train.toarray(), [[1, 0, 0], [0, 0, 1]])
    np.testing.assert_array_equal(test.toarray(), [[0, 1, 0], [1, 0, 0]])
    assert negatives.tolist() == [[0, 2], [2, 1]]  # in the order of the rows


def test_what_is_not_there_is_asked_for(folder, monkeypatch) -> None:
    with pytest.raises(ValueError, match=r"^name: unknown set 'netflix'"):
        load_clicks("netflix")
    (folder / "clicks" / "yelp2018-test.txt.gz").unlink()
    with pytest.raises(FileNotFoundError, match=r"put LightGCN's .* as yelp2018-test.txt.gz"):
        load_clicks("yelp2018")
    monkeypatch.delenv("PYGECO_DATA")
    with pytest.raises(FileNotFoundError, match="PYGECO_DATA"):
        load_clicks("ml-1m")


@real
def test_the_real_files_have_the_published_sizes() -> None:
    train, test, negatives = load_clicks("ml-1m")
    assert (train.nnz, test.nnz, negatives.shape) == (994_169, 6_040, (6_040, 99))
    assert not train.multiply(test).nnz
    settings = {"protocol": "leave-one-out", "negatives": negatives, "k": 10}
    found = evaluate(popular(train), test, **settings)
    # He et al. (2017), figure 5: ItemPop's HR@10 and NDCG@10 are near 0.45 and 0.25.
    assert found.hit_rate[10] == pytest.approx(0.4535, abs=1e-4)
    assert found.ndcg[10] == pytest.approx(0.2543, abs=1e-4)
