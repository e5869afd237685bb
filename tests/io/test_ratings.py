"""Rating files of every kind, and every way to spoil one."""

import bz2
import datetime as dt
import gzip
import io
import lzma
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet
import pytest

from pygeco import MatrixCompletion
from pygeco.data import load_movielens, read_ratings
from pygeco.errors import ColumnError, ReadError
from pygeco.io.titles import read_titles
from rating_cases import ROWS, TABLE, rows_of, text


def ipc(opener) -> bytes:
    sink = io.BytesIO()
    with opener(sink, TABLE.schema) as out:
        out.write_table(TABLE)
    return sink.getvalue()


def parquet() -> bytes:
    sink = io.BytesIO()
    pyarrow.parquet.write_table(TABLE, sink)
    return sink.getvalue()


def json_lines() -> bytes:
    sink = io.BytesIO()
    for row in TABLE.to_pylist():
        sink.write(__import__("json").dumps(row | {"more": {"deep": [1]}}).encode() + b"\n")
    return sink.getvalue()


FORMATS = {
    "csv": text(),
    "tsv": text("\t"),
    "semicolons": text(";"),
    "bars": text("|"),
    "no header": text(header=False),
    "movielens": text("::", header=False),
    "movielens with names": text("::"),
    "windows": text().replace(b"\n", b"\r\n"),
    "byte order mark": b"\xef\xbb\xbf" + text(),
    "no last newline": text().rstrip(),
    "parquet": parquet(),
    "arrow file": ipc(pa.ipc.new_file),
    "arrow stream": ipc(pa.ipc.new_stream),
    "json lines": json_lines(),
}
PACKERS = {
    "plain": lambda data: data,
    "gzip": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zstd": lambda data: pa.compress(data, "zstd", asbytes=True),
    "two gzips": lambda data: gzip.compress(data[:50]) + gzip.compress(data[50:]),
}


@pytest.mark.parametrize("packer", list(PACKERS))
@pytest.mark.parametrize("name", list(FORMATS))
def test_every_format_packed_in_every_way(name, packer, tmp_path) -> None:
    path = tmp_path / "ratings"
    path.write_bytes(PACKERS[packer](FORMATS[name]))
    shares: list[float] = []
    found = read_ratings(path, progress=shares.append)
    assert found.table.column_names == ["user", "item", "rating"]
    assert rows_of(found.table) == ROWS
    assert "200 rows" in found.found
    again = read_ratings(io.BytesIO(path.read_bytes()))
    assert rows_of(again.table) == ROWS
    assert shares == sorted(shares)


def test_what_was_found_is_said(tmp_path) -> None:
    def said(content: bytes, **given) -> str:
        (tmp_path / "r.x").write_bytes(content)
        return read_ratings(tmp_path / "r.x", **given).found

    assert said(text()) == (
        "r.x (CSV, with a header): user = 'userId', item = 'item id', rating = 'rating'; 200 rows."
    )
    assert said(gzip.compress(FORMATS["movielens"])) == (
        'r.x ("::"-separated, without a header, gzip): user = column 1, item = column 2, '
        "rating = column 3; 200 rows."
    )
    assert "; 1 rows with a missing value are left out." in said(b"user,item,rating\n1,2,\n1,3,4\n")
    assert said(b"a,b,c\n1,2,3\n") == (
        "r.x (CSV, with a header): user = 'a', item = 'b', rating = 'c'; 1 rows."
    )


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({}, (1, 2, 4.5)),
        ({"rating": "4"}, (1, 2, 7.0)),
        ({"rating": 3}, (1, 2, 7.0)),
        ({"user": "2", "item": "1"}, (2, 1, 4.5)),
    ],
)
def test_columns_by_place(given, wanted, tmp_path) -> None:
    (tmp_path / "r").write_text("1 2 4.5 7\n3 4 5 6\n")
    assert rows_of(read_ratings(tmp_path / "r", **given).table)[0] == wanted


