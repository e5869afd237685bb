"""The command line on pseudo-terminals: one process imports it, and forks for each command.

As a script, it reads commands and environments as lines of JSON, and writes what is seen.
"""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys


class Terminals:
    """What a person sees of commands, on terminals of any width."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __call__(self, *arguments, columns: int = 120) -> tuple[int, str]:
        env = {"TERM": "xterm", "COLUMNS": str(columns), "NO_COLOR": "1"}
        self.process.stdin.write(json.dumps([list(map(str, arguments)), env]) + "\n")
        self.process.stdin.flush()
        code, shown = json.loads(self.process.stdout.readline())
        return code, shown

    def close(self) -> None:
        self.process.communicate()


def run_command(arguments: list[str], env: dict[str, str]) -> tuple[int, str]:
    child, leader = pty.fork()
    if not child:
        sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
        os.environ |= env
        sys.argv = ["geco", *arguments]
        code = 1
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    parts = []
    while True:
        try:
            parts.append(os.read(leader, 1 << 16))
        except OSError:
            break
        if not parts[-1]:
            break
    os.close(leader)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), b"".join(parts).decode()


if __name__ == "__main__":
    import pygeco.cli.app
    import pygeco.estimators  # noqa: F401
    from pygeco.cli import main

    for line in sys.stdin:
        sys.stdout.write(json.dumps(run_command(*json.loads(line))) + "\n")
        sys.stdout.flush()
