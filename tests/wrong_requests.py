"""Requests that are wrong in some way, made from the OpenAPI description of a server."""

import json
import random
from typing import Any, NamedTuple

QUERY_TEXTS = ["", "1", "-1", "x", "%00", "%ff", "9" * 40, "true", "nan"]


class WrongRequest(NamedTuple):
    method: str
    path: str
    body: bytes | None
    content_type: str


def spoil(rng: random.Random, schema: dict[str, Any], parts: dict[str, Any], depth: int = 0) -> Any:
    """A value that may be right or wrong in any way, guided by the description."""
    junk: list[Any] = [
        None,
        True,
        -1,
        0,
        1,
        10**25,
        1e308,
        "",
        "x" * 2000,
        "\u202e",
        [],
        {},
        [[]],
        -0.0,
    ]
    if rng.random() < 0.2 or depth > 6:
        return rng.choice(junk)
    if "$ref" in schema:
        schema = parts[schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:
        return spoil(rng, rng.choice(schema["anyOf"]), parts, depth + 1)
    kind = schema.get("type")
    if kind == "object":
        names = [name for name in schema.get("properties", {}) if rng.random() < 0.4]
        found = {n: spoil(rng, schema["properties"][n], parts, depth + 1) for n in names}
        return found | ({"extra": 1} if rng.random() < 0.05 else {})
    if kind == "array":
        return [
            spoil(rng, schema["items"], parts, depth + 1) for _ in range(rng.choice([0, 1, 3, 30]))
        ]
    values: dict[Any, list[Any]] = {
        "integer": [schema.get("minimum", 1), schema.get("maximum", 5), 2, -5, 10**6],
        "number": [1.0, 3.5, 5, 6, -1e300],
        "string": [*schema.get("enum", ["1"]), "1", "abc", "\x00", "é"],
        "boolean": [True, False],
    }
    return rng.choice(values.get(kind, [None]))


def make_wrong_request(rng: random.Random, spec: dict[str, Any]) -> WrongRequest:
    path, methods = rng.choice(list(spec["paths"].items()))
    parts = spec["components"]["schemas"]
    if "post" in methods and rng.random() < 0.7:
        schema = methods["post"]["requestBody"]["content"]["application/json"]["schema"]
        body = json.dumps(spoil(rng, schema, parts)).encode()
        if rng.random() < 0.15:
            at = rng.randrange(len(body) + 1)
            body = body[:at] + bytes([rng.randrange(256)]) + body[at + 1 :]
        kind = "application/json" if rng.random() < 0.97 else "text/plain"
        return WrongRequest("POST", path, body, kind)
    query = "&".join(
        f"{one['name']}={rng.choice(QUERY_TEXTS)}"
        for one in methods.get("get", {}).get("parameters", [])
        if rng.random() < 0.4
    )
    method = rng.choice(["GET"] * 8 + ["PUT", "DELETE"])
    return WrongRequest(method, f"{path}?{query}", None, "")
