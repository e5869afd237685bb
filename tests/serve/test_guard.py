"""What stands before the application: tokens, hosts, numbers of requests, headers, the log."""

import asyncio
import base64
import logging

import pytest

from pygeco.serve.guard import find_token, has_token
from pygeco.serve.settings import Limits
from serve_cases import serving

TOKEN = "0123456789abcdef"


def test_the_token_as_bearer_and_as_password() -> None:
    own = TOKEN.encode()
    password = base64.b64encode(b"me:" + own)
    assert has_token(b"Bearer " + own, own)
    assert has_token(b"basic " + password, own)
    wrong = (b"", own, b"Bearer", b"Bearer " + own[:-1], b"Bearer " + own + b"x", b"Basic !!")
    for header in (*wrong, b"Digest " + own, b"Basic " + base64.b64encode(own)):
        assert not has_token(header, own)
    assert find_token(["  secret \n", "other"]) == "secret"
    assert find_token([]) == ""


def test_without_the_token_nothing_is_told_but_health(ratings) -> None:
    with serving(ratings, host="0.0.0.0", token=TOKEN) as ask:
        for path in ("/", "/v1/model", "/metrics", "/openapi.json", "/report", "/nothing"):
            found = ask("GET", path)
            assert found.status_code == 401
            assert found.json()["error"]["code"] == "no_token"
        assert ask("GET", "/health").status_code == 200
        good = {"authorization": f"Bearer {TOKEN}", "host": "any.example"}
        assert ask("GET", "/v1/model", headers=good).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "", "127.0.0.1.evil.example", "[::2]"])
def test_another_name_does_not_reach_a_server_without_a_token(ratings, host) -> None:
    with serving(ratings) as ask:
        assert ask("GET", "/v1/model", headers={"host": host}).status_code == 400
        for good in ("localhost:8000", "127.0.0.1", "[::1]:80"):
            assert ask("GET", "/health", headers={"host": good}).status_code == 200
            assert ask("GET", "/v1/model", headers={"host": good}).status_code == 200


def test_too_many_at_once_are_told_to_come_again(ratings) -> None:
    with serving(ratings, limits=Limits(max_in_flight=3)) as ask:
        found = ask.all([("GET", f"/v1/recommend?user={i + 1}", {}) for i in range(10)])
        codes = sorted(one.status_code for one in found)
        assert codes == [200] * 3 + [429] * 7
        assert ask("GET", "/v1/recommend?user=1").status_code == 200
        busy = next(one for one in found if one.status_code == 429)
        assert busy.headers["retry-after"] == "1"
        assert ask.guard.in_flight == 0


def test_headers_forbid_what_the_page_does_not_need(ratings) -> None:
    with serving(ratings) as ask:
        for path in ("/", "/v1/model", "/nothing"):
            headers = ask("GET", path).headers
            assert headers["content-security-policy"].startswith("default-src 'none'")
            assert "unsafe" not in headers["content-security-policy"]
            assert headers["x-content-type-options"] == "nosniff"


def test_the_log_has_no_bodies_and_no_queries(ratings, caplog) -> None:
    caplog.set_level(logging.WARNING, "httpx")
    caplog.set_level(logging.INFO, "pygeco.serve")
    with serving(ratings, access_log=True) as ask:
        ask("POST", "/v1/recommend", {"user": "secret-person"})
        ask("GET", "/v1/recommend?user=secret-person")
        ask("GET", "/evil%1b%0aline")
    assert "POST /v1/recommend 200" in caplog.text
    assert "secret" not in caplog.text
    assert "\x1b" not in caplog.text


def test_other_protocols_are_left_alone(ratings) -> None:
    with serving(ratings) as ask:
        sent = []
        asyncio.run(ask.guard({"type": "websocket"}, None, sent.append))
        assert sent == []
