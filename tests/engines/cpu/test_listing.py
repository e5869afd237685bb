"""Lists by screened products against sorting all scores, at sizes beyond every block."""

import numpy as np
import pytest

from pygeco.engines.cpu import listing, listing_columns
from pygeco.engines.cpu.listing import list_best_products
from pygeco.engines.cpu.threads import limit_threads
from pygeco.engines.values import Products


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    sizes = {"ROWS_AT_ONCE": 150, "BLOCK_ROWS": 40, "BLOCK_COLUMNS": 48, "FIRST_COLUMNS": 96}
    for name, size in sizes.items():
        monkeypatch.setattr(listing, name, size)
    monkeypatch.setattr(listing_columns, "MAX_SAMPLE", 100)


def ask(left, right, offsets, hidden, allowed, k) -> Products:
    pointers = np.concatenate([[0], np.cumsum(hidden.sum(axis=1))])
    indices = np.nonzero(hidden)[1].astype(np.int32)
    rows, names = np.arange(len(left)), np.flatnonzero(allowed)
    return Products(left, right, offsets, rows, names, pointers, indices, k)


def sort_all(scores, hidden, allowed, k):
    """By score, of equals the first column first."""
    left = np.where(hidden | ~allowed, -np.inf, scores)
    order = np.argsort(-left, axis=1, kind="stable")[:, :k]
    best = np.take_along_axis(left, order, 1)
    return np.where(best > -np.inf, order, -1), best


def make_case(kind, rng, m=330, n=700, r=11):
    """Factors whose scores are exact in double precision, so that ties are ties."""
    left, right = (rng.integers(-8, 9, (size, r)).astype(float) for size in (m, n))
    offsets = rng.integers(-5, 6, n).astype(float)
    if kind == "popular":
        right *= 2.0 ** -rng.integers(0, 9, n)[:, None]
        left[:, 0] = abs(left[:, 0]) + 8
        right[:, 0] = abs(right[:, 0]) * 4
    if kind == "flat":
        left[:200], offsets[:] = 0, 0  # all columns are equal for these rows
        right[:, 1] = 0
    if kind == "late":
        left[:200, 2] = 0  # a coordinate that only later rows have
    if kind == "low rank":
        left[:, 3:], offsets[:] = left[:, [0]], 0
    if kind == "scaled":
        size = 2.0 ** rng.integers(-90, 90, r)
        left, right = left * size, right / size
        left *= 2.0 ** rng.integers(-60, 60, m)[:, None]
        offsets[:] = 0
    return left, right, offsets


@pytest.mark.parametrize("kind", ["plain", "popular", "flat", "low rank", "scaled", "late"])
@pytest.mark.parametrize("k", [1, 20])
def test_lists_are_those_of_sorting_everything(kind, k) -> None:
    rng = np.random.default_rng(k)
    left, right, offsets = make_case(kind, rng)
    hidden = rng.random((len(left), len(right))) < 0.2
    hidden[7], hidden[8] = True, False
    hidden[9], hidden[9, 5] = True, False
    allowed = rng.random(len(right)) < 0.8
    columns, values = list_best_products(ask(left, right, offsets, hidden, allowed, k))
    wanted, best = sort_all(left @ right.T + offsets, hidden, allowed, k)
    np.testing.assert_array_equal(columns, wanted)
    np.testing.assert_array_equal(values, best)


@pytest.mark.parametrize("kind", ["plain", "popular", "flat"])
def test_a_first_floor_counts_no_hidden_column(kind, monkeypatch) -> None:
    """In blocks of so many columns that the largest of each few give a floor; the best hidden."""
    monkeypatch.setattr(listing, "BLOCK_COLUMNS", 400)
    monkeypatch.setattr(listing, "FIRST_COLUMNS", 400)
    left, right, offsets = make_case(kind, np.random.default_rng(3))
    scores = left @ right.T + offsets
    hidden = scores >= np.sort(scores, axis=1)[:, [-40]]
    hidden[5] = False
    allowed = np.ones(len(right), bool)
    columns, values = list_best_products(ask(left, right, offsets, hidden, allowed, 20))
    wanted, best = sort_all(scores, hidden, allowed, 20)
    np.testing.assert_array_equal(columns, wanted)
    np.testing.assert_array_equal(values, best)


def test_real_numbers_and_any_number_of_threads_give_the_same_bits() -> None:
    rng = np.random.default_rng(3)
    left, right = (rng.standard_normal((size, 40)).astype(np.float32) for size in (400, 900))
    left *= 1 / np.arange(1, 41, dtype=np.float32)
    hidden = rng.random((400, 900)) < 0.1
    asked = ask(left, right, rng.standard_normal(900), hidden, np.ones(900, bool), 10)
    columns, values = list_best_products(asked)
    scores = left.astype(float) @ right.T.astype(float) + asked.offsets
    wanted, best = sort_all(scores, hidden, np.ones(900, bool), 10)
    np.testing.assert_array_equal(columns, wanted)
    np.testing.assert_allclose(values, best, rtol=1e-13)
    with limit_threads(1):
        again = list_best_products(asked)
    few = list_best_products(asked._replace(left=left[:5], rows=np.arange(5)))
    for found, part in ((again, slice(None)), (few, slice(5))):
        np.testing.assert_array_equal(found[0], columns[part])
        np.testing.assert_array_equal(found[1], values[part])


def test_what_is_not_finite_is_listed_as_sorting_lists_it() -> None:
    rng = np.random.default_rng(4)
    left, right = rng.standard_normal((60, 3)), rng.standard_normal((500, 3))
    left[3, 0] = np.nan
    none = np.zeros((60, 500), bool)
    columns, _ = list_best_products(ask(left, right, np.zeros(500), none, np.ones(500, bool), 4))
    assert (columns[3] == -1).all()
    wanted, _ = sort_all(left @ right.T, none, np.ones(500, bool), 4)
    np.testing.assert_array_equal(np.delete(columns, 3, 0), np.delete(wanted, 3, 0))


def test_columns_are_left_unread_where_they_are_too_short(monkeypatch) -> None:
    read = []
    screen = listing.screen
    monkeypatch.setattr(listing, "screen", lambda x, *rest: read.append(x.size) or screen(x, *rest))
    monkeypatch.setattr(listing, "ROWS_AT_ONCE", 2000)
    rng = np.random.default_rng(5)
    left, right = np.abs(rng.standard_normal((2, 2000, 6)))
    right[500:] *= 0.01
    none = np.zeros((2000, 2000), bool)
    list_best_products(ask(left, right, np.zeros(2000), none, np.ones(2000, bool), 5))
    assert sum(read) < 0.35 * 2000 * 2000
