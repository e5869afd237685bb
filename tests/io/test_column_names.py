"""Names of columns."""

import pytest

from pygeco.io.column_names import match_columns

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
    "*user_id:token *item_id:token *rating:float timestamp:float",
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


def test_usual_names() -> None:
    roles = ("user", "item", "rating")
    for names in (
        ["userId", "movieId", "rating", "timestamp"],
        ["Rating", "USER_ID", "item-id"],
        ["row", "col", "value"],
        ["reviewerID", "asin", "overall"],
    ):
        found = match_columns(names, roles)
        assert found is not None
        assert len(set(found)) == 3
    assert match_columns(["a", "b", "c"], roles) is None
    assert match_columns(["user", "item"], roles) is None
