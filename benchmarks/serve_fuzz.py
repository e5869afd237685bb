"""`geco serve` under requests that schemathesis makes from its OpenAPI description.

    python benchmarks/serve_fuzz.py MODEL [--titles FILE] [--examples 700] [--program schemathesis]

Right and wrong requests for each operation. What is told: how many were answered and how, failures
of the checks (a status of 500 or more, an answer that is not as described), memory, tracebacks.
schemathesis is no dependency: install it anywhere and name its program.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.request import urlopen

from serve_load import running, wait_for

CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,"
    "response_schema_conformance"
)


def count_requests(address: str) -> dict[str, int]:
    """Requests so far by class of status."""
    found: dict[str, int] = {}
    with urlopen(f"{address}/metrics") as answer:
        text = answer.read().decode()
    for status, count in re.findall(r'geco_requests_total{.*status="(\w+)"} (\d+)', text):
        found[status] = found.get(status, 0) + int(count)
    return found


def fuzz(program: str, address: str, examples: int, seed: int) -> int:
    """Run it once; its code is not 0 where a check failed."""
    command = [program, "run", f"{address}/openapi.json", "--checks", CHECKS, "--mode", "all"]
    command += ["--max-examples", str(examples), "--seed", str(seed), "--continue-on-failure"]
    command += ["--phases", "examples,coverage,fuzzing", "--suppress-health-check", "all"]
    command += ["--warnings", "off", "--generation-database", "none", "--no-color"]
    with tempfile.TemporaryDirectory() as folder:  # where it keeps what it finds
        run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    lines = run.stdout.splitlines()
    start = next(
        (t for t, line in enumerate(lines) if "FAILURES" in line or "ERRORS" in line), None
    )
    shown = lines[start:] if start is not None else lines[-12:]
    print("\n".join(line[:200] for line in shown[:200]), run.stderr[-2000:])
    return run.returncode


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("model", type=Path)
    parser.add_argument("--titles")
    parser.add_argument("--examples", type=int, default=700)
    parser.add_argument("--program", default="schemathesis")
    given = parser.parse_args()
    program = shutil.which(given.program)
    if program is None:
        print("schemathesis is not installed; pip install schemathesis, or name it with --program")
        return 0
    options = ["--titles", given.titles] if given.titles else []
    with running(given.model, options) as server:
        asyncio.run(wait_for(server))
        address = f"http://{server.host}:{server.port}"
        code = fuzz(program, address, max(1, given.examples // 10), 1)  # what is kept is made
        sizes, before = [server.memory()], count_requests(address)
        for seed in (2, 3):
            code |= fuzz(program, address, given.examples // 2, seed)
            sizes.append(server.memory())
        after = count_requests(address)
    counts = {name: after[name] - before[name] for name in after}
    tracebacks = server.log.read_text().count("Traceback")
    print(f"{sum(counts.values()):,} requests: {counts}; tracebacks in the log {tracebacks}")
    print(f"memory at the start, halfway and at the end: {', '.join(f'{x:.0f}' for x in sizes)} MB")
    return int(code != 0 or counts["5xx"] > 0 or tracebacks > 0)


if __name__ == "__main__":
    sys.exit(main())
