"""What a server is told: where it listens, what it shows, and how much it takes."""

from __future__ import annotations

import ipaddress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Limits:
    """How much is taken from clients, and how long they may take."""

    max_body: int = 8 << 20  # bytes
    max_in_flight: int = 256  # requests under way in a process
    max_connections: int = 1_024  # of a process
    max_head: int = 1 << 16  # bytes of a request's line and headers
    head_seconds: float = 10.0
    body_seconds: float = 10.0
    idle_seconds: float = 15.0  # between two requests of a connection
    reading_seconds: float = 30.0  # for a client to read what waits for it
    drain_seconds: float = 20.0  # for requests under way, once the server is told to stop


@dataclass(frozen=True)
class Settings:
    """Everything that a process of a server needs to know."""

    model: Path
    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 1
    token: str | None = None
    titles: Path | None = None
    title_item: str | None = None
    title: str | None = None
    caches: bool = True
    access_log: bool = False
    limits: Limits = Limits()

    def check(self) -> None:
        """A `ValueError` where the settings make no sense or are not safe."""
        if not 1 <= self.workers <= 64:
            raise ValueError(f"--workers: expected 1 to 64, not {self.workers}.")
        if not 0 <= self.port <= 65535:
            raise ValueError(f"--port: expected 0 to 65535, not {self.port}.")
        if self.token is not None and len(self.token) < 16:
            raise ValueError(
                "--token-file: the token has less than 16 characters; use a longer one."
            )
        if self.token is None and not is_loopback(self.host):
            raise ValueError(
                f"--host: {self.host} can be reached by others; give a token with --token-file or "
                "in GECO_TOKEN, or serve on 127.0.0.1."
            )

    def to_json(self) -> dict[str, Any]:
        own = asdict(self)
        return own | {name: own[name] and str(own[name]) for name in ("model", "titles")}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Settings:
        paths = {name: values[name] and Path(values[name]) for name in ("model", "titles")}
        return cls(**(values | paths | {"limits": Limits(**values["limits"])}))


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
