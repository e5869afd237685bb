"""Files of other shapes are refused with a hint."""

import io

import numpy as np
import pytest

from pygeco.data import read_ratings
from pygeco.errors import ColumnError, ReadError
from pygeco.io.delimited import sniff_text
from pygeco.io.ratings import read_columns
from pygeco.io.shapes import find_moments
from pygeco.io.sources import open_source

RNG = np.random.default_rng(0)


COAT = "\n".join(" ".join(map(str, row)) for row in RNG.integers(0, 6, (9, 12))) + "\n"


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        (COAT, ReadError, r"looks like a matrix, 12 numbers a line.*--matrix"),
        (COAT.replace(" ", ","), ReadError, "looks like a matrix"),
        ("3 4 5 1 2\n3 4 1 1 1\n5 5 5 5 5\n", ReadError, "looks like a matrix, 5 numbers"),
        ("userId,10,17,24\n1,5,,3\n2,,4,\n", ReadError, "a matrix, numbers as names.*--matrix"),
        (",1,2,3,5\n1,5,,3,\n2,,4,,1\n", ReadError, "a matrix, numbers as names"),
        ("0 1 2 3\n1 5\n2 7 8\n", ReadError, "lines of 2 to 4 numbers, as lists of clicks have"),
        ("0\n1 5\n2 7 8\n", ReadError, "as lists of clicks have"),
        ("user,item\n1,2\n", ColumnError, r"too few for user and item and rating; pairs alone are"),
        ("1\t2\n", ColumnError, "pairs alone are clicks"),
        ("1,2,978300760\n", ColumnError, r"3 column\(s\), of which column 3 holds times, too few"),
        ("user,item,rating\n1,2,3,5\n", ReadError, "decimal commas need ; or tabs"),
    ],
)
def test_other_shapes_are_refused_with_the_right_hint(text, error, message) -> None:
    with pytest.raises(error, match=message):
        read_ratings(io.BytesIO(text.encode()))


@pytest.mark.parametrize("gap", ["", "NA", "null"])
def test_a_first_line_without_its_number_is_no_header(gap) -> None:
    """Its cell is missing: it is left out like another such line, and pairs need no rating."""
    text = f"ann,heat,{gap}\nbob,alien,3\neve,heat,{gap}\ndan,alien,5\n"
    reading = read_ratings(io.BytesIO(text.encode()))
    assert reading.table.column("user").to_pylist() == ["bob", "dan"]
    assert "without a header" in reading.found
    assert "2 rows with a missing value" in reading.found
    pairs = read_columns(io.BytesIO(text.encode()), {"user": None, "item": None}).table
    assert pairs.column("user").to_pylist() == ["ann", "bob", "eve", "dan"]
    text = f"who,what,how\n{text}"
    assert read_ratings(io.BytesIO(text.encode())).table.num_rows == 2


@pytest.mark.parametrize(
    "text",
    [
        "1\t\t5\t\t4\n1\t\t6\t\t2\n2\t\t5\t\t3\n",  # Jester's second set
        "who,Film title,Rating,,\r\n1,5,4,,\r\n1,6,2,,\r\n2,5,3,,\r\n",
        "who,Film title,Rating,,\r\n1,5,4,,\r\n1,6,2,,\r\n2,5,3,,\r\n".replace("5", '"a\nb"'),
    ],
)
def test_columns_that_are_empty_are_passed_over(text) -> None:
    given = {"user": None if text[0] == "1" else "who", "item": None, "rating": None}
    table = read_columns(io.BytesIO(text.encode()), given).table
    assert table.column("rating").to_pylist() == [4, 2, 3]
    assert table.column("user").to_pylist() == [1, 1, 2]


def test_ratings_without_names_are_no_matrix() -> None:
    for text in ("1,1193,5\n1,661,3\n2,1193,4\n", "ann,10,4\nbob,20,5\n", "7,8,9\n1,2,3\n"):
        assert read_ratings(io.BytesIO(text.encode())).table.num_rows == text.count("\n")
    named = {"user": "1", "item": "2", "rating": "3"}
    table = read_ratings(io.BytesIO(b"ann,10,4,7\n1,20,5,8\n"), **named).table
    assert table.column("user").to_pylist() == ["ann", "1"]


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        (["978300760", "978302109"], [3]),
        (["978300760000", "1577836800123"], [3]),
        (["2019-05-01", "2020-01-31 07:00:01"], [3]),
        (["978300760", "", "NA"], [3]),
        (["978300760", "5"], []),
        (["0", "0"], []),
        (["", ""], []),
        (["631151999"], []),
        (["631152000"], [3]),
        (["4102444800"], []),
        (["b", "c"], []),
    ],
)
def test_times_are_known_without_names(columns, found) -> None:
    """Behind two columns of ids, which may be as large, and before or behind the rating."""
    for rating, time in ((2, 3), (3, 2)):
        lines = []
        for k, moment in enumerate(columns):
            rest = {rating: f"{k % 5 + 0.5}", time: moment}
            lines.append(",".join([f"97830076{k}", f"97830076{k}", rest[2], rest[3]]))
        text = sniff_text(open_source(io.BytesIO("\n".join([*lines, ""]).encode())))
        assert find_moments(text) == ([time] if found else [])


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (0, 1, 3, 2)])
def test_ratings_are_no_times_whatever_their_order(order) -> None:
    rows = [("7", "10", "4.5", "978300760"), ("8", "11", "2", "978302109")]
    text = "".join("::".join(row[k] for k in order) + "\n" for row in rows)
    given = {"user": None, "item": None, "rating": None}
    read = read_columns(io.BytesIO(text.encode()), given, times=None).table.to_pydict()
    assert read["rating"] == [4.5, 2.0]
    assert read["timestamp"] == [978300760, 978302109]
    assert read_ratings(io.BytesIO(text.encode())).table.column("rating").to_pylist() == [4.5, 2.0]
    # What is named is taken, whatever it looks like.
    last = read_ratings(io.BytesIO(text.encode()), rating=order.index(3))
    assert last.table.column("rating").to_pylist() == [978300760.0, 978302109.0]
