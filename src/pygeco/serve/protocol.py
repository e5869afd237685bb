"""Connections of slow or greedy clients are dropped."""

from __future__ import annotations

import asyncio
import json
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from pygeco.serve.settings import Limits

LINGER_SECONDS = 2.0  # for a client to read why it is refused
MAX_IGNORED = 1 << 22  # bytes that are read from it meanwhile


class PatientProtocol(HttpToolsProtocol):
    """A head must come in time, an answer must be read in time, and connections are few."""

    limits: ClassVar[Limits] = Limits()
    _head_timer: asyncio.TimerHandle | None = None
    _read_timer: asyncio.TimerHandle | None = None
    _head_size = 0
    _ignored: int | None = None  # bytes that came after a refusal

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if len(self.connections) > self.limits.max_connections:
            transport.abort()
            return
        self._await_head()

    def data_received(self, data: bytes) -> None:
        if self._ignored is not None:
            self._ignored += len(data)
            if self._ignored > MAX_IGNORED:
                self._drop()
            return
        if self._head_timer is None and (self.cycle is None or self.cycle.response_complete):
            self._await_head()
        self._head_size += len(data)
        super().data_received(data)
        if self._head_timer is None:  # the head has ended
            self._head_size = 0
        elif self._head_size > self.limits.max_head and self._ignored is None:
            self._refuse_head()

    def send_400_response(self, msg: str) -> None:
        if self._head_timer is not None and self._head_size > self.limits.max_head:
            self._refuse_head()  # the parser takes no address of such a length
            return
        self._refuse(
            b"400 Bad Request", "bad_request", "request: is no HTTP, or its head is wrong."
        )

    def _refuse_head(self) -> None:
        said = f"head: is longer than {self.limits.max_head:,} bytes; ask by POST."
        self._refuse(b"431 Request Header Fields Too Large", "long_head", said)

    def _refuse(self, status: bytes, code: str, sentence: str) -> None:
        """An answer in the form of all others, then the end.

        What the client still sends is read for a while: a connection that is closed before would
        take the answer with it.
        """
        body = json.dumps({"error": {"code": code, "message": sentence}}).encode()
        head = b"HTTP/1.1 %b\r\ncontent-type: application/json\r\n" % status
        self.transport.write(
            head + b"content-length: %d\r\nconnection: close\r\n\r\n%b" % (len(body), body)
        )
        self.transport.write_eof()
        self._stop("_head_timer")
        self._ignored = 0
        self._head_timer = self.loop.call_later(LINGER_SECONDS, self._drop)

    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        self._stop("_head_timer")

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._read_timer is None:
            self._read_timer = self.loop.call_later(self.limits.reading_seconds, self._drop)

    def resume_writing(self) -> None:
        self._stop("_read_timer")
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop("_head_timer")
        self._stop("_read_timer")
        super().connection_lost(exc)

    def _await_head(self) -> None:
        self._head_timer = self.loop.call_later(self.limits.head_seconds, self._drop)

    def _stop(self, timer: str) -> None:
        handle = getattr(self, timer)
        if handle is not None:
            handle.cancel()
            setattr(self, timer, None)

    def _drop(self) -> None:
        if not self.transport.is_closing():
            self.transport.abort()


def make_protocol(limits: Limits) -> type[asyncio.Protocol]:
    """A protocol of uvicorn's that keeps to these limits."""
    return type("LimitedProtocol", (PatientProtocol,), {"limits": limits})
