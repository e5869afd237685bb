"""Times of any kind are the same seconds."""

import re
from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from pygeco.io.times import read_times

SECONDS = np.array([978300760.0, 1714566600.0, 1714566601.0])
MOMENTS = [datetime.fromtimestamp(s, UTC) for s in SECONDS]
NAIVE = [one.replace(tzinfo=None) for one in MOMENTS]
EAST = timezone(timedelta(hours=5))


@pytest.mark.parametrize(
    "given",
    [
        SECONDS.astype(int),
        SECONDS * 1e3,
        (SECONDS * 1e6).astype(np.int64),
        (SECONDS * 1e9).astype(np.int64),
        np.array(NAIVE, "M8[ms]"),
        NAIVE,
        [one.astimezone(EAST) for one in MOMENTS],
        [one.isoformat(" ") for one in NAIVE],
        [one.astimezone(EAST).isoformat() for one in MOMENTS],
        [f"{int(one)}" for one in SECONDS],
        [f"{one} UTC" for one in NAIVE],
        pd.Series(NAIVE),
        pd.Series(MOMENTS),
        pl.Series(NAIVE),
        pa.chunked_array([NAIVE]),
        pa.chunked_array([pa.array(MOMENTS, pa.timestamp("ns", tz="Asia/Tokyo"))]),
        pa.chunked_array([[one.isoformat() for one in NAIVE]]),
        pa.chunked_array([pa.array([f"{one}" for one in NAIVE]).dictionary_encode()]),
        pa.chunked_array([(SECONDS * 1e3).astype(np.int64)]),
    ],
    ids=lambda given: type(given).__name__,
)
def test_one_moment_is_one_number(given):
    assert np.allclose(read_times(given), SECONDS, rtol=0, atol=1e-3)


def test_dates_are_midnight_and_small_numbers_what_they_are():
    midnight = datetime(2024, 5, 1, tzinfo=UTC).timestamp()
    assert read_times(["2024-05-01"]) == midnight
    assert read_times([date(2024, 5, 1)]) == midnight
    assert read_times(pa.chunked_array([[date(2024, 5, 1)]])) == midnight
    assert read_times([3, 17]).tolist() == [3.0, 17.0]
    assert read_times("2024-05-01").shape == ()


def test_what_is_missing_is_nan_and_what_is_no_time_is_told():
    gaps = (pa.chunked_array([[NAIVE[0], None]]), pa.chunked_array([[5, None]]), [NAIVE[0], None])
    for given in (*gaps, np.array(["2024-05-01", "NaT"], "M8[s]")):
        assert np.isnan(read_times(given)).tolist() == [False, True]
    words = ["2024-05-01", "", " ", "NA", "null", None, "1714566600"]
    for texts in (words, pa.chunked_array([words]), pa.chunked_array([words]).dictionary_encode()):
        assert np.isnan(read_times(texts)).tolist() == [False, *[True] * 5, False]
    for wrong in (["soon"], [True], [1j]):
        with pytest.raises(ValueError, match=r"^when: expected times"):
            read_times(wrong, "when")


@pytest.mark.parametrize("wrong", ["09/01/2018", "01.09.2018", "UTC", "2018-13-01"])
def test_what_is_no_time_is_told_and_not_the_first(wrong):
    for texts in (["2024-05-01", wrong, "soon"], np.array([["2024-05-01", wrong]], object)):
        with pytest.raises(ValueError, match=rf"not {re.escape(repr(wrong))}\.$"):
            read_times(texts)
