"""Rating files of every kind, and every way to spoil one."""

import bz2
import datetime as dt
import gzip
import io
import lzma
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from pygeco import MatrixCompletion
from pygeco.data import load_movielens, read_ratings
from pygeco.errors import ColumnError, ReadError
from pygeco.io.delimited import UNIT, _Single
from pygeco.io.titles import read_titles
from pygeco.io.writers import write_table

RNG = np.random.default_rng(0)
ROWS = [(int(u), f"it,em {i}", float(r)) for u, i, r in RNG.integers(1, 9, (200, 3)) / [1, 1, 2]]
TABLE = pa.table(dict(zip(("userId", "item id", "rating"), zip(*ROWS, strict=True), strict=True)))


def text(separator=",", header=True) -> bytes:
    lines = [separator.join(("userId", "item id", "rating"))] if header else []
    for user, item, rating in ROWS:
        name = f'"{item}"' if separator in item else item
        lines.append(separator.join((str(user), name, str(rating))))
    return ("\n".join(lines) + "\n").encode()


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


def rows_of(table: pa.Table) -> list:
    return list(zip(*(table.column(k).to_pylist() for k in range(3)), strict=True))


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
        (b'[{"user": 1}]', "is one JSON array; write one object a line"),
        (b'{"user": 1, "item": \n', "cannot be read"),
        (b"PK\x03\x04 and more", "is a zip archive; unpack it"),
        (b"PAR1 but then nothing", "cannot be read"),
        (b"ARROW1 but then nothing", "cannot be read"),
        (b"\x00\x01\x02\x03" * 50, "is not text in UTF-8, nor Parquet or Arrow"),
        (text().decode().encode("utf-16"), "is not text in UTF-8"),
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


def test_text_far_down_in_the_rating_column(tmp_path) -> None:
    lines = [f"{k},{k % 7},3.5" for k in range(600_000)]  # more than one block of the reader
    lines[500_000] = "5,6,n.b."
    (tmp_path / "r").write_text("user,item,rating\n" + "\n".join(lines))
    with pytest.raises(ReadError, match=r"expected numbers, but row 500001 says 'n\.b\.'"):
        read_ratings(tmp_path / "r")
    lines[500_000] = "A5,6,3"
    (tmp_path / "r").write_text("user,item,rating\n" + "\n".join(lines))
    table = read_ratings(tmp_path / "r").table
    assert table.column("user")[500_000].as_py() == "A5"
    assert table.column("user")[0].as_py() == "0"
    assert table.column("item").type == pa.int64()


def test_json_whose_types_change_on_the_way(tmp_path) -> None:
    lines = ['{"user": 1, "item": "a", "rating": 3, "text": "' + "x" * 50 + '"}'] * 3000
    lines[2500] = '{"rating": 3.5, "user": 2, "item": "b", "more": [1, {"deep": null}]}'
    (tmp_path / "r").write_text("\n".join(lines))
    rows = rows_of(read_ratings(tmp_path / "r").table)
    assert rows[0] == (1, "a", 3.0)
    assert rows[2500] == (2, "b", 3.5)
    lines[2600] = '{"user": 2, "item": "b", "rating": "good"}'
    (tmp_path / "r").write_text("\n".join(lines))
    with pytest.raises(ReadError, match="cannot be read"):
        read_ratings(tmp_path / "r")


def test_missing_files_stay_missing(tmp_path) -> None:
    with pytest.raises(FileNotFoundError):
        read_ratings(tmp_path / "r")
    with pytest.raises(IsADirectoryError):
        read_ratings(tmp_path)


def test_ids_keep_their_kind(tmp_path) -> None:
    (tmp_path / "r").write_text("user,item,rating\n2020-01-01,true,1\n2020-02-03,false,2\n")
    model = MatrixCompletion(1, random_state=0).fit(read_ratings(tmp_path / "r").table)
    assert model.row_ids_.tolist() == [dt.date(2020, 1, 1), dt.date(2020, 2, 3)]
    assert model.column_ids_.tolist() == [False, True]


def test_values_are_float32_where_that_is_exact(tmp_path) -> None:
    for value, kind in (("3.5", pa.float32()), ("0.1", pa.float64()), ("16777217", pa.float64())):
        (tmp_path / "r").write_text(f"user,item,rating\n1,2,{value}\n")
        assert read_ratings(tmp_path / "r").table.column("rating").type == kind


def test_quotes_newlines_and_other_alphabets(tmp_path) -> None:
    (tmp_path / "r").write_text('user,item,rating\n"a ""b""","x,\ny",1\nжук,"",2\nn,m,3\n')
    assert rows_of(read_ratings(tmp_path / "r").table) == [('a "b"', "x,\ny", 1.0), ("n", "m", 3.0)]
    (tmp_path / "r").write_bytes('user::item::rating\né::"x::1\n'.encode("latin-1"))
    assert rows_of(read_ratings(tmp_path / "r").table) == [("é", '"x', 1.0)]


@given(st.text("a:", max_size=60).map(str.encode), st.lists(st.integers(1, 9), max_size=80))
def test_doubled_colons_are_replaced_in_any_chunks(content, sizes) -> None:
    stream, found = _Single(io.BytesIO(content)), []
    for size in [*sizes, *[7] * 80]:
        part = stream.read(size)
        assert len(part) <= size
        found.append(part)
    assert b"".join(found) == content.replace(b"::", UNIT)


@pytest.mark.parametrize("kind", ["coordinate", "dense", "pattern", "symmetric"])
def test_matrix_market(kind, tmp_path) -> None:
    matrix = sp.coo_array(([1.5, 2.0, 4.0], ([0, 2, 1], [1, 0, 1])), shape=(3, 3))
    path = tmp_path / "m.mtx"
    if kind == "symmetric":
        matrix = (matrix + matrix.T).tocoo()
    written = matrix.toarray() if kind == "dense" else matrix
    scipy.io.mmwrite(path, written, field="pattern" if kind == "pattern" else None)
    table = read_ratings(path).table
    back = np.zeros((3, 3))
    back[table.column(0).to_numpy() - 1, table.column(1).to_numpy() - 1] = table.column(
        2
    ).to_numpy()
    wanted = matrix.toarray()
    np.testing.assert_array_equal(back, wanted != 0 if kind == "pattern" else wanted)


def test_a_pipe_with_a_name(tmp_path) -> None:
    """As the shell's <(…) is one: what was read of it to look at the format is not lost."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_bytes(gzip.compress(text())))
    writer.start()
    assert rows_of(read_ratings(path).table) == ROWS
    writer.join()


def test_standard_input() -> None:
    code = "from pygeco.data import read_ratings; print(read_ratings('-').found)"
    done = subprocess.run(
        [sys.executable, "-c", code], input=gzip.compress(text()), capture_output=True, check=True
    )
    assert done.stdout.startswith(b"standard input (CSV, with a header, gzip): user = 'userId'")


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet", ".arrow", ".jsonl", ".csv.gz"])
def test_tables_are_written_and_read(ending, tmp_path) -> None:
    path = tmp_path / f"out{ending}"
    write_table(TABLE, path)
    assert rows_of(read_ratings(path).table) == ROWS
    with pytest.raises(ValueError, match="the ending says the format"):
        write_table(TABLE, tmp_path / "out.doc")
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


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
