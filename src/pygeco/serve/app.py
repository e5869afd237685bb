"""The application: routes to questions, answers with the version of their model."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import parse_qs

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

import pygeco
from pygeco.serve import answers
from pygeco.serve.openapi import QUESTIONS, Question, describe_interface
from pygeco.serve.page import read_asset, render_page
from pygeco.serve.reporting import Reporter
from pygeco.serve.served import Served
from pygeco.serve.service import Service
from pygeco.serve.settings import Limits
from pygeco.serve.typed import MAX_SHOWN, RequestError, read_object, read_query

LOG = logging.getLogger("pygeco.serve")
JSON = "application/json"
MAX_FIELDS = 20_000  # of a query
FUNCTIONS: dict[str, Callable[[Served, Any], dict[str, Any]]] = {
    "/v1/predict": answers.predict,
    "/v1/similar": answers.similar,
    "/v1/explain": answers.explain,
    "/v1/fold-in": answers.fold_in,
}
ASSETS = {"/page.css": "text/css", "/page.js": "text/javascript"}
Endpoint = Callable[[Request], Awaitable[Response]]


def make_app(service: Service, limits: Limits, reporter: Reporter, *, needs_token: bool) -> Any:
    """The application, to be put behind `Guard`."""
    description = msgspec.json.encode(describe_interface(pygeco.__version__, needs_token))

    async def describe(request: Request) -> Response:
        return Response(description, media_type=JSON)

    async def tell_health(request: Request) -> Response:
        return Response(b'{"status":"alive"}', media_type=JSON)

    async def tell_ready(request: Request) -> Response:
        body = msgspec.json.encode({"status": "ready", "model": service.served.version})
        return Response(body, media_type=JSON)

    async def tell_metrics(request: Request) -> Response:
        in_flight = request.scope["state"].get("in_flight", 0)
        text = service.counters.write(service.served.version, in_flight)
        return Response(text, media_type="text/plain; version=0.0.4")

    async def show_page(request: Request) -> Response:
        return Response(render_page(service.served), media_type="text/html")

    async def show_asset(request: Request) -> Response:
        path = request.scope["path"]
        return Response(read_asset(path[1:]), media_type=ASSETS[path])

    async def show_report(request: Request) -> Response:
        page, policy = await reporter.get(service.served)
        return Response(page, media_type="text/html", headers={"content-security-policy": policy})

    async def show_no_icon(request: Request) -> Response:
        return Response(None, 204)

    plain: dict[str, Endpoint] = {
        "/favicon.ico": show_no_icon,
        "/openapi.json": describe,
        "/health": tell_health,
        "/ready": tell_ready,
        "/metrics": tell_metrics,
        "/": show_page,
        "/report": show_report,
        **dict.fromkeys(ASSETS, show_asset),
    }
    routes = [Route(path, _guard(endpoint), methods=["GET"]) for path, endpoint in plain.items()]
    for question in QUESTIONS:
        methods = ["GET"] if not question.has_body else ["GET", "POST"]
        methods = ["POST"] if question.path == "/v1/fold-in" else methods
        endpoint = _guard(_make_endpoint(question, service, limits))
        routes.append(Route(question.path, endpoint, methods=methods))
    return Starlette(routes=routes, exception_handlers={HTTPException: _tell_of_route})


def _make_endpoint(question: Question, service: Service, limits: Limits) -> Endpoint:
    """What answers a question: one model from beginning to end."""

    async def answer(request: Request) -> Response:
        asked = await _read(request, question.takes, limits)
        served = service.served
        tag = f'"{served.version}"'
        is_get = request.method in ("GET", "HEAD")
        headers = {"x-model-version": served.version, "etag": tag}
        known = request.headers.get("if-none-match", "") if is_get else ""
        if tag in known:
            return Response(None, 304, headers)
        body = await _ask(service, served, question.path, asked)
        if known.strip() == "*":  # anything that is there
            return Response(None, 304, headers)
        return Response(body, media_type=JSON, headers=headers)

    return answer


async def _ask(service: Service, served: Served, path: str, asked: Any) -> bytes:
    if path == "/v1/recommend":
        return await service.recommend(served, asked)
    if path == "/v1/find":
        return await service.find(served, asked)
    if path == "/v1/map":
        return await service.map(served)
    if path == "/v1/model":
        return await service.describe(served)
    return await service.answer(FUNCTIONS[path], served, asked)


async def _read(request: Request, kind: type | None, limits: Limits) -> Any:
    """The request, from its query or from its body."""
    if request.method in ("GET", "HEAD"):
        text = request.scope["query_string"].decode("latin-1")
        try:
            given = parse_qs(text, keep_blank_values=True, max_num_fields=MAX_FIELDS)
        except ValueError:
            raise RequestError(413, "too_many", "query: has too many fields.") from None
        if kind is None:
            return None
        return read_query(kind, given)
    kind_of_body = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind_of_body != JSON:
        raise RequestError(415, "not_json", f"content-type: expected {JSON}.")
    raw = await read_body(request, limits)
    try:
        value = msgspec.json.decode(raw)
    except (ValueError, RecursionError):
        raise RequestError(400, "bad_json", "body: is no JSON in UTF-8.") from None
    return read_object(kind or object, value)


async def read_body(request: Request, limits: Limits) -> bytes:
    """The body, if it is small enough and comes soon enough."""
    told = request.headers.get("content-length", "0")
    if not told.isdigit() or int(told) > limits.max_body:
        raise RequestError(
            413, "too_large", f"body: is larger than the {limits.max_body:,} bytes that are taken."
        )
    parts, size = [], 0
    try:
        async with asyncio.timeout(limits.body_seconds):
            async for part in request.stream():
                size += len(part)
                if size > limits.max_body:
                    raise RequestError(
                        413, "too_large", f"body: is larger than {limits.max_body:,} bytes."
                    )
                parts.append(part)
    except TimeoutError:
        raise RequestError(
            408, "too_slow", f"body: took longer than {limits.body_seconds:g} seconds."
        ) from None
    return b"".join(parts)


def _guard(endpoint: Endpoint) -> Endpoint:
    """Errors as JSON in one sentence; those that nobody foresaw go to the log alone."""

    async def answer(request: Request) -> Response:
        try:
            return await endpoint(request)
        except RequestError as error:
            return make_failure(error.status, error.code, error.sentence)
        except Exception:
            LOG.exception("%s %s failed", request.method, request.scope["path"])
            return make_failure(500, "internal", "The server failed; its log says why.")

    return answer


def make_failure(status: int, code: str, sentence: str) -> Response:
    """An error as every route tells it."""
    body = msgspec.json.encode({"error": {"code": code, "message": sentence}})
    headers = {"connection": "close"} if status in (408, 413) else {}
    if status in (429, 503):
        headers["retry-after"] = "1" if status == 429 else "10"
    if status == 503:
        headers["refresh"] = "10"  # for a browser
    if status == 401:
        headers["www-authenticate"] = 'Basic realm="geco", charset="UTF-8"'
    return Response(body, status, headers, JSON)


async def _tell_of_route(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    if status == 405:
        taken = dict(getattr(error, "headers", None) or {})
        methods = taken.get("Allow", "others")
        sentence = f"method: this address takes {methods}, not {request.method[:MAX_SHOWN]}."
        answer = make_failure(405, "bad_method", sentence)
        answer.headers.update(taken)
        return answer
    return make_failure(status, "not_found", "path: there is nothing here; see /openapi.json.")
