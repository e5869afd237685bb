"""Whole numbers and times that float64 does not tell apart, by integers of Python."""

import numpy as np
import pyarrow as pa
import pytest

from pygeco.io.origins import DAY, MAX_EXACT, add_origin, find_origin, subtract_origin

KINDS = {
    "u64": pa.uint64(),
    "i64": pa.int64(),
    "ns": pa.timestamp("ns"),
    "us": pa.timestamp("us", "UTC"),
    "span": pa.duration("ns"),
}
STARTS = {"u64": 2**64 - 5000, "i64": -(2**63), "ns": 1_700_000_000_123_456_789}


def list_counts(kind, count=50):
    start = STARTS.get(kind, 2**60 + 1)
    rng = np.random.default_rng(0)
    return [start + int(k) for k in rng.integers(0, 4000, count)]


def make_column(counts, kind):
    whole = pa.uint64() if KINDS[kind] == pa.uint64() else pa.int64()
    return pa.chunked_array([pa.array([*counts, None], whole).cast(KINDS[kind])])


@pytest.mark.parametrize("kind", KINDS)
def test_cells_come_back_as_they_were(kind) -> None:
    counts = list_counts(kind)
    column = make_column(counts, kind)
    unit = {"us": 10**6, "ns": 10**9, "span": 10**9}.get(kind, 1)
    origin = find_origin(column)
    assert unit == 1 or origin % DAY == 0
    x = subtract_origin(column, origin)
    assert np.isnan(x[-1])
    np.testing.assert_allclose(x[:-1] * unit, [c - origin * unit for c in counts], rtol=1e-15)
    ends = (0, 2**64 - 1) if kind == "u64" else (-(2**63), 2**63 - 1)
    assert add_origin(x[:-1] * unit, origin * unit, *ends).tolist() == counts


def test_other_units_and_numbers_far_away_are_read_from_the_same_origin() -> None:
    origin = 19_000 * DAY
    for unit, per in (("s", 1), ("ms", 10**3), ("ns", 10**9)):
        column = pa.chunked_array([pa.array([(origin + 7) * per], pa.timestamp(unit))])
        assert subtract_origin(column, origin).tolist() == [7.0]
    days = pa.chunked_array([pa.array([19_002], pa.date32())])
    assert subtract_origin(days, origin).tolist() == [2.0 * DAY]
    far = pa.chunked_array([pa.array([-(2**63), 2**63 - 1], pa.int64())])
    assert subtract_origin(far, 2**62).tolist() == [-(2.0**63) - 2.0**62, 2.0**62]


def test_what_floats_hold_and_what_lies_too_far_apart_has_none() -> None:
    for cells, kind in (
        ([MAX_EXACT, -MAX_EXACT, None], pa.int64()),
        ([0, 2**63], pa.uint64()),
        ([None, None], pa.int64()),
        ([], pa.int64()),
        ([5, 6], pa.int32()),
        ([5, 6], pa.date32()),
        ([1.0, 2.0**60], pa.float64()),
    ):
        assert find_origin(pa.chunked_array([pa.array(cells, kind)])) == 0


def test_what_is_beyond_the_ends_is_at_the_ends() -> None:
    x = np.array([-1e30, -1.0, 3.6, 1e30])
    assert add_origin(x, 0, -128, 127).tolist() == [-128, -1, 4, 127]
    assert add_origin(x, 100, -128, 127).tolist() == [-128, 99, 104, 127]
    assert add_origin(x, 2**64 - 2, 0, 2**64 - 1).tolist() == [0, 2**64 - 3, 2**64 - 1, 2**64 - 1]
    low, high = add_origin(x[[0, 3]], 0, 0, 2**64 - 1).tolist()
    assert (low, high) == (0, 2**64 - 2048)
