"""Which columns are users, items and ratings: headers of well-known files, positions, sentences."""

import pytest

from pygeco.errors import ColumnError
from pygeco.io.columns import choose_columns

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
