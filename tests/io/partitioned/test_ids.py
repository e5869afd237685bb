"""Ids on the workers are found there, and give what ids on one machine do."""

import numpy as np
import pytest

from cluster_cases import KINDS, ratings, written
from pygeco.arrays.container import read, write
from pygeco.io.partitioned import read_partitioned
from pygeco.io.tables import encode_ids, find_positions


@pytest.fixture(params=KINDS)
def ids(request, client, tmp_path):
    table = ratings(kind=request.param)
    found = read_partitioned(written(table, tmp_path), client).row_ids
    return found, encode_ids(table.column("user"), "user").ids


def test_positions_are_those_of_all_ids(ids):
    found, whole = ids
    assert len(found) == len(whole)
    rng = np.random.default_rng(0)
    some = whole[rng.integers(0, len(whole), (30, 4))]
    np.testing.assert_array_equal(found.positions(some), find_positions(whole, some))
    for other in (
        ["user", "", "user 5x"],
        [7, -1],
        [0.25],
        [True],
        np.array(["2020-01-01"], "M8"),
    ):
        np.testing.assert_array_equal(find_positions(found, other), find_positions(whole, other))
    assert found.positions(whole[3]) == 3


def test_ids_at_positions(ids):
    found, whole = ids
    at = np.random.default_rng(0).permutation(len(whole))[:25].reshape(5, 5)
    np.testing.assert_array_equal(found[at], whole[at])
    assert found[0] == whole[0]
    assert found[-1] == whole[-1]
    np.testing.assert_array_equal(found.get(), whole)


def test_ids_go_to_a_file_slab_by_slab(ids, tmp_path):
    found, whole = ids
    if found.dtype == object:
        write(tmp_path / "file", {}, list(found.blocks()))
        ends, joined = read(tmp_path / "file").arrays
        text = joined.tobytes()
        starts = [0, *ends[:-1]]
        assert [text[a:b].decode() for a, b in zip(starts, ends, strict=True)] == list(whole)
    else:
        write(tmp_path / "file", {}, [found.blocks()])
        np.testing.assert_array_equal(read(tmp_path / "file").arrays[0], whole)
