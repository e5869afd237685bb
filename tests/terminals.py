"""The command line on pseudo-terminals and other streams: one process imports it, and forks for
each command.

As a script, it reads commands, environments and streams as lines of JSON, and writes what is seen.
"""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys


class Terminals:
    """What a person sees of commands, on terminals of any width, and with any streams."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __call__(self, *arguments, columns: int = 120) -> tuple[int, str]:
        env = {"TERM": "xterm", "COLUMNS": str(columns), "NO_COLOR": "1"}
        return self._ask(arguments, env, None)

    def redirect(self, *arguments, streams, **env: str) -> int:
        """The exit code, where the three streams are files of these names, or closed where None."""
        given = [None if name is None else str(name) for name in streams]
        return self._ask(arguments, env, given)[0]

    def _ask(self, arguments, env, streams) -> tuple[int, str]:
        self.process.stdin.write(json.dumps([list(map(str, arguments)), env, streams]) + "\n")
        self.process.stdin.flush()
        code, shown = json.loads(self.process.stdout.readline())
        return code, shown

    def close(self) -> None:
        self.process.communicate()


def run_command(
    arguments: list[str], env: dict[str, str], streams: list[str | None] | None
) -> tuple[int, str]:
    child, leader = pty.fork() if streams is None else (os.fork(), -1)
    if not child:
        os.environ |= env
        for stream, name in enumerate(streams or ()):
            if name is not None:
                file = os.open(name, os.O_RDONLY if stream == 0 else os.O_WRONLY | os.O_CREAT)
                os.dup2(file, stream)
                os.close(file)
        for stream, name in enumerate(streams or ()):
            if name is None:
                os.close(stream)
        sys.stdin, sys.stdout, sys.stderr = map(open_stream, range(3))
        sys.argv = ["geco", *arguments]
        code = 1
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        finally:
            for stream in filter(None, (sys.stdout, sys.stderr)):
                stream.flush()
            os._exit(code)
    parts = []
    while streams is None:
        try:
            parts.append(os.read(leader, 1 << 16))
        except OSError:
            break
        if not parts[-1]:
            break
    if streams is None:
        os.close(leader)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), b"".join(parts).decode()


def open_stream(stream: int):
    """As Python does at its start: none where it is closed."""
    try:
        os.fstat(stream)
    except OSError:
        return None
    encoding = os.environ.get("PYTHONIOENCODING") or None
    return os.fdopen(stream, "r" if stream == 0 else "w", encoding=encoding)


if __name__ == "__main__":
    import pygeco.cli.app
    import pygeco.estimators  # noqa: F401
    from pygeco.cli import main

    for line in sys.stdin:
        sys.stdout.write(json.dumps(run_command(*json.loads(line))) + "\n")
        sys.stdout.flush()
