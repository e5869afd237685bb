"""Tables of attributes from files: separators, names, kinds of columns, MovieLens' own."""

import doctest
import gzip
import io

import numpy as np
import pandas as pd
import polars as pl
import pytest

from pygeco import Attributes
from pygeco.data import read_attributes
from pygeco.errors import ReadError
from pygeco.io import attributes

ROWS = [
    ("u1", "F", "31", "2020-01-05", "01234", "3.5"),
    ("u2", "M", "", "2020-02-01", "98765", "-1e3"),
    ("u3", "", "7", "", "00011", "0"),
]
NAMES = ("user_id", "sex", "age", "joined", "zip", "score")


def write(rows, separator: str) -> bytes:
    return "".join(separator.join(row) + "\n" for row in rows).encode()


def plain(table) -> dict[str, list]:
    return {name: column.tolist() for name, column in table.items()}


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("separator", [",", "\t", ";", "|", "::"])
def test_every_separator_gives_the_same_table(separator, named, tmp_path) -> None:
    path = tmp_path / "table.txt"
    path.write_bytes(write([NAMES, *ROWS] if named else ROWS, separator))
    table = read_attributes(path)
    assert list(table) == (list(NAMES) if named else [f"column{k + 1}" for k in range(6)])
    who, sex, age, joined, postcode, score = table.values()
    assert who.tolist() == ["u1", "u2", "u3"]
    assert sex.tolist() == ["F", "M", None]
    np.testing.assert_array_equal(age, [31, np.nan, 7])
    np.testing.assert_array_equal(joined, np.array(["2020-01-05", "2020-02-01", "NaT"], "M8[us]"))
    assert postcode.tolist() == ["01234", "98765", "00011"]
    assert score.tolist() == [3.5, -1000, 0]


@pytest.mark.parametrize("gap", ["", "NA"])
def test_a_first_line_with_a_gap_among_texts_is_data(gap) -> None:
    table = read_attributes(io.BytesIO(f"ann,{gap},F\nbob,23,M\neve,31,F\n".encode()))
    assert [column.tolist()[1:] for column in table.values()] == [
        ["bob", "eve"],
        [23, 31],
        ["M", "F"],
    ]
    assert table["column1"][0] == "ann"


def test_texts_are_those_that_pandas_and_polars_read() -> None:
    text = b'id,name,x\r\n1,"a ""b"", c",1\r\n2,"two\nlines",2\r\n\r\n3,plain,NA\r\n'
    table = read_attributes(io.BytesIO(text))
    frame = pd.read_csv(io.BytesIO(text))
    assert table["id"].dtype == np.int64
    assert table["name"].tolist() == frame.name.tolist()
    np.testing.assert_array_equal(table["x"], frame.x)
    other = Attributes(categories=["name"]).fit(pl.DataFrame(frame))
    found = Attributes(categories=["name"]).fit(table)
    assert (found.transform(table) != other.transform(frame)).nnz == 0


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        (["1", "2"], [1, 2]),
        (["-1", "0"], [-1, 0]),
        (["1", "2.5"], [1.0, 2.5]),
        (["01", "2"], ["01", "2"]),
        (["1_0", "2"], ["1_0", "2"]),
        (["+1", ".5", "1e3"], [1.0, 0.5, 1000.0]),
        (["1", "a"], ["1", "a"]),
        (["", "a"], [None, "a"]),
        (["NA", "a"], ["NA", "a"]),
        (["", "?"], [None, "?"]),
        (["2020-02-31", "2020-01-01"], ["2020-02-31", "2020-01-01"]),
        (["9" * 30, "1"], [1e30, 1.0]),
        ([], []),
    ],
)
def test_fields_become_what_they_say(fields, found) -> None:
    assert attributes.parse_column(fields).tolist() == found


def test_decimal_commas_are_read_between_other_separators() -> None:
    assert plain(read_attributes(io.BytesIO(b"id;x\n1;2,5\n2;3\n"))) == {
        "id": [1, 2],
        "x": [2.5, 3],
    }
    text = read_attributes(io.BytesIO(b'id,x\n1,"2,5"\n2,"3,0"\n'))
    assert text["x"].tolist() == ["2,5", "3,0"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (b"ann,F\nbob,M\neve,F\n", ["column1", "column2"]),
        (b"who,sex\nann,F\nbob,M\n", ["who", "sex"]),
        (b"item,F\na,F\nb,M\n", ["column1", "column2"]),
        (b"itemId,F\na,F\nb,M\n", ["itemId", "F"]),
        (b"F,years\nF,1\nM,2\n", ["F", "years"]),
        (b",x\n1,a\n2,b\n", ["column1", "x"]),
        (b"3,x\n1,a\n2,b\n", ["column1", "column2"]),
        (b"\xef\xbb\xbfid,x\n1,2\n", ["id", "x"]),
    ],
)
def test_names_are_told_from_data(text, names) -> None:
    assert list(read_attributes(io.BytesIO(text))) == names


