"""The description names every route, and every reference in it leads somewhere."""

import json
import random
import re
from collections import Counter

import pytest

from pygeco.serve.metrics import ROUTES
from pygeco.serve.openapi import QUESTIONS, describe_interface
from serve_cases import serving
from wrong_requests import make_wrong_request


def test_it_is_whole() -> None:
    spec = describe_interface("1", True)
    text = json.dumps(spec)
    for name in set(re.findall(r'"#/components/schemas/(\w+)"', text)):
        assert name in spec["components"]["schemas"]
    assert {question.path for question in QUESTIONS} | {"other"} == set(ROUTES)
    assert set(spec["paths"]) == {q.path for q in QUESTIONS} | {"/health", "/ready", "/metrics"}
    assert spec["security"] == [{"token": []}]
    assert "get" not in spec["paths"]["/v1/fold-in"]
    names = [one["name"] for one in spec["paths"]["/v1/recommend"]["get"]["parameters"]]
    assert {"user", "k", "only", "without"} <= set(names)


@pytest.mark.parametrize("kind", ["ratings", "clicks"])
def test_wrong_requests_made_from_it_are_refused_as_it_says(models, kind) -> None:
    spec = describe_interface("1", False)
    rng = random.Random(0)
    wrong = [make_wrong_request(rng, spec) for _ in range(250)]
    with serving(models[kind]) as ask:
        asked = [
            (one.method, one.path, {"content": one.body, "headers": {"content-type": one[3]}})
            for one in wrong
        ]
        found = [answer for at in range(0, 250, 25) for answer in ask.all(asked[at : at + 25])]
    statuses = Counter(answer.status_code for answer in found)
    assert set(statuses) <= {200, 400, 404, 405, 413, 415, 422}
    assert statuses[422] > 50 < statuses[200]
    for one, answer in zip(wrong, found, strict=True):
        if answer.status_code != 200:
            error = answer.json()["error"]
            assert set(error) == {"code", "message"}
            assert len(error["message"]) < 400, one
            assert "Traceback" not in answer.text
