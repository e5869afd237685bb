"""The interface as others read it: OpenAPI 3.1, made from the types of requests and answers."""

from __future__ import annotations

from typing import Any, NamedTuple

from pygeco.serve import requests as r
from pygeco.serve.typed import describe_type, list_parameters


class Question(NamedTuple):
    """A route: what it takes, what it gives, and a sentence about it."""

    path: str
    takes: type | None
    gives: tuple[type, ...]
    about: str
    has_body: bool = True


QUESTIONS = (
    Question("/v1/predict", r.Predict, (r.Prediction, r.Predictions), "The value of a cell."),
    Question(
        "/v1/recommend", r.Recommend, (r.Recommendation, r.Recommendations), "The best items."
    ),
    Question("/v1/similar", r.Similar, (r.Similarity, r.Similarities), "What is alike."),
    Question("/v1/explain", r.Explain, (r.ExplanationAnswer, r.Explanations), "Why."),
    Question("/v1/fold-in", r.FoldIn, (r.FoldedAnswer, r.FoldedAnswers), "Lists of new people."),
    Question("/v1/find", r.Find, (r.Found,), "Users or items by text.", False),
    Question("/v1/map", None, (r.ItemMap,), "Items in the plane, those alike near.", False),
    Question("/v1/model", None, (r.About,), "The model in service.", False),
)
ABOUT = (
    "A fitted model, served. Ids that are whole numbers of 2⁵³ or more, of either sign, are texts "
    "in answers, for many readers of JSON round them; in questions a text may stand for any id."
)
STATUSES = {
    "400": "The request is no JSON, or its head is wrong.",
    "401": "A token is needed.",
    "404": "The model does not know the id.",
    "408": "The body took too long.",
    "413": "The request is too large.",
    "415": "The body is not application/json.",
    "422": "A field is wrong; the message says which.",
    "429": "Too many requests are under way; ask again.",
    "431": "The address and the headers are too long; ask by POST.",
}


def describe_interface(version: str, needs_token: bool) -> dict[str, Any]:
    """The whole description."""
    parts: dict[str, Any] = {}
    failure = {"application/json": {"schema": describe_type(r.ErrorAnswer, parts)}}
    failures = {
        status: {"description": text, "content": failure} for status, text in STATUSES.items()
    }
    paths: dict[str, Any] = {}
    for question in QUESTIONS:
        paths[question.path] = _describe_question(question, parts, failures)
    for path, text in (
        ("/health", "The process is alive."),
        ("/ready", "A model is in service."),
        ("/metrics", "Counters, as Prometheus reads them."),
    ):
        plain = {"200": {"description": text}}
        paths[path] = {"get": {"summary": text, "responses": plain}}
    found: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": "pygeco", "version": version, "description": ABOUT},
        "paths": paths,
        "components": {"schemas": parts},
    }
    if needs_token:
        schemes = {"token": {"type": "http", "scheme": "bearer"}}
        found["components"]["securitySchemes"] = schemes
        found["security"] = [{"token": []}]
    return found


def _describe_question(
    question: Question, parts: dict[str, Any], failures: dict[str, Any]
) -> dict[str, Any]:
    schemas = [describe_type(kind, parts) for kind in question.gives]
    schema = schemas[0] if len(schemas) == 1 else {"anyOf": schemas}
    headers = {
        "ETag": {"description": "Of the model and the address.", "schema": {"type": "string"}},
        "X-Model-Version": {"description": "Of the model.", "schema": {"type": "string"}},
    }
    good = {
        "description": question.about,
        "headers": headers,
        "content": {"application/json": {"schema": schema}},
    }
    same = {"304": {"description": "The model has not changed."}}
    answers = {"200": good} | failures
    get: dict[str, Any] = {"summary": question.about, "responses": answers | same}
    if question.takes is None:
        return {"get": get}
    if question.path != "/v1/fold-in":
        get["parameters"] = list_parameters(question.takes)
    body = {"application/json": {"schema": describe_type(question.takes, parts)}}
    post = {
        "summary": question.about,
        "requestBody": {"required": True, "content": body},
        "responses": answers,
    }
    if not question.has_body:
        return {"get": get}
    return {"post": post} if question.path == "/v1/fold-in" else {"get": get, "post": post}
