"""Arrays of any kind: made, moved, and cut into parts, on the host and on a device of the tests."""

from typing import NamedTuple

import numpy as np
import pytest

from fake_device import FakeArray
from pygeco.arrays.kinds import (
    HOST,
    answer,
    as_array,
    contiguous,
    fill_masked,
    foreign,
    full,
    host,
    inner,
    moved,
    on,
    ones,
    parts,
    runs,
    scaled,
    times,
    zeros,
)

DEVICE = FakeArray(np.zeros(0))


class Pair(NamedTuple):
    large: np.ndarray
    small: np.ndarray
    note: str

    def on_host(self) -> tuple[str, ...]:
        return ("small",)


@pytest.mark.parametrize("like", [HOST, DEVICE])
def test_products_of_tall_and_small_arrays_are_those_of_numpy(like) -> None:
    rng = np.random.default_rng(0)
    X, Y, B, s = (rng.standard_normal(shape) for shape in ((7, 3), (7, 2), (3, 4), 3))
    tall = on(X, like)
    assert foreign(tall) == foreign(like)
    np.testing.assert_allclose(host(times(tall, B)), X @ B)
    np.testing.assert_allclose(host(scaled(tall, s)), X * s)
    np.testing.assert_allclose(inner(tall, on(Y, like)), X.T @ Y)
    for made, value in ((zeros((2, 3), like), 0), (ones(4, like), 1), (full(5, 2.5, like), 2.5)):
        assert type(made) is type(like)
        assert np.all(host(made) == value)


def test_an_answer_is_of_the_kind_that_asked() -> None:
    x = on(np.arange(3.0), DEVICE)
    assert isinstance(answer(x, [1, 2]), np.ndarray)
    assert answer(x, [1], DEVICE) is x
    assert as_array(x) is x
    assert isinstance(as_array([1, 2]), np.ndarray)


def test_what_stays_on_the_host_is_named_by_the_object() -> None:
    pair = Pair(np.arange(4.0), np.arange(2.0), "text")
    there = moved([pair, (pair.large, 3)], DEVICE)
    assert foreign(there[0].large)
    assert foreign(there[1][0])
    assert there[0].small is pair.small
    assert (there[0].note, there[1][1]) == ("text", 3)
    back = moved(there, HOST)
    np.testing.assert_array_equal(back[0].large, pair.large)


@pytest.mark.parametrize(("count", "size"), [(0, 3), (1, 3), (9, 3), (10, 3), (2, 100)])
def test_parts_cover_all_once_and_are_small(count, size) -> None:
    found = [range(count)[part] for part in parts(count, size)]
    assert [k for part in found for k in part] == list(range(count))
    assert all(len(part) <= size for part in found)
    assert list(runs(np.zeros(count), size)) == list(parts(count, size))


def test_rows_one_after_the_other() -> None:
    x = np.arange(6.0).reshape(2, 3)
    assert contiguous(x) is x
    turned = contiguous(x.T, np.float32)
    assert turned.flags.c_contiguous
    np.testing.assert_array_equal(turned, x.T)


@pytest.mark.parametrize("kind", ["f4", "f8", "i8", "u1", "?", "O", "U4", "M8[s]"])
def test_a_mask_becomes_missing_values(kind) -> None:
    given = np.ma.array(np.array([0, 1, 0]).astype(kind), mask=[False, True, False])
    found = fill_masked((given, "other"))
    assert found[1] == "other"
    plain = found[0]
    assert type(plain) is np.ndarray
    assert plain[1] is None if plain.dtype == object else np.isnan(plain[1])
    assert plain[0] == given.data[0]
    assert (plain.dtype == np.float32) == (kind == "f4")
    whole = fill_masked(np.ma.array(given.data))
    assert type(whole) is np.ndarray
    assert whole.dtype == given.dtype
    if kind == "f4":
        np.testing.assert_array_equal(as_array(given), plain)
        np.testing.assert_array_equal(on(given, HOST), plain)
