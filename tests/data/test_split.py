"""A random share of cells, held out."""

import numpy as np
import pandas as pd
import pytest

from pygeco import LeaveLastOut
from pygeco.data import split_by_time, split_cells, split_rows


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_the_share_and_the_seed(share) -> None:
    held = split_cells(20_000, share, 3)
    assert held.dtype == bool
    assert held.mean() == pytest.approx(share, abs=0.02)
    np.testing.assert_array_equal(held, split_cells(20_000, share, 3))
    assert np.mean(held == split_cells(20_000, share, 4)) < 1
    # A longer list of cells begins with the same choice.
    np.testing.assert_array_equal(held[:100], split_cells(100, share, 3))


@pytest.mark.parametrize("share", [0, 1, -0.1, 2])
def test_a_share_lies_between_zero_and_one(share) -> None:
    with pytest.raises(ValueError, match=r"^test_size: must be between 0 and 1"):
        split_cells(10, share)


def test_the_share_of_each_row() -> None:
    rows = np.random.default_rng(0).integers(0, 50, 600)
    held = split_rows(rows, 0.3, 2)
    for row in range(50):
        count = np.sum(rows == row)
        assert held[rows == row].sum() == min(count - 1, max(1, round(0.3 * count)))
    np.testing.assert_array_equal(held, split_rows(rows, 0.3, 2))
    assert np.any(held != split_rows(rows, 0.3, 3))


def test_the_latest_are_held_out() -> None:
    rng = np.random.default_rng(0)
    times, rows = rng.permutation(200), rng.integers(0, 20, 200)
    np.testing.assert_array_equal(split_by_time(times, 0.25), times >= 150)
    np.testing.assert_array_equal(split_by_time(times, cut=170), times >= 170)
    dates = np.datetime64("2020-01-01") + times
    np.testing.assert_array_equal(split_by_time(dates, cut="2020-01-11"), times >= 10)
    held = split_by_time(times, 0.2, rows=rows)
    for row in range(20):
        own = rows == row
        assert held[own].sum() == max(1, round(0.2 * own.sum()))
        assert times[own & held].min() > times[own & ~held].max()
    with pytest.raises(ValueError, match=r"^cut: one time cuts all rows"):
        split_by_time(times, cut=3, rows=rows)


MISSING = {
    "number": [3.0, np.nan, 2.0],
    "date": np.array(["2020-01-03", "NaT", "2020-01-02"], "M8[s]"),
    "whole": pd.array([3, None, 2], "Int64"),
    "zone": pd.to_datetime(["2020-01-03", None, "2020-01-02"]).tz_localize("Europe/Berlin"),
    "text": ["2020-01-03", None, "2020-01-02"],
}


@pytest.mark.parametrize("kind", MISSING)
def test_a_cell_without_a_time_is_not_the_latest(kind) -> None:
    for settings in ({}, {"rows": [0, 0, 0]}, {"cut": MISSING[kind][0]}):
        with pytest.raises(ValueError, match=r"^times: number 1 is missing; leave such cells"):
            split_by_time(MISSING[kind], 0.5, **settings)
    with pytest.raises(ValueError, match=r"^times: number 1 is missing"):
        next(LeaveLastOut(times=MISSING[kind]).split(np.ones((1, 3))))
    whole = [MISSING[kind][0], MISSING[kind][2]]
    assert split_by_time(whole, 0.5).tolist() == [True, False]


def test_times_are_one_for_each_row() -> None:
    with pytest.raises(ValueError, match=r"^times: has 2; give one for each of 3 rows"):
        split_by_time([1, 2], rows=[0, 0, 1])
    with pytest.raises(ValueError, match=r"^times: has the shape \(3, 2\); give one for each cell"):
        split_by_time(np.ones((3, 2)))


@pytest.mark.parametrize("times", [[1, 2, 3], [1.0, 2.0, 3.0], np.arange(3).astype("M8[D]")])
@pytest.mark.parametrize("cut", ["yesterday", np.nan, [1, 2]])
def test_a_cut_is_a_time_like_the_others(times, cut) -> None:
    with pytest.raises(ValueError, match=r"^cut: .* is no time like those given"):
        split_by_time(times, cut=cut)
