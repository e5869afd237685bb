"""The interface: every route, single and batch, by GET and by POST, and its errors."""

import json
import re

import pytest

from pygeco.serve import answers, service
from pygeco.serve.openapi import describe_interface
from pygeco.serve.requests import Recommend
from pygeco.serve.settings import Limits
from serve_cases import move_ids_far, serving


@pytest.fixture(scope="module")
def ask(ratings):
    with serving(ratings) as found:
        yield found


def test_lists_single_and_batch_by_get_and_post(ask, ratings) -> None:
    single = ask("GET", "/v1/recommend?user=4&k=3&only=m01&only=m02&only=m03&only=m04")
    assert single.status_code == 200
    only = ["m01", "m02", "m03", "m04"]
    posted = ask("POST", "/v1/recommend", {"user": 4, "k": 3, "only": only})
    assert posted.json() == single.json()
    batch = ask("POST", "/v1/recommend", {"users": [4, 5], "k": 3, "only": only}).json()
    assert batch["lists"][0]["items"] == single.json()["items"]
    expected = answers.recommend(ratings, [4], Recommend(k=3, only=only))[0]
    assert single.json() == dict(expected) | {"model": ratings.version}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/predict", {"user": 1, "item": "m01"}),
        ("/v1/predict", {"users": [1, 2], "items": ["m01", "m02"], "deviation": True}),
        ("/v1/similar", {"item": "m01", "k": 3}),
        ("/v1/similar", {"users": [1, 2], "k": 3}),
        ("/v1/explain", {"user": 1, "item": "m01"}),
        ("/v1/explain", {"users": [1], "items": ["m01"]}),
        ("/v1/fold-in", {"known": [{"item": "m01", "value": 5}], "deviation": True, "reasons": 1}),
        ("/v1/fold-in", {"people": [[], [{"item": "m01", "value": 5}]]}),
        ("/v1/recommend", {"users": [1, "x"], "deviation": True, "reasons": 1, "k": 2}),
    ],
)
def test_answers_are_as_they_are_described(ask, ratings, path, body) -> None:
    found = ask("POST", path, body)
    assert found.status_code == 200, found.text
    assert found.headers["x-model-version"] == found.json()["model"] == ratings.version
    spec = describe_interface("1", False)
    schema = spec["paths"][path]["post"]["responses"]["200"]["content"]["application/json"]
    check(found.json(), schema["schema"], spec["components"]["schemas"])


def check(value, schema, parts) -> None:
    """A value against the parts of JSON schema that the description uses."""
    if "$ref" in schema:
        schema = parts[schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:
        errors = []
        for one in schema["anyOf"]:
            try:
                return check(value, one, parts)
            except AssertionError as error:
                errors.append(error)
        raise errors[-1]
    kinds = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float)}
    kinds |= {"boolean": bool, "null": type(None)}
    assert isinstance(value, kinds[schema["type"]]), (value, schema)
    if schema["type"] == "array":
        for one in value:
            check(one, schema["items"], parts)
    if "properties" in schema:
        assert set(schema.get("required", ())) <= set(value) <= set(schema["properties"])
        for name, one in value.items():
            check(one, schema["properties"][name], parts)
    return None


def test_find_map_and_model(ask, ratings) -> None:
    found = ask("GET", "/v1/find?text=film 1&k=20").json()["matches"]
    assert {one["title"].split()[1] for one in found} == {"1", *map(str, range(10, 20))}
    about = ask("GET", "/v1/model").json()
    assert (about["users"], about["items"], about["kind"]) == (80, 60, "ratings")
    drawn = ask("GET", "/v1/map").json()
    assert len(drawn["x"]) == len(drawn["items"]) == 60
    assert ask("GET", "/").text.startswith("<!doctype html>")
    assert ask("GET", "/ready").json()["model"] == ratings.version


