"""Which columns are users, items and ratings: headers of well-known files, positions, sentences."""

import io

import pytest

from pygeco.data import read_ratings
from pygeco.errors import ColumnError, ReadError
from pygeco.io.columns import choose_columns
from pygeco.io.text_ids import MISSING_RATINGS

ROLES = ("user", "item", "rating")


OPEN = dict.fromkeys(ROLES)


@pytest.mark.parametrize(
    ("names", "given", "wanted"),
    [
        ("a b c", OPEN, [0, 1, 2]),
        ("a b c d", OPEN, [0, 1, 2]),
        ("date a b c", OPEN, [1, 2, 3]),  # a time is none of the three
        ("user item what", OPEN, [0, 1, 2]),  # one is left for one role
        ("what timestamp item user", OPEN, [3, 2, 0]),
        ("a b c", OPEN | {"rating": "a"}, [1, 2, 0]),
    ],
)
def test_position_tells_where_names_do_not(names, given, wanted) -> None:
    assert choose_columns(names.split(), given) == wanted


def test_every_missing_column_is_named_at_once() -> None:
    with pytest.raises(ColumnError) as told:
        choose_columns(["a", "b", "c", "d", "e", "f"], OPEN)
    assert str(told.value) == (
        "no column looks like the user or the item or the rating; name them with user= and item= "
        "and rating= (on the command line --user --item --rating), of 'a', 'b', 'c', 'd', 'e', 'f'."
    )
    with pytest.raises(ColumnError, match=r"the item or the rating; name them .* --item --rating"):
        choose_columns(["user", "b", "c", "d"], OPEN)
    with pytest.raises(ColumnError, match=r"like the rating; .* clicks have none: fit them with"):
        choose_columns(["visitorid", "event", "itemid", "transactionid"], OPEN)


def test_what_another_file_was_told_holds_where_this_one_has_it() -> None:
    told = {"user": "who", "item": "what", "rating": "stars"}
    for names, given, wanted in (
        ("stars user what who item", OPEN, [3, 2, 0]),
        ("user item stars", OPEN, [0, 1, 2]),
        ("who what user", OPEN | {"user": "user"}, [2, 1, 0]),
    ):
        assert choose_columns(names.split(), given, remembered=told) == wanted
    places = {"user": "2", "item": "1", "rating": "3"}
    assert choose_columns(["1", "2", "3"], OPEN, named=False, remembered=places) == [1, 0, 2]
    assert choose_columns(["1", "2"], {"user": None, "item": None}, named=False) == [0, 1]


@pytest.mark.parametrize("word", MISSING_RATINGS)
@pytest.mark.parametrize("form", ["{0},{1},{2}", "{0}, {1}, {2}", "{0};{1};{2}", "{0}::{1}::{2}"])
def test_words_for_missing_ratings_leave_rows_out(word, form) -> None:
    """Beside decimal commas and spaces, too, as R writes them; an error named another row."""
    comma = ";" in form
    rows = [("ann", "x", "3,5" if comma else "3.5"), ("bob", "y", word), ("eve", "z", "4")]
    text = "".join(form.format(*row) + "\n" for row in [("user", "item", "rating"), *rows])
    for encoding in ("utf-8", "cp1252"):
        found = read_ratings(io.BytesIO(text.replace("eve", "ève").encode(encoding)))
        assert found.table.column("user").to_pylist() == ["ann", "ève"]
        assert found.table.column("rating").to_pylist() == [3.5, 4.0]
        assert "1 rows with a missing value are left out" in found.found


@pytest.mark.parametrize("wrong", ["1_000", "٣", "4/5", "1 234"])
def test_the_first_rating_that_is_no_number_is_named(wrong) -> None:
    """Python's float takes two of these, Arrow none."""
    text = f"user,item,rating\nann,x,3\nbob,y,NA\neve,z,{wrong}\n"
    with pytest.raises(ReadError, match=f"row 3 says '{wrong}'"):
        read_ratings(io.BytesIO(text.encode()))
