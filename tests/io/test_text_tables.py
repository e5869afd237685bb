"""Tables in text."""

import io

import numpy as np
import pytest

from pygeco.data import read_ratings
from pygeco.errors import ReadError
from pygeco.io.matrices import read_table
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
