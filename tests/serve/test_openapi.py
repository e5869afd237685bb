"""The description names every route, and every reference in it leads somewhere."""

import json
import re

from pygeco.serve.metrics import ROUTES
from pygeco.serve.openapi import QUESTIONS, describe_interface


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
