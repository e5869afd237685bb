"""Which columns are users, items and ratings: headers of well-known files, positions, sentences."""

import pytest

from pygeco.errors import ColumnError
from pygeco.io.column_names import match_columns
from pygeco.io.columns import chosen_columns

ROLES = ("user", "item", "rating")
# Headers of published files; the columns that are meant are marked by *.
HEADERS = [
    "*userId *movieId *rating timestamp",
    "*User-ID *ISBN *Book-Rating",
    "*User_ID *Anime_ID *Feedback timestamp",
    "review_id *user_id *business_id *stars useful funny cool text date",
    "*rating title text images *asin parent_asin *user_id timestamp helpful_vote",
    "*reviewerID *asin reviewerName vote style reviewText *overall summary unixReviewTime",
    "*userID *artistID *weight",
    "*user_id *recipe_id date *rating review",
    "brewery_id review_time *review_overall *review_profilename beer_name *beer_beerid",
    "*MemberNo *Track_ID *Play_Count",
    "*visitorid event *itemid *score transactionid",
    "*CustomerID *ProductID *Stars Date",
    "date *student_id *problem_id *correct",
    "*member *game *grade",
    "*row *col *value",
    "*Reader *Book *Mark day",
]


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("write", [str, str.upper, str.title, lambda s: s.replace("_", " ")])
def test_headers_of_published_files(header, write) -> None:
    names = [write(name.lstrip("*")) for name in header.split()]
    meant = {k for k, name in enumerate(header.split()) if name.startswith("*")}
    found = match_columns(names, ROLES)
    assert found is not None
    assert set(found) == meant
    # The order of the columns does not matter.
    turned = match_columns(names[::-1], ROLES)
    assert [names[::-1][k] for k in turned] == [names[k] for k in found]


@pytest.mark.parametrize("names", ["a b c", "user item", "age weight height", "x1 x2 x3 x4"])
def test_names_that_say_nothing(names) -> None:
    assert match_columns(names.split(), ROLES) is None


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
    assert chosen_columns(names.split(), given) == wanted


def test_every_missing_column_is_named_at_once() -> None:
    with pytest.raises(ColumnError) as told:
        chosen_columns(["a", "b", "c", "d", "e", "f"], OPEN)
    assert str(told.value) == (
        "no column looks like the user or the item or the rating; name them with user= and item= "
        "and rating= (on the command line --user --item --rating), of 'a', 'b', 'c', 'd', 'e', 'f'."
    )
    with pytest.raises(ColumnError, match=r"the item or the rating; name them .* --item --rating"):
        chosen_columns(["user", "b", "c", "d"], OPEN)


def test_what_another_file_was_told_holds_where_this_one_has_it() -> None:
    told = {"user": "who", "item": "what", "rating": "stars"}
    for names, given, wanted in (
        ("stars user what who item", OPEN, [3, 2, 0]),
        ("user item stars", OPEN, [0, 1, 2]),
        ("who what user", OPEN | {"user": "user"}, [2, 1, 0]),
    ):
        assert chosen_columns(names.split(), given, remembered=told) == wanted
    places = {"user": "2", "item": "1", "rating": "3"}
    assert chosen_columns(["1", "2", "3"], OPEN, named=False, remembered=places) == [1, 0, 2]
    assert chosen_columns(["1", "2"], {"user": None, "item": None}, named=False) == [0, 1]