def test_latin_1_compression_and_parquet(tmp_path) -> None:
    text = "id|name\n1|Léon\n2|Amélie\n"
    wanted = {"id": [1, 2], "name": ["Léon", "Amélie"]}
    for made in (text.encode("latin-1"), text.encode(), gzip.compress(text.encode("latin-1"))):
        assert plain(read_attributes(io.BytesIO(made))) == wanted
        (tmp_path / "file").write_bytes(made)
        assert plain(read_attributes(tmp_path / "file")) == wanted
    frame = pl.DataFrame(wanted | {"tags": [["a", "b"], ["a"]], "x": [1, None]})
    frame.write_parquet(tmp_path / "file.parquet")
    frame.write_ipc(tmp_path / "file.arrow")
    for name in ("file.parquet", "file.arrow"):
        table = read_attributes(tmp_path / name)
        found = Attributes(categories=["name"], numbers=["x"])
        with pytest.raises(ValueError, match="lists"):
            Attributes(categories=["tags"]).fit(table)
        assert found.fit(table).id_column_ == "id"
        assert (found.transform(table) != found.transform(frame)).nnz == 0


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"", "the file is empty; give a file with attributes."),
        (b" \n\n", "the file is empty; give a file with attributes."),
        (b"alone\nb\n", "the file has one column only, beginning 'alone'; separate the columns"),
        (b"id,x\n1,2\n3\n", "the file: line 3 has 1 field(s) where the first has 2; correct it."),
        (b"id,x,x\n1,2,3\n", "the file: two columns are called 'x'; rename one."),
        (b"a\x00b", "the file is not text, nor Parquet or Arrow; convert it to one of these."),
        (b"# made today\nid,x\n1,2\n", "the file begins with a comment, '# made today';"),
        (b"PAR1 is cut", "the file cannot be read: "),
        (b"PK\x03\x04", "the file looks compressed (zip) but cannot be unpacked."),
    ],
)
def test_errors_are_one_sentence(text, told) -> None:
    with pytest.raises(ReadError) as error:
        read_attributes(io.BytesIO(text))
    assert str(error.value).startswith(told)
    assert "\n" not in str(error.value)


def test_the_example_runs() -> None:
    assert doctest.testmod(attributes) == (0, 4)


def test_movielens_files_have_their_names_genres_and_years(tmp_path) -> None:
    (tmp_path / "users.dat").write_text("1::F::1::10::04806\n2::M::56::16::7\n")
    (tmp_path / "movies.dat").write_bytes(
        "1::Toy (1995)::Comedy|Drama\n2::2010: Léon (1984) (TV)::War\n".encode("latin-1")
    )
    (tmp_path / "u.user").write_text("1|24|M|writer|08571\n2|53|F|other|94043\n")
    flags = "|".join("1" if k in (5, 18) else "0" for k in range(19))
    (tmp_path / "u.item").write_text(
        f"1|Toy (1995)|01-Jan-1995||http://a|{flags}\n2|unknown||||{flags.replace('1', '0')}\n"
    )
    assert plain(read_attributes(tmp_path / "users.dat")) == {
        "user_id": [1, 2],
        "gender": ["F", "M"],
        "age": [1, 56],
        "occupation": ["10", "16"],
        "zip_code": ["04806", "7"],
    }
    assert plain(read_attributes(tmp_path / "movies.dat")) == {
        "movie_id": [1, 2],
        "title": ["Toy (1995)", "2010: Léon (1984) (TV)"],
        "genres": ["Comedy|Drama", "War"],
        "year": [1995, 1984],
    }
    assert plain(read_attributes(tmp_path / "u.user"))["zip_code"] == ["08571", "94043"]
    assert read_attributes(tmp_path / "u.item")["genres"].tolist() == ["genre5|genre18", None]
    (tmp_path / "u.genre").write_text("unknown|0\nComedy|5\nWar|18\n\n")
    found = read_attributes(tmp_path / "u.item")
    assert list(found) == ["movie_id", "title", "genres", "year"]
    assert found["genres"].tolist() == ["Comedy|War", None]
    np.testing.assert_array_equal(found["year"], [1995, np.nan])
    (tmp_path / "movies.csv").write_text('movieId,title,genres\n1,"Toy, The (1995)",Comedy|War\n')
    assert plain(read_attributes(tmp_path / "movies.csv"))["year"] == [1995]
    (tmp_path / "users.dat").write_text("1::F::1\n2::M::56\n")
    assert list(read_attributes(tmp_path / "users.dat")) == ["column1", "column2", "column3"]


@pytest.mark.parametrize("seed", range(40))
def test_damaged_text_is_a_table_or_one_sentence(seed) -> None:
    rng = np.random.default_rng(seed)
    content = bytearray(write([NAMES, *ROWS] * 3, str(rng.choice([",", "|", "::", "\t"]))))
    for _ in range(rng.integers(1, 12)):
        at = int(rng.integers(len(content)))
        content[at : at + int(rng.integers(0, 3))] = bytes(
            rng.choice(list(b'",|:\n\r\xff 0\t#'), 2)
        )
    told, table = "", {}
    try:
        table = read_attributes(io.BytesIO(bytes(content)))
    except ReadError as error:
        told = str(error)
    assert len(told.splitlines()) == (0 if table else 1)
    assert len({len(column) for column in table.values()}) <= 1


@pytest.mark.parametrize("start", ["", "[", " \n[ "])
def test_json_is_no_table_of_text(start) -> None:
    """Its lines have commas: they were taken for columns called {"user": 1."""
    lines = start + '{"user": 1, "age": 30}\n{"user": 2, "age": 31}\n'
    with pytest.raises(ReadError, match=r"^the file is JSON; write the attributes as CSV, Parquet"):
        read_attributes(io.BytesIO(lines.encode()))