def test_columns_by_name(tmp_path) -> None:
    (tmp_path / "r").write_text("when,viewer,show,mark,more\n9,1,2,3,8\n")
    found = read_ratings(tmp_path / "r", user="viewer", item="SHOW", rating="mark")
    assert rows_of(found.table) == [(1, 2, 3.0)]
    assert rows_of(read_ratings(tmp_path / "r", user="2", item="show", rating="5").table) == [
        (1, 2, 8.0)
    ]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"user": "uid"}, r"r: user: there is no column 'uid'; the columns are 'when', 'who'"),
        ({"user": "9"}, r"user: there is no column 9; there are 6"),
        ({}, r"no column looks like the user or the item or the rating; .*--user --item --rating"),
        ({"user": "which", "item": "which", "rating": "how"}, "must be different columns"),
    ],
)
def test_wrong_columns(given, message, tmp_path) -> None:
    (tmp_path / "r").write_text("when,who,which,how,more,else\n9,1,2,3,8,0\n")
    with pytest.raises(ColumnError, match=message):
        read_ratings(tmp_path / "r", **given)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "r is empty; give a file with ratings"),
        (b" \n\n", "r is empty"),
        (b"user,item,rating\n", "r has no row with user and item and rating"),
        (b"user,item,rating\n1,2,\n", "r has no row with"),
        (b"user,item,rating\n1,2,good\n", "'rating': expected numbers, but row 1 says 'good'"),
        (b"user,item,rating\n1,2,3\n1,2\n", r"the line '1,2' has 2 field\(s\) where others have 3"),
        (b"just words\n", "too few for user and item and rating"),
        (b"word\nword\n", "has one column only, beginning 'word'"),
        (b"1,2\n3,4\n", r"has 2 column\(s\), too few for user and item and rating"),
        (b"[[1, 2, 3]]", "is a JSON array, but not of objects; write one for each row"),
        (b'{"user": 1, "item": \n', "cannot be read"),
        (b"PK\x03\x04 and more", "cannot be unpacked"),
        (b"PK\x03\x04 and more [Content_Types].xml", "is a workbook; save its sheet as CSV"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "is a workbook; save its sheet as CSV"),
        (gzip.compress(b"r\0".ljust(257, b"0") + b"ustar", mtime=0), "is a tar archive; unpack it"),
        (b"\x89GECO\r\n\x1a and more", "is a model; give a file of data"),
        (
            b'{"user": 1, "item": 2, "rating": {%s}}\n'
            % b", ".join(b'"%d": 1' % k for k in range(99)),
            r"says \{'0': 1, '1': 1, '10': 1, '11': 1, \.\.\.\};",
        ),
        (b"PAR1 but then nothing", "cannot be read"),
        (b"ARROW1 but then nothing", "cannot be read"),
        (b"\x00\x01\x02\x03" * 50, "is not text in UTF-8, nor Parquet or Arrow"),
        (text().decode().encode("utf-16"), "is text in UTF-16; save it in UTF-8"),
        (gzip.compress(text(), mtime=0)[:40], "cannot be unpacked"),
        (b"\x1f\x8b and more of it", "cannot be unpacked"),
        (lzma.compress(text())[:60], "cannot be unpacked"),
        (b"%%MatrixMarket matrix nonsense\n1 1 1\n", "cannot be read"),
    ],
)
def test_spoiled_files_are_told_in_a_sentence(content, message, tmp_path) -> None:
    (tmp_path / "r").write_bytes(content)
    with pytest.raises((ReadError, ColumnError), match=message) as caught:
        read_ratings(tmp_path / "r")
    assert "\n" not in str(caught.value)


def test_ids_keep_their_kind(tmp_path) -> None:
    (tmp_path / "r").write_text("user,item,rating\n2020-01-01,true,1\n2020-02-03,false,2\n")
    model = MatrixCompletion(1, random_state=0).fit(read_ratings(tmp_path / "r").table)
    assert model.row_ids_.tolist() == [dt.date(2020, 1, 1), dt.date(2020, 2, 3)]
    assert model.column_ids_.tolist() == [False, True]


def test_values_are_float32_where_that_is_exact(tmp_path) -> None:
    for value, kind in (("3.5", pa.float32()), ("0.1", pa.float64()), ("16777217", pa.float64())):
        (tmp_path / "r").write_text(f"user,item,rating\n1,2,{value}\n")
        assert read_ratings(tmp_path / "r").table.column("rating").type == kind


def folder() -> Path:
    home = Path(os.environ.get("PYGECO_DATA") or ".")
    if not (home / "ml-1m").is_dir() or not (home / "ml-100k").is_dir():
        pytest.skip("MovieLens is not here; point PYGECO_DATA at the folder that holds it")
    return home


def test_movielens_is_read_as_its_loader_does() -> None:
    path = folder() / "ml-1m" / "ratings.dat"
    found, wanted = read_ratings(path).table, load_movielens("ml-1m")
    np.testing.assert_array_equal(found.column("user").to_numpy(), wanted.users[wanted.rows])
    np.testing.assert_array_equal(found.column("item").to_numpy(), wanted.items[wanted.cols])
    np.testing.assert_array_equal(found.column("rating").to_numpy(), wanted.values)
    titles = read_titles(folder() / "ml-1m" / "movies.dat", np.array([1, 3951, 10**6, 73]))
    assert titles == ["Toy Story (1995)", "Two Family House (2000)", "1000000",
                      "Misérables, Les (1995)"]  # fmt: skip
    small = read_ratings(folder() / "ml-100k" / "u.data")
    assert "tab-separated, without a header" in small.found
    assert read_titles(folder() / "ml-100k" / "u.item", np.array([2])) == ["GoldenEye (1995)"]