def test_an_answer_that_is_known_is_not_sent_again(ask) -> None:
    first = ask("GET", "/v1/predict?user=1&item=m01")
    again = ask(
        "GET", "/v1/predict?user=1&item=m01", headers={"if-none-match": first.headers["etag"]}
    )
    assert (again.status_code, again.content) == (304, b"")
    any_ = {"if-none-match": "*"}
    assert ask("GET", "/v1/predict?user=1&item=m01", headers=any_).status_code == 304
    assert ask("GET", "/v1/explain?user=1&item=nope", headers=any_).status_code == 404
    asked = {"user": 1, "item": "m01"}
    assert ask("POST", "/v1/predict", json=asked, headers=any_).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "given", "status", "code"),
    [
        ("GET", "/nothing", {}, 404, "not_found"),
        ("GET", "/../../etc/passwd", {}, 404, "not_found"),
        ("DELETE", "/v1/recommend", {}, 405, "bad_method"),
        ("GET", "/v1/fold-in", {}, 405, "bad_method"),
        ("GET", "/v1/recommend", {}, 422, "missing_field"),
        ("GET", "/v1/explain?user=1&item=nope", {}, 404, "unknown_id"),
        ("POST", "/v1/recommend", {"content": b"{}"}, 415, "not_json"),
        ("POST", "/v1/recommend", {"content": b"{", "headers": 1}, 400, "bad_json"),
        ("POST", "/v1/recommend", {"content": b"[" * 5000, "headers": 1}, 400, "bad_json"),
        ("POST", "/v1/recommend", {"content": b'{"user":"\xff"}', "headers": 1}, 400, "bad_json"),
        ("POST", "/v1/recommend", {"content": b" " * 9_000_000, "headers": 1}, 413, "too_large"),
        ("POST", "/v1/recommend", {"json": {"user": 1, "x": 2}}, 422, "unknown_field"),
        ("GET", "/v1/recommend?" + "&" * 30_000, {}, 413, "too_many"),
    ],
)
def test_errors_are_one_sentence(ask, method, path, given, status, code) -> None:
    if "headers" in given:
        given = given | {"headers": {"content-type": "application/json"}}
    found = ask(method, path, **given)
    error = found.json()["error"]
    assert (found.status_code, error["code"]) == (status, code)
    assert "\n" not in error["message"]
    assert "Traceback" not in found.text


def test_a_wrong_method_is_told_which_are_right(ask) -> None:
    for path, allowed in (
        ("/v1/recommend", {"GET", "HEAD", "POST"}),
        ("/v1/fold-in", {"POST"}),
        ("/v1/map", {"GET", "HEAD"}),
    ):
        found = ask("DELETE", path)
        assert set(found.headers["allow"].split(", ")) == allowed
        said = found.json()["error"]["message"]
        assert said == f"method: this address takes {found.headers['allow']}, not DELETE."


def test_what_nobody_foresaw_is_logged_and_not_shown(ratings, monkeypatch, caplog) -> None:
    def fail(*_):
        raise RuntimeError("a secret")

    monkeypatch.setattr(service, "write_lists", fail)
    with serving(ratings) as ask:
        found = ask("GET", "/v1/recommend?user=1")
    assert found.status_code == 500
    assert "secret" not in found.text
    assert "a secret" in caplog.text


def test_a_body_without_a_length_is_bounded_too(ratings) -> None:
    async def parts():
        for _ in range(20):
            yield b" " * 100

    with serving(ratings, limits=Limits(max_body=1000)) as ask:
        headers = {"content-type": "application/json"}
        found = ask("POST", "/v1/recommend", content=parts(), headers=headers)
    assert found.status_code == 413
    assert found.headers["connection"] == "close"


def test_the_description_is_served(ask) -> None:
    found = ask("GET", "/openapi.json").json()
    assert found == json.loads(
        json.dumps(describe_interface(__import__("pygeco").__version__, False))
    )


def test_no_answer_has_an_id_that_javascript_would_round(ratings) -> None:
    far = move_ids_far(ratings)
    user, item = 10**19 + 5, 2**53 + 7
    asked = [
        ("predict", {"user": user, "item": item}),
        ("recommend", {"user": user, "k": 3}),
        ("recommend", {"user": str(user), "k": 3, "reasons": 2}),
        ("similar", {"item": item}),
        ("similar", {"user": str(user)}),
        ("explain", {"user": user, "item": str(item)}),
        ("fold-in", {"known": [{"item": item, "value": 3}], "reasons": 2}),
    ]
    gets = ["find?side=user", f"find?text={item}", f"recommend?user={user}", "map"]
    with serving(far) as ask:
        posted = [("POST", f"/v1/{path}", {"json": body}) for path, body in asked]
        for answer in ask.all([*posted, *(("GET", f"/v1/{path}", {}) for path in gets)]):
            assert answer.status_code == 200, answer.text
            assert re.search(r'"(1000000000000000|900719925)\d+"', answer.text)
            assert not re.search(r"[\[:,]-?\d{16,}", answer.text)
            assert answer.json().get("user", str(user)) == str(user)
            assert answer.json().get("known", True)
