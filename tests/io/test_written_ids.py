"""Ids that NumPy has no type for: times with a zone, and UUIDs."""

import datetime as dt
import uuid
import zoneinfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

from pygeco import ImplicitCompletion, MatrixCompletion
from pygeco.data import read_ratings
from pygeco.io.tables import encode_ids, find_positions, parse_ids
from pygeco.io.written_ids import has_zone, write_id, write_ids

BERLIN = zoneinfo.ZoneInfo("Europe/Berlin")
MOMENTS = [  # the night in which two hours are called alike, and fractions
    dt.datetime(2024, 10, 27, 2, 30, 0, 120, BERLIN),
    dt.datetime(2024, 10, 27, 2, 30, 0, 120, BERLIN, fold=1),
    dt.datetime(1969, 12, 31, 23, tzinfo=dt.UTC),
    dt.datetime(2024, 2, 29, 10, 5, 30, 500_000, dt.timezone(dt.timedelta(hours=-9.5))),
]
UUIDS = [uuid.UUID(int=2**127 // (k + 3) + k) for k in range(4)]


def column(values, kind=None) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(values[:2], kind), pa.array(values[2:], kind)])


def ratings(ids) -> pd.DataFrame:
    cells = [(k, j) for k in range(4) for j in range(6)]
    one = {"user": [ids[k] for k, _ in cells], "item": [j for _, j in cells]}
    return pd.DataFrame(one | {"rating": [float((3 * k + j) % 5) for k, j in cells]})


@pytest.mark.parametrize("unit", ["us", "ns"])
@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "-09:30"])
def test_a_moment_is_one_id_in_every_zone_and_unit(zone, unit) -> None:
    written = write_ids(column(MOMENTS, pa.timestamp(unit, zone)), "t").to_pylist()
    assert written == [
        "2024-10-27T00:30:00.00012Z",
        "2024-10-27T01:30:00.00012Z",
        "1969-12-31T23:00:00Z",
        "2024-02-29T19:35:30.5Z",
    ]
    assert list(map(write_id, MOMENTS)) == written
    assert [write_id(pd.Timestamp(one)) for one in MOMENTS] == written
    back = [dt.datetime.fromisoformat(one).timestamp() for one in written]
    assert back == [one.timestamp() for one in MOMENTS]
    found = encode_ids(column(MOMENTS, pa.timestamp(unit, zone)), "t")
    assert find_positions(found.ids, MOMENTS).tolist() == found.codes.tolist()


@pytest.mark.parametrize("package", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("estimator", [MatrixCompletion, ImplicitCompletion])
def test_times_without_a_zone_are_not_asked_of_a_model_of_times_with_one(
    package, estimator
) -> None:
    """They were taken for UTC, and the answers were those of another user."""
    zoned = pd.Series(pd.date_range("2024-01-01", periods=4, freq="h", tz=BERLIN))
    local = zoned.dt.tz_localize(None)
    for own, other in ((zoned, local), (local, zoned)):
        frame, foreign = ratings(own), ratings(other)
        clicks = estimator is ImplicitCompletion
        asked = frame.drop(columns="rating") if clicks else frame
        asked = asked[(asked.user != own[0]) | (asked.item < 3)]
        wrong = foreign.head(3)[["user", "item"]]
        if package is not pd.DataFrame:
            asked, wrong = (package(one.to_dict("series")) for one in (asked, wrong))
        model = estimator(1, random_state=0).fit(asked)
        with pytest.raises(ValueError, match="'user': none of its ids"):
            model.predict(wrong)
        with pytest.raises(ValueError, match=r"none of its ids|was not fitted"):
            model.recommend(other[0], k=1)
        assert model.recommend(own[0], k=1).columns[0] in range(3, 6)


def test_text_with_a_zone_is_no_time_without_one() -> None:
    local = np.array(["2024-01-01T00", "2024-01-01T01"], "M8[h]")
    for text in ("2024-01-01T01Z", "2024-01-01 01:00:00+00:00", "2024-01-01T01:00:00.5+0000"):
        assert has_zone(text)
        assert find_positions(local, parse_ids(local, [text])).tolist() == [-1]
        assert find_positions(local, np.array([text], object)).tolist() == [-1]
    for text in ("2024-01-01T01", "2024-01-01", "2024-01-01 01:00:00.000", "2024-01-01-05"):
        assert not has_zone(text)
    assert find_positions(local, parse_ids(local, ["2024-01-01T01:00"])).tolist() == [1]


def test_uuids_are_their_texts(tmp_path) -> None:
    frame, texts = ratings(UUIDS), list(map(str, UUIDS))
    users = pa.array([one.bytes for one in frame.user], pa.uuid())
    path = tmp_path / "r.parquet"
    pa.parquet.write_table(pa.table(ratings(texts)).set_column(0, "user", users), path)
    for given in (frame, read_ratings(path).table, path):
        model = MatrixCompletion(1, random_state=0).fit(given)
        assert list(model.row_ids_) == sorted(texts)
        asked = model.recommend(UUIDS, k=2, exclude_seen=False)
        again = model.recommend(texts, k=2, exclude_seen=False)
        np.testing.assert_array_equal(asked.columns, again.columns)
        assert model.predict(frame.head(9)).known.all()


@pytest.mark.parametrize("kind", [pa.binary(8), pa.list_(pa.int64()), pa.binary()])
def test_what_no_text_says_is_refused(kind) -> None:
    """Bytes of a fixed width too that read as text: polars gives pointers so."""
    value = [1] if pa.types.is_list(kind) else b"abcdefgh" if kind != pa.binary() else b"\xff"
    with pytest.raises(ValueError, match=r"column 'x': ids of type .* are not supported"):
        encode_ids(pa.chunked_array([pa.array([value], kind)]), "x")
    objects = pl.DataFrame({"user": UUIDS, "item": [1, 2, 1, 2], "rating": [1.0, 2, 3, 4]})
    with pytest.raises(ValueError, match="are not supported; make them text"):
        MatrixCompletion(1).fit(objects)
