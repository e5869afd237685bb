"""Times cut into periods."""

import numpy as np
import pytest

from pygeco import Entries
from pygeco.bayes.periods import (
    CELLS_PER_PERIOD,
    Periods,
    choose_widths,
    cut_times,
    find_pairs,
    group_cells,
    order_times,
)

RNG = np.random.default_rng(0)
M, N, SIZE = 40, 30, 900
PICK = RNG.permutation(M * N)[:SIZE]
ROWS, COLS = PICK // N, PICK % N
TIMES = 1e9 + np.sort(RNG.uniform(0, 1e6, SIZE))[RNG.permutation(SIZE)]


def test_pairs_are_those_of_a_dictionary():
    periods = Periods("row", float(TIMES.min()), 1e5)
    groups = group_cells(periods, ROWS, TIMES)
    wanted = {}
    for row, time in zip(ROWS, TIMES, strict=True):
        key = (int(row), int((time - periods.origin) // 1e5))
        wanted[key] = wanted.get(key, 0) + 1
    found = list(zip(groups.lines.tolist(), groups.numbers.tolist(), strict=True))
    assert found == sorted(wanted)
    assert groups.sizes.tolist() == [wanted[key] for key in found]
    assert np.array_equal(groups.lines[groups.codes], ROWS)
    at = find_pairs((groups.lines, groups.numbers), ROWS, periods.number(TIMES))
    assert np.array_equal(at, groups.codes)
    strangers = np.array([M, -1, 0, 0]), np.array([0, 0, -1, 99])
    assert find_pairs((groups.lines, groups.numbers), *strangers).tolist() == [-1] * 4


@pytest.mark.parametrize("stretch", [1.0, 1e-6, 3e4])
def test_widths_give_so_many_cells_a_pair_in_any_unit_of_time(stretch):
    widths = choose_widths(ROWS, TIMES * stretch, (3.0, 10.0))
    assert len(widths) == 2
    for width, size in zip(widths, CELLS_PER_PERIOD, strict=False):
        groups = group_cells(
            Periods("row", float(TIMES.min() * stretch), width), ROWS, TIMES * stretch
        )
        assert SIZE / len(groups.sizes) == pytest.approx(size, rel=0.05)


def test_every_second_line_tells_much_the_same_widths(monkeypatch):
    whole = choose_widths(ROWS, TIMES, (3.0, 10.0))
    monkeypatch.setattr("pygeco.bayes.periods.MAX_SEARCHED_CELLS", SIZE // 2)
    monkeypatch.setattr("pygeco.bayes.periods.MIN_SEARCHED_LINES", 10)
    part = choose_widths(ROWS, TIMES, (3.0, 10.0))
    assert part != whole
    assert part == pytest.approx(whole, rel=0.2)
    monkeypatch.setattr("pygeco.bayes.periods.MIN_SEARCHED_LINES", M)  # few lines are not thinned
    assert choose_widths(ROWS, TIMES, (3.0, 10.0)) == whole


def test_one_time_has_no_periods_and_coarse_times_no_more_than_they_have():
    assert choose_widths(ROWS, np.ones(SIZE)) == []
    days = np.floor((TIMES - TIMES.min()) / 5e5)  # two of them: at most two periods a row
    assert len(choose_widths(ROWS, days)) <= 1
    entries = Entries(ROWS, COLS, np.ones(SIZE), (M, N))
    assert cut_times(entries, np.ones(SIZE)) is None


def test_periods_begin_at_the_first_time_whatever_the_last_is():
    """As the last less the span, it was later by rounding, and its cells had no period."""
    times = np.linspace(0.1, 1e9, SIZE)
    assert 1e9 - np.ptp(times) > 0.1
    entries = Entries(ROWS, COLS, np.ones(SIZE), (M, N))
    for group in cut_times(entries, times, 5).groups:
        assert group.periods.origin == 0.1
        assert group.numbers.min() == 0


def test_times_follow_the_cells_into_both_orders():
    entries = Entries(ROWS, COLS, TIMES, (M, N))
    times = order_times(entries, ROWS, COLS, TIMES)
    assert np.array_equal(times, entries.by_row.values)
    periods = cut_times(entries, times, 5)
    assert np.array_equal(times[periods.by_column], entries.by_col.values)
    assert [len(np.unique(group.numbers)) for group in periods.groups] == [5, 5]
    twice = Entries(
        np.r_[ROWS, ROWS[:1]], np.r_[COLS, COLS[:1]], np.r_[TIMES, 7.0], duplicates="last"
    )
    again = order_times(twice, np.r_[ROWS, ROWS[:1]], np.r_[COLS, COLS[:1]], np.r_[TIMES, 7.0])
    assert np.array_equal(again, twice.by_row.values)
