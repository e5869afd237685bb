"""A model as it is served: ids of every kind, titles, filters, a version of its contents."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from pygeco.serve.served import TitleFile, find_version, open_served
from pygeco.serve.typed import RequestError
from serve_cases import fit_ratings, make_values, open_values, write_titles


def test_ids_are_found_as_numbers_and_as_text(ratings) -> None:
    wanted = [1, "2", 3.0, 999, "x", "80"]
    at = ratings.find(0, wanted, "user", strict=False)
    assert at.tolist() == [0, 1, 2, -1, -1, 79]
    assert ratings.name(0, at[:3]) == [1, 2, 3]
    assert ratings.name_as_asked(0, wanted, at) == [1, 2, 3, 999, "x", 80]
    assert ratings.find(1, ["m01", "m60", "m61", 5], "item", strict=False).tolist() == [
        0,
        59,
        -1,
        -1,
    ]
    assert ratings.find(0, [10**30], "user", strict=False).tolist() == [-1]
    with pytest.raises(RequestError, match="user: the model does not know 'x'; it has 80 ids"):
        ratings.find(0, [1, "x"], "user", strict=True)


@pytest.mark.parametrize(
    "ids",
    [
        np.uint64(2**64 - 5) + np.arange(5, dtype=np.uint64),
        np.arange(2**53 - 2, 2**53 + 3),
        np.arange(-(2**53) - 2, -(2**53) + 3),
        np.array([-(2**63), -1, 0, 2**53 - 1, 2**63 - 1]),
        np.array([1, 2**53, 2**63 - 1, 2**63, 2**64 - 1], np.uint64),
    ],
    ids=str,
)
def test_whole_numbers_come_back_from_readers_that_round(ratings, ids) -> None:
    far = replace(ratings, ids=(ids, ids))
    at = np.arange(len(ids))
    for names in (far.name(0, at), far.name(0, at[None])[0]):
        read = json.loads(json.dumps(names), parse_int=lambda text: int(float(text)))
        assert far.find(1, read, "item", strict=True).tolist() == at.tolist()
        assert [int(one) for one in read] == ids.tolist()
    assert far.find(0, ids.tolist(), "user", strict=True).tolist() == at.tolist()
    assert [far.find(0, [one], "user", strict=True)[0] for one in ids.tolist()] == at.tolist()


def test_text_that_is_no_id_says_nothing_of_the_others(ratings) -> None:
    assert ratings.find(0, ["5", "x", "7"], "user", strict=False).tolist() == [4, -1, 6]


def test_filters(ratings) -> None:
    assert ratings.allow(None, None) is None
    assert np.flatnonzero(ratings.allow(["m01", "m03", "gone"], ["m01"])).tolist() == [2]
    assert ratings.allow(None, ["m01"]).sum() == 59
    with pytest.raises(RequestError, match="no known item is left"):
        ratings.allow([], None)


def test_the_version_is_that_of_the_contents(model_folder, models, tmp_path) -> None:
    copy = tmp_path / "copy.geco"
    copy.write_bytes((model_folder / "ratings.geco").read_bytes())
    titles = TitleFile(write_titles(tmp_path))
    assert open_served(copy, titles).version == models["ratings"].version
    assert open_served(copy).version != models["ratings"].version
    assert find_version(model_folder / "clicks.geco", None) != find_version(copy, None)
    assert models["ratings"].title(4).startswith("Film 5 ")
    assert not models["ratings"].is_of_clicks
    assert models["clicks"].is_of_clicks


def test_it_speaks_as_the_estimator_does(ratings) -> None:
    model = fit_ratings()
    i, j = np.arange(40), np.arange(40)
    expected = model.predict(model.row_ids_[i], model.column_ids_[j])
    np.testing.assert_array_equal(ratings.model.predict(i, j), expected)


HEAVY = (
    *("sklearn", "pandas", "numba"),
    *("scipy.linalg", "scipy.sparse", "scipy.special", "scipy.optimize"),
)
FIRST_LIST = f"""
import sys
from pathlib import Path
import pygeco.serve.running
from pygeco.serve.requests import Recommend
from pygeco.serve.served import TitleFile, open_served
from pygeco.serve.writing import write_lists
folder = Path(sys.argv[1])
served = open_served(folder / "ratings.geco", TitleFile(folder / "titles.csv"))
assert b"Film" in write_lists(served, [3], Recommend())[0]
print([name for name in {HEAVY} if name in sys.modules])
"""


def test_a_first_list_imports_no_heavy_part_that_it_does_not_need(ratings, model_folder) -> None:
    command = [sys.executable, "-c", FIRST_LIST, str(model_folder)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_bounds_and_levels_are_values_that_were_given(tmp_path, clicks) -> None:
    for kind in ("ordinal", "tenths"):
        served, given = open_values(kind, tmp_path), make_values(kind).slice(150)["value"]
        assert served.levels == sorted(set(given.to_pylist()))
        assert served.bounds == (served.levels[0], served.levels[-1])
    labels = open_values("logistic", tmp_path)
    assert labels.bounds == (0.0, 1.0)
    assert labels.levels == [0.0, 1.0]
    many = open_values("huber", tmp_path)
    assert len(many.levels) == 5
    counts = replace(many, model=replace(many.model, bounds=(0.0, 14.0)))
    values = np.arange(len(many.model.seen.indices)) % 15.0
    seen = many.model.seen._replace(values=values.astype(np.float32))
    counts = replace(counts, model=replace(counts.model, seen=seen))
    assert counts.levels == [0.0, 4.0, 7.0, 10.0, 14.0]  # a count has no halves
    assert np.float32(many.levels[0]) == np.float32(many.model.bounds[0])
    assert np.float32(many.levels[-1]) == np.float32(many.model.bounds[1])
    assert [open_values(kind, tmp_path).places for kind in ("ordinal", "tenths")] == [4, 5]
    assert clicks.places == 4
