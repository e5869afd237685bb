"""Tables in text."""

import io
import time

import numpy as np
import pytest

from pygeco.data import read_ratings
from pygeco.errors import ReadError
from pygeco.io.matrices import read_any_columns, read_table
from pygeco.io.text_cells import put_cells
from pygeco.io.titles import read_titles


@pytest.mark.parametrize(
    ("text", "rows", "named"),
    [
        ("a,1,2\nb,3,4\n", 2, False),
        ("b,?,4\na,1,2\n", 2, False),
        ("1,2\n3,4\n", 2, False),
        ("who,x,y\nb,3,4\n", 1, True),
        (",0,1\n0,3,4\n", 1, True),
        ("country,1990,1991,1992\nFrance,3.5,4,2\n", 1, True),
        ("x\n1\n2\n", 2, True),
        ("a;1,5;2\nb;2,5;3\n", 2, False),
        ("name;x\nJosé;2,5\n", 1, True),
        ("1 2 3\n4 NA 6\n", 2, False),
    ],
)
def test_tables_keep_their_first_row(text, rows, named, tmp_path) -> None:
    for encoding in ("utf8", "latin-1"):
        (tmp_path / "t.csv").write_bytes(text.encode(encoding))
        table = read_table(tmp_path / "t.csv")
        assert (table.arrow.num_rows, table.named) == (rows, named)
        assert table.values.shape[0] == rows


@pytest.mark.parametrize("sign", [";", "\t", "|"])
def test_decimal_commas(sign) -> None:
    for lines in (["user,item,rating", "1,2,3|5", "1,3,4"], ["1,2,3|5", "a,3,4"]):
        text = "\n".join(lines).replace(",", sign).replace("3|5", "3,5")
        rows = read_ratings(io.BytesIO(text.encode())).table.column("rating").to_pylist()
        assert rows == [3.5, 4.0]


BOOKS = (
    '"ISBN";"Book-Title";"Book-Author"\n'
    '"0385333498";"The Real \\"J. Peterman\\"; Again";"X"\n'
    '"038533349X";"Les Misérables";"Y"\n'
)


def test_books_with_semicolons_in_latin_1(tmp_path) -> None:
    (tmp_path / "books.csv").write_bytes(BOOKS.encode("latin-1"))
    ids = np.array(["0385333498", "038533349X", "1"], dtype=object)
    assert read_titles(tmp_path / "books.csv", ids) == [
        'The Real "J. Peterman"; Again', "Les Misérables", "1"]  # fmt: skip
    text = '"User-ID";"ISBN";"Rating"\n"276725";"034545104X";"0"\n"276726";"é";"5"\n'
    table = read_ratings(io.BytesIO(text.encode("latin-1"))).table
    assert table.column("item").to_pylist() == ["034545104X", "é"]


def test_a_remark_before_the_header_is_named(tmp_path) -> None:
    text = "# Source: a shop\nDate,IBM,AAPL\n2020-01-01,1.5,2.5\n2020-01-02,1.6,2.4\n"
    path = tmp_path / "stocks.csv"
    path.write_text(text)
    for read in (read_ratings, read_table):
        with pytest.raises(ReadError, match=r"begins with a comment, '# Source: a shop'; remove"):
            read(path)
    header = io.BytesIO(b"#user,item,rating\nann,1,3\nbob,2,4\n")
    assert read_ratings(header).table.num_rows == 2


UGLY = [
    "naïve,zip,big,when,x",
    "a,00500,12345678901234567890,2024-05-01T00:00:00+02:00,1.413e-05",
    "NA,00501,7,2024-05-01T01:00:00+02:00,48370.90",
    ",,,,",
]


@pytest.mark.parametrize("encoding", ["utf8", "utf-8-sig", "latin-1"])
def test_every_text_is_kept_beside_its_type(encoding, tmp_path) -> None:
    (tmp_path / "t.csv").write_bytes("\n".join(UGLY).encode(encoding))
    found = read_any_columns(tmp_path / "t.csv")
    names, *rows = [line.split(",") for line in UGLY]
    assert [list(row.values()) for row in found.texts.to_pylist()] == rows
    kinds = ["string", "string", "string", "timestamp[s, tz=UTC]", "double"]
    assert found.arrow.column_names == names == found.texts.column_names
    assert [str(field.type) for field in found.arrow.schema] == kinds
    assert found.arrow.column("x").to_pylist() == [1.413e-05, 48370.90, None]


@pytest.mark.parametrize("text", ["a\n1\n2\n\n4\n\n6\n", "a\r\n1\r\n2\r\n\r\n4\r\n\r\n6"])
def test_empty_lines_of_one_column_are_missing_cells(text, tmp_path) -> None:
    (tmp_path / "t.csv").write_bytes(text.encode())
    np.testing.assert_array_equal(
        read_table(tmp_path / "t.csv").values[:, 0], [1, 2, np.nan, 4, np.nan, 6]
    )


def test_a_header_longer_than_the_first_bytes(tmp_path) -> None:
    names = [f"{k:08}" for k in range(9_000)]
    lines = [",".join(["user", *names]), *(",".join([str(u), *["5"] * 9_000]) for u in (3, 8))]
    cells = read_ratings(io.BytesIO("\n".join(lines).encode()), matrix=True).table
    assert cells.num_rows == 18_000
    assert set(cells.column("user").to_pylist()) == {3, 8}
    assert cells.column("item")[:2].to_pylist() == names[:2]


@pytest.mark.parametrize("sign", [",", ";", "\t"])
@pytest.mark.parametrize("corner", ["userId", "", "site", "user"])
@pytest.mark.parametrize("users", [(1, 2, 5), ("ann", "bob", "cid"), ("01", "02", "03")])
def test_the_first_line_and_column_of_a_pivot_table_are_ids(sign, corner, users) -> None:
    if corner == "site" and users[0] == "01":
        users = (11, 12, 13)  # codes are texts; nothing says then that the first line is none
    rows = [[corner, "2", "3", "50"], *([str(u), "1", "", "4"] for u in users)]
    if corner == "site":
        rows[0][1:] = ["10", "17", "24"]
    text = "\n".join(sign.join(row) for row in rows)
    found = read_ratings(io.BytesIO(text.encode()), matrix=True)
    assert "with a header): 3 rows are users, 3 columns are items; 6 cells" in found.found
    assert found.table.column("user").unique().to_pylist() == list(users)
    assert found.table.column("item").unique().to_pylist() == [int(rows[0][1]), int(rows[0][3])]
    with pytest.raises(ReadError, match="looks like a matrix, numbers as names of its columns"):
        read_ratings(io.BytesIO(text.encode()))


def test_the_time_of_wide_tables_grows_as_they_do(tmp_path) -> None:
    def measure(width: int) -> float:
        names = [f"film {k}" for k in range(width)]
        rows = [["user", *names], ["a", *["5"] * width], ["b", *[""] * width]]
        path = tmp_path / f"{width}.csv"
        path.write_text("\n".join(map(",".join, rows)))
        spent = []
        for _ in range(2):
            before = time.process_time()
            assert read_ratings(path, matrix=True).table.num_rows == width
            table = read_table(path)
            new = table.filled(np.ones_like(table.values))
            assert put_cells(table.whole.texts, table.arrow, new).num_columns == width + 1
            spent.append(time.process_time() - before)
        return min(spent)

    measure(10)
    assert measure(1_200) < 12 * measure(200)  # six times as wide
