"""Files of clicks are told from files of ratings, and read."""

import io

import pytest

from pygeco.io.click_tables import find_click_form, read_click_table
from pygeco.io.sources import open_source

NOTHING = {"user": None, "item": None, "rating": None}


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("user,item\n1,2\n3,4\n", "pairs"),
        ("1\t2\n3\t4\n", "pairs"),
        ("visitorid,itemid,timestamp\na,b,9\nc,d,8\n", "pairs"),
        ("user,artist,plays\na,b,9\nc,d,8\n", "counts"),
        ("user,item,visits,date\na,b,9,1\nc,d,8,2\n", "counts"),
        ("user,item,plays,rating\na,b,9,1\nc,d,8,2\n", None),
        ("0 1 2 3\n1 5\n2 7 8\n", "lists"),
        ("user,item,rating\n1,2,3\n", None),
        ("from,to,weight\n1,2,3\n", None),
        ("user,item,event\na,b,view\nc,d,cart\n", None),
        ("1 2 3\n4 5 1\n", None),
        ("1::1193::978300760\n1::661::978302109\n", "pairs"),
        ("1,1193,2019-05-01 12:30\n1,661,2020-01-31\n", "pairs"),
        ("1,1193,5,978300760\n1,661,3,978302109\n", None),
    ],
)
def test_the_form_of_a_file(text, form) -> None:
    assert find_click_form(open_source(io.BytesIO(text.encode())), NOTHING) == form


def test_counts_and_lists_are_read() -> None:
    counts = read_click_table(io.BytesIO(b"who,film,n\na,x,2\nb,y,5\n"), NOTHING | {"user": "who"})
    assert counts.table.to_pydict() == {"user": ["a", "b"], "item": ["x", "y"], "count": [2, 5]}
    assert counts.columns == ("who", "film", "n")
    assert "count = 'n'" in counts.found
    lists = read_click_table(io.BytesIO(b"7 1 2\n9 2\n8\n"), NOTHING, texts=["item"])
    assert lists.table.to_pydict() == {"user": [7, 7, 9], "item": ["1", "2", "2"]}
    plain = read_click_table(io.BytesIO(b"user,item,rating\na,x,2\n"), NOTHING)
    assert plain.table.column_names == ["user", "item"]


def test_rows_with_a_count_of_zero_are_no_clicks() -> None:
    text = b"user,item,plays\na,x,2\nb,y,0\nb,x,0.0\nc,x,1\n"
    found = read_click_table(io.BytesIO(text), NOTHING)
    assert found.table.to_pydict() == {"user": ["a", "c"], "item": ["x", "x"], "count": [2, 1]}
    assert found.found.endswith("4 rows, 2 of them with a count of 0: no clicks.")
