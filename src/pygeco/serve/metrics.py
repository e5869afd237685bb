"""Counters of a server in Prometheus' text format, summed over its worker processes.

They are one table of numbers, a line for each worker; processes share it in a file.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROUTES = (
    *("/v1/predict", "/v1/recommend", "/v1/similar", "/v1/explain", "/v1/fold-in"),
    *("/v1/find", "/v1/map", "/v1/model", "other"),
)
CLASSES = ("2xx", "3xx", "4xx", "5xx")
BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)  # seconds
EVENTS = {
    "cache_hits_total": "Lists that were answered from the cache.",
    "cache_misses_total": "Lists that were made.",
    "batches_total": "Times that waiting requests were answered together.",
    "model_loads_total": "Models that were taken into service.",
    "model_failures_total": "Model files that were refused.",
    "refused_total": "Requests that were refused because too many were under way.",
}
_STATUS = len(ROUTES) * len(CLASSES)
_TIMES = len(ROUTES) * (len(BOUNDS) + 2)  # the last bucket has no bound; then the sum
WIDTH = _STATUS + _TIMES + len(EVENTS)


class Counters:
    """The counters of one worker, and of all together."""

    def __init__(self, table: NDArray[np.float64], line: int = 0) -> None:
        self.table, self.own = table, table[line]
        self._routes = {route: at for at, route in enumerate(ROUTES)}
        self._events = {name: _STATUS + _TIMES + at for at, name in enumerate(EVENTS)}

    def count(self, event: str) -> None:
        self.own[self._events[event]] += 1

    def record(self, path: str, status: int, seconds: float) -> None:
        """A request that was answered."""
        route = self._routes.get(path, len(ROUTES) - 1)
        self.own[route * len(CLASSES) + min(max(status // 100 - 2, 0), 3)] += 1
        start = _STATUS + route * (len(BOUNDS) + 2)
        self.own[start + sum(seconds > bound for bound in BOUNDS)] += 1
        self.own[start + len(BOUNDS) + 1] += seconds

    def write(self, version: str, in_flight: int) -> str:
        """Everything, in the format that Prometheus reads."""
        total = self.table.sum(axis=0)
        lines = ["# HELP geco_requests_total Requests by route and class of status."]
        lines.append("# TYPE geco_requests_total counter")
        for r, route in enumerate(ROUTES):
            for c, status in enumerate(CLASSES):
                labels = f'route="{route}",status="{status}"'
                lines.append(f"geco_requests_total{{{labels}}} {total[r * 4 + c]:.0f}")
        lines.append("# HELP geco_request_seconds Time from a request's head to its answer.")
        lines.append("# TYPE geco_request_seconds histogram")
        for r, route in enumerate(ROUTES):
            lines += _write_histogram(route, total[_STATUS + r * (len(BOUNDS) + 2) :])
        for name, text in EVENTS.items():
            lines += [f"# HELP geco_{name} {text}", f"# TYPE geco_{name} counter"]
            lines.append(f"geco_{name} {total[self._events[name]]:.0f}")
        lines += ["# HELP geco_in_flight Requests under way in this process."]
        lines += ["# TYPE geco_in_flight gauge", f"geco_in_flight {in_flight}"]
        lines += ["# HELP geco_resident_bytes Memory of this process."]
        lines += ["# TYPE geco_resident_bytes gauge", f"geco_resident_bytes {resident_bytes()}"]
        lines += ["# HELP geco_model_info The model in service.", "# TYPE geco_model_info gauge"]
        lines.append(f'geco_model_info{{version="{version}"}} 1')
        return "\n".join(lines) + "\n"


def _write_histogram(route: str, numbers: NDArray[np.float64]) -> list[str]:
    counts = np.cumsum(numbers[: len(BOUNDS) + 1])
    bounds = [*(f"{bound:g}" for bound in BOUNDS), "+Inf"]
    lines = [
        f'geco_request_seconds_bucket{{route="{route}",le="{bound}"}} {count:.0f}'
        for bound, count in zip(bounds, counts, strict=True)
    ]
    lines.append(f'geco_request_seconds_sum{{route="{route}"}} {numbers[len(BOUNDS) + 1]:.6f}')
    return [*lines, f'geco_request_seconds_count{{route="{route}"}} {counts[-1]:.0f}']


def make_counters(file: Path | None = None, workers: int = 1, line: int = 0) -> Counters:
    """Counters of this process alone, or of one of several that share a file."""
    if file is None:
        return Counters(np.zeros((1, WIDTH)))
    if not file.exists():
        np.zeros((workers, WIDTH)).tofile(file)
    return Counters(np.memmap(file, np.float64, "r+", shape=(workers, WIDTH)), line)


def resident_bytes() -> int:
    """Memory of this process, 0 where the system does not tell."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
