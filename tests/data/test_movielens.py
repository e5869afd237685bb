"""The loader, on small files of its own; the real sets are in tests/algorithm/test_paper.py."""

import os
from pathlib import Path

import numpy as np
import pytest

from pygeco.data import load_movielens, load_movielens_attributes, movielens


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
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
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
    with pytest.raises(ValueError, match=r"^split: 'ub' is not a split of ml-1m, which has none"):
        load_movielens("ml-1m", "ub")
    with pytest.raises(
        ValueError, match=r"^split: 'ub' is not a split of ml-10m, which has \('ra'"
    ):
        load_movielens("ml-10m", "ub")
    (folder / "ml-10M100K").mkdir()
    with pytest.raises(FileNotFoundError, match=r"ratings\.dat is missing; unpack"):
        load_movielens("ml-10m")
    monkeypatch.delenv("PYGECO_DATA")
    with pytest.raises(FileNotFoundError, match=r"^ml-1m is not on this machine; unpack https"):
        load_movielens("ml-1m", download=False)


def test_the_ten_million_set_and_its_own_split(folder) -> None:
    """rb: the 11th to 20th rating of each user, as GroupLens' allbut.pl takes them."""
    lines = [f"{user}::{item}::{0.5 * (item % 10 + 1)}::9" for user in (3, 8) for item in range(25)]
    (folder / "ml-10M100K").mkdir()
    (folder / "ml-10M100K" / "ratings.dat").write_text("\n".join(lines[::2] + lines[1::2]))
    ratings = load_movielens("ml-10m", "rb")
    assert ratings.shape == (2, 25)
    assert ratings.values.min() == 0.5
    for user in (0, 1):
        mine = ratings.test & (ratings.rows == user)
        file_order = ratings.items[ratings.cols[ratings.rows == user]]
        assert list(ratings.items[ratings.cols[mine]]) == list(file_order[10:20])
    first = load_movielens("ml-10m", "ra")
    assert not (first.test & ratings.test).any()
    assert first.test.sum() == ratings.test.sum() == 20


def test_places_are_those_of_the_official_files() -> None:
    """ub.test of MovieLens-100K is what its own rule takes from u.data."""
    home = Path(os.environ.get("PYGECO_DATA") or ".")
    if not (home / "ml-100k" / "u.data").is_file():
        pytest.skip("ml-100k is not here; point PYGECO_DATA at the folder that holds it")
    table = movielens._read(home / "ml-100k" / "u.data")
    held = movielens._read(home / "ml-100k" / "ub.test")
    mine = table[movielens._places(table[:, 0], 11, 20)]
    assert {tuple(row) for row in mine.tolist()} == {tuple(row) for row in held.tolist()}


def test_attributes_of_users_and_films(folder) -> None:
    with pytest.raises(ValueError, match=r"^name: unknown set 'netflix'; use one of"):
        load_movielens_attributes("netflix")
    with pytest.raises(FileNotFoundError, match=r"movies\.dat is missing; unpack"):
        load_movielens_attributes("ml-1m")
    (folder / "ml-1m" / "movies.dat").write_text("40::A (1950)::War\n2::B (1960)::Drama|War\n")
    found = load_movielens_attributes("ml-1m")
    assert found.users is None
    assert found.items["movie_id"].tolist() == [40, 2]
    assert found.items["year"].tolist() == [1950, 1960]


def test_attributes_of_the_real_sets() -> None:
    """As many rows and genres as their READMEs say, and an attribute for every rated film."""
    home = Path(os.environ.get("PYGECO_DATA") or ".")
    if not (home / "ml-1m" / "movies.dat").is_file():
        pytest.skip("ml-1m is not here; point PYGECO_DATA at the folder that holds it")
    users, items = load_movielens_attributes("ml-1m", download=False)
    assert len(users["user_id"]) == 6040
    assert len(items["movie_id"]) == 3883
    assert len({word for row in items["genres"] for word in row.split("|")}) == 18
    assert sorted(set(users["occupation"]), key=int) == [str(k) for k in range(21)]
    assert items["year"].min() == 1919
    assert items["year"].max() == 2000
    assert items["title"][72] == "Misérables, Les (1995)"
