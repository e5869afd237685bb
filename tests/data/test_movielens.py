"""The loader, on small files of its own; the real sets are in tests/test_paper.py."""

import numpy as np
import pytest

from pygeco.data import load_movielens


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PYGECO_DATA", str(tmp_path))
    small, large = tmp_path / "ml-100k", tmp_path / "ml-1m"
    small.mkdir()
    large.mkdir()
    (small / "u.data").write_text("7\t3\t5\t88\n2\t9\t1\t88\n7\t9\t2\t88\n")
    (small / "ub.base").write_text("7\t3\t5\t88\n2\t9\t1\t88\n")
    (small / "ub.test").write_text("7\t9\t2\t88\n")
    (large / "ratings.dat").write_text("1::40::3::9\n5::2::4::9\n")
    return tmp_path


def test_ids_become_indices(folder) -> None:
    ratings = load_movielens("ml-100k")
    assert ratings.shape == (2, 2)
    assert list(ratings.users[ratings.rows]) == [7, 2, 7]
    assert list(ratings.items[ratings.cols]) == [3, 9, 9]
    assert list(ratings.values) == [5, 1, 2]
    np.testing.assert_array_equal(ratings.test, np.random.default_rng(0).random(3) < 0.1)
    large = load_movielens("ml-1m")
    assert list(large.items[large.cols]) == [40, 2]
    assert list(large.values) == [3, 4]


def test_official_split(folder) -> None:
    ratings = load_movielens("ml-100k", "ub")
    assert list(ratings.test) == [False, False, True]
    rows, cols, values, shape = ratings.cells(ratings.test)
    assert (ratings.users[rows[0]], ratings.items[cols[0]], values[0], shape) == (7, 9, 2, (2, 2))


def test_errors_say_what_to_do(folder, monkeypatch) -> None:
    with pytest.raises(ValueError, match=r"^name: unknown set 'netflix'; use one of"):
        load_movielens("netflix")
    with pytest.raises(ValueError, match=r"^split: 'ub' is not a split of ml-1m"):
        load_movielens("ml-1m", "ub")
    with pytest.raises(FileNotFoundError, match=r"ratings\.dat is missing; unpack"):
        load_movielens("ml-10m")
    monkeypatch.delenv("PYGECO_DATA")
    with pytest.raises(FileNotFoundError, match=r"^PYGECO_DATA is not set; point it at"):
        load_movielens("ml-1m")
