"""What stands before the application: hosts, tokens, numbers of requests, headers, the log."""

from __future__ import annotations

import base64
import binascii
import hmac
import logging
import time
from collections.abc import Iterable
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pygeco.errors.visible_text import escape_controls
from pygeco.serve.app import make_failure
from pygeco.serve.metrics import Counters
from pygeco.serve.settings import Settings

ACCESS = logging.getLogger("pygeco.serve.access")
# Questions that a supervisor asks: always answered.
OPEN = frozenset({"/health", "/ready"})
POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    b"img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-cache"),
)


class Guard:
    """An ASGI application around another; what it refuses, that one never sees."""

    def __init__(self, app: ASGIApp, settings: Settings, counters: Counters) -> None:
        self.app, self.counters, self.limits = app, counters, settings.limits
        self.token = None if settings.token is None else settings.token.encode()
        # Without a token, a page of another site must not reach this one by a name of its own.
        self.hosts = None
        if self.token is None:
            self.hosts = {"localhost", "127.0.0.1", "[::1]", settings.host.lower()}
        self.access_log = settings.access_log
        self.in_flight = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        began, told = time.perf_counter(), [500]

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                told[0] = message["status"]
                own = message["headers"]
                own.extend(HEADERS)
                if not any(name == b"content-security-policy" for name, _ in own):
                    own.append((b"content-security-policy", POLICY))
            await send(message)

        self.in_flight += 1
        try:
            scope.setdefault("state", {})["in_flight"] = self.in_flight
            refusal = self._refuse(scope)
            await (refusal or self.app)(scope, receive, send_with_headers)
        finally:
            self.in_flight -= 1
            seconds = time.perf_counter() - began
            self.counters.record(scope["path"], told[0], seconds)
            if self.access_log:
                path = escape_controls(scope["path"])[:100]
                ACCESS.info("%s %s %d %.1f ms", scope["method"], path, told[0], 1000 * seconds)

    def _refuse(self, scope: Scope) -> Any:
        """The answer to a request that goes no further; None for others."""
        if scope["path"] in OPEN:
            return None
        if self.in_flight > self.limits.max_in_flight:
            self.counters.count("refused_total")
            return make_failure(429, "busy", "Too many requests are under way; ask again.")
        given = dict(scope["headers"])
        if self.hosts is not None:
            host = _without_port(given.get(b"host", b"").decode("latin-1").lower())
            if host not in self.hosts:
                return make_failure(400, "bad_host", "host: this server has another name.")
        elif not has_token(given.get(b"authorization", b""), self.token or b""):
            return make_failure(
                401, "no_token", "authorization: give the token as Bearer, or as a password."
            )
        return None


def has_token(header: bytes, token: bytes) -> bool:
    """Whether a header has the token, as Bearer or as a password; in constant time."""
    kind, _, rest = header.strip().partition(b" ")
    rest = rest.strip()
    if kind.lower() == b"basic":
        try:
            rest = base64.b64decode(rest, validate=True).partition(b":")[2]
        except binascii.Error:
            rest = b""
    elif kind.lower() != b"bearer":
        rest = b""
    return hmac.compare_digest(rest, token)


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.partition(":")[0]


def find_token(lines: Iterable[str]) -> str:
    """The token in a file: its first line, without spaces around it."""
    return next((line.strip() for line in lines), "")
