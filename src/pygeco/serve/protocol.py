"""Connections of slow or greedy clients are dropped."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from pygeco.serve.settings import Limits


class PatientProtocol(HttpToolsProtocol):
    """A head must come in time, an answer must be read in time, and connections are few."""

    limits: ClassVar[Limits] = Limits()
    _head_timer: asyncio.TimerHandle | None = None
    _read_timer: asyncio.TimerHandle | None = None
    _head_size = 0

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if len(self.connections) > self.limits.max_connections:
            transport.abort()
            return
        self._await_head()

    def data_received(self, data: bytes) -> None:
        if self._head_timer is None and (self.cycle is None or self.cycle.response_complete):
            self._await_head()
        super().data_received(data)
        if self._head_timer is not None:  # the head has not ended yet
            self._head_size += len(data)
            if self._head_size > self.limits.max_head:
                self._drop()

    def on_headers_complete(self) -> None:
        self._stop("_head_timer")
        self._head_size = 0
        super().on_headers_complete()

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
