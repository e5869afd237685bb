"""Ids in text are what the text says; files of other shapes are read, or refused with a hint."""

import io

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pygeco.data import read_ratings
from pygeco.errors import ColumnError, ReadError
from pygeco.io.matrices import read_table
from pygeco.io.ratings import read_columns
from pygeco.io.text_ids import id_texts, narrow_ids
from pygeco.io.titles import read_titles

WRITTEN = st.lists(
    st.one_of(
        st.integers(-20, 20).map(str),
        st.integers(2**62, 2**70).map(str),
        st.from_regex(r"0{0,2}[0-9]\.?[0-9]{0,2}", fullmatch=True),
        st.sampled_from(
            ["true", "True", "2020-01-01", "2020-1-1", "nan", "inf", "1e3", "-0", "+1"]
        ),
    ).filter(lambda text: text != "nan"),
    min_size=1,
    max_size=6,
)


def users(ids: list[str], sign: str = ",") -> list:
    lines = [sign.join((one, str(k), "3")) for k, one in enumerate(ids)]
    content = "\n".join([sign.join(("user", "item", "rating")), *lines, ""])
    return read_ratings(io.BytesIO(content.encode())).table.column("user").to_pylist()


@given(WRITTEN)
def test_no_two_ids_become_one(ids) -> None:
    found = users(ids)
    assert len(found) == len(ids)
    assert len(set(found)) == len(set(ids))
    back = id_texts(narrow_ids(pa.chunked_array([pa.array(ids)])))
    assert back.to_pylist() == ids


@pytest.mark.parametrize(
    ("ids", "wanted"),
    [
        (["01", "1", "001"], ["01", "1", "001"]),
        (["1.10", "1.1"], ["1.10", "1.1"]),
        (["1.5", "2.0"], [1.5, 2.0]),
        (["7", "8"], [7, 8]),
        ([" 7", "8 "], [7, 8]),
        ([str(2**63 + k) for k in range(50)], [2**63 + k for k in range(50)]),
        ([str(2**70), str(2**70 + 1)], [str(2**70), str(2**70 + 1)]),
        (["1", "NA", "2"], [1, 2]),
        (["FR", "NA"], ["FR", "NA"]),
    ],
)
@pytest.mark.parametrize("sign", [",", "::", ";"])
def test_ids_stay_what_the_text_says(ids, wanted, sign) -> None:
    assert users(ids, sign) == wanted


def test_large_ids_in_json() -> None:
    lines = "".join(f'{{"user": {2**63 + k}, "item": {k}, "rating": 1.5}}\n' for k in range(50))
    found = read_ratings(io.BytesIO(lines.encode())).table.column("user").to_pylist()
    assert found == [2**63 + k for k in range(50)]
    with pytest.raises(ReadError, match="too large for numbers in JSON; write them as text"):
        read_ratings(io.BytesIO(lines.replace(str(2**63), str(2**70)).encode()))


def test_a_few_rows_are_read_with_the_kind_of_the_whole() -> None:
    table = read_columns(io.BytesIO(b"user,item\n1,2\n"), {"user": None, "item": None}).table
    assert table.to_pylist() == [{"user": 1, "item": 2}]
    content = io.BytesIO(b"user,item\n1,2\n")
    table = read_columns(content, {"user": None, "item": None}, texts=["user"]).table
    assert table.to_pylist() == [{"user": "1", "item": 2}]


def test_pairs_without_a_header_lose_no_line() -> None:
    asked = {"user": None, "item": None}
    for text, rows in ((b"u1,i1\nu2,i2\n", 2), (b"user,item\nu2,i2\n", 1), (b"who,what\n1,2\n", 1)):
        assert read_columns(io.BytesIO(text), dict(asked)).table.num_rows == rows


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


RNG = np.random.default_rng(0)
COAT = "\n".join(" ".join(map(str, row)) for row in RNG.integers(0, 6, (9, 12))) + "\n"


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        (COAT, ReadError, r"looks like a matrix, 12 numbers a line.*--matrix"),
        (COAT.replace(" ", ","), ReadError, "looks like a matrix"),
        ("3 4 5 1 2\n3 4 1 1 1\n5 5 5 5 5\n", ReadError, "looks like a matrix, 5 numbers"),
        ("0 1 2 3\n1 5\n2 7 8\n", ReadError, "lines of 2 to 4 numbers, as lists of clicks have"),
        ("0\n1 5\n2 7 8\n", ReadError, "as lists of clicks have"),
        ("user,item\n1,2\n", ColumnError, r"too few for user and item and rating; pairs alone are"),
        ("1\t2\n", ColumnError, "pairs alone are clicks"),
        ("user,item,rating\n1,2,3,5\n", ReadError, "decimal commas need ; or tabs"),
    ],
)
def test_other_shapes_are_refused_with_the_right_hint(text, error, message) -> None:
    with pytest.raises(error, match=message):
        read_ratings(io.BytesIO(text.encode()))


def test_matrices_are_read_as_such() -> None:
    table = read_ratings(io.BytesIO(COAT.encode()), matrix=True).table
    back = np.zeros((9, 12))
    back[table.column(0).to_numpy() - 1, table.column(1).to_numpy() - 1] = table.column(2)
    np.testing.assert_array_equal(back, np.loadtxt(io.StringIO(COAT)))
    text = b"user;j1;j2\n01;1,5;\n1;;2\n"
    found = read_ratings(io.BytesIO(text), matrix=True)
    assert found.table.to_pylist() == [
        {"user": "01", "item": "j1", "rating": 1.5},
        {"user": "1", "item": "j2", "rating": 2.0},
    ]
    assert "2 rows are users, 2 columns are items; 2 cells have a value." in found.found
    with pytest.raises(ReadError, match="column 'note' holds text"):
        read_ratings(io.BytesIO(b"user,a,note\n1,2,good\n"), matrix=True)
    with pytest.raises(ColumnError, match="do not name columns"):
        read_ratings(io.BytesIO(COAT.encode()), matrix=True, user=1)


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


def test_titles_that_do_not_match_are_refused(tmp_path) -> None:
    (tmp_path / "t.csv").write_text("id,what,name\n7,x,Seven\n")
    with pytest.raises(ReadError, match=r"None of its items, such as '7', is one of .* as '1'"):
        read_titles(tmp_path / "t.csv", np.array([1, 2]), item="id")
    assert read_titles(tmp_path / "t.csv", np.array([7]), item="id", title="what") == ["x"]
    assert read_titles(tmp_path / "t.csv", np.array(["7"], object), item="1") == ["Seven"]
    (tmp_path / "t.csv").write_text("item,title\n01,One\n1,Another\n")
    assert read_titles(tmp_path / "t.csv", np.array(["1", "01"], object)) == ["Another", "One"]
    assert read_titles(tmp_path / "t.csv", np.array([1, 3])) == ["Another", "3"]


def test_a_remark_before_the_header_is_named(tmp_path) -> None:
    text = "# Source: a shop\nDate,IBM,AAPL\n2020-01-01,1.5,2.5\n2020-01-02,1.6,2.4\n"
    path = tmp_path / "stocks.csv"
    path.write_text(text)
    for read in (read_ratings, read_table):
        with pytest.raises(ReadError, match=r"begins with a comment, '# Source: a shop'; remove"):
            read(path)
    header = io.BytesIO(b"#user,item,rating\nann,1,3\nbob,2,4\n")
    assert read_ratings(header).table.num_rows == 2
