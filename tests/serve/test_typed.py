"""Values from outside: what the types say is taken, all else is refused in one sentence."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pygeco.serve.requests import MAX_BATCH, FoldIn, Predict, Recommend
from pygeco.serve.typed import RequestError, describe_type, read_object, read_query

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
FIELDS = st.sampled_from(["user", "users", "k", "by", "only", "deviation", "reasons", "x"])


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(FIELDS, JSON))
def test_anything_is_a_request_or_one_sentence(body) -> None:
    wrong = None
    try:
        found = read_object(Recommend, body)
    except RequestError as error:
        wrong = error
    if wrong is not None:
        assert wrong.status in (413, 422)
        assert "\n" not in wrong.sentence
        assert wrong.sentence.endswith(".")
    else:
        assert 1 <= found.k <= 1000
        assert found.by in ("auto", "value", "choice")
        assert found.user is None or type(found.user) in (str, int, float)


@pytest.mark.parametrize(
    ("body", "status", "sentence"),
    [
        ([], 422, "body: expected a JSON object, not a list."),
        ({"k": True}, 422, "k: expected an integer from 1 to 1000, not true."),
        ({"k": 0}, 422, "k: expected an integer from 1 to 1000, not 0."),
        ({"by": "x"}, 422, "by: expected one of 'auto', 'value', 'choice', not 'x'."),
        ({"user": True}, 422, "user: expected a text or an integer or a number, not true."),
        ({"user": math.inf}, 422, "user: expected a text or an integer or a number, not inf."),
        ({"user": 10**25}, 422, "user: expected a text or an integer or a number, not so large"),
        ({"users": [1, 10**25]}, 422, "users: expected integers of 64 bits"),
        ({"users": []}, 422, "users: has 0 entries; give 1 to 10,000."),
        ({"users": [1] * (MAX_BATCH + 1)}, 413, "users: has 10,001 entries; give 1 to 10,000."),
        (
            {"users": [1, None]},
            422,
            "users[1]: expected a text or an integer or a number, not null",
        ),
        ({"\x1b": 1}, 422, r"'\x1b': unknown; use user"),
    ],
)
def test_sentences(body, status, sentence) -> None:
    with pytest.raises(RequestError) as found:
        read_object(Recommend, body)
    assert found.value.status == status
    assert found.value.sentence.startswith(sentence)


def test_a_query_is_the_same_request() -> None:
    found = read_query(Recommend, {"user": ["7"], "k": ["3"], "deviation": ["true"]})
    assert found == Recommend(user="7", k=3, deviation=True)
    assert read_query(Predict, {"users": ["1", "2"], "items": ["3", "4"]}).users == ["1", "2"]
    for wrong in ({"k": ["x"]}, {"k": ["1", "2"]}, {"nope": ["1"]}, {"deviation": ["maybe"]}):
        with pytest.raises(RequestError):
            read_query(Recommend, wrong)


def test_nested_objects_are_read_and_described() -> None:
    found = read_object(FoldIn, {"people": [[{"item": 1, "value": 3}], []]})
    assert found.people[0][0].value == 3.0
    with pytest.raises(RequestError, match="item: is missing"):
        read_object(FoldIn, {"known": [{"value": 3}]})
    parts = {}
    assert describe_type(FoldIn, parts) == {"$ref": "#/components/schemas/FoldIn"}
    assert parts["Known"]["required"] == ["item"]
    assert parts["FoldIn"]["properties"]["k"] == {"type": "integer", "minimum": 1, "maximum": 1000}
