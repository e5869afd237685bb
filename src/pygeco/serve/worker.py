"""A worker process of a server: `python -m pygeco.serve.worker`, told by its supervisor alone."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
from pathlib import Path

from pygeco.serve.logs import set_up_logs
from pygeco.serve.running import run_process
from pygeco.serve.settings import Settings


def main() -> None:
    """Serve as the first line of standard input says, until it ends or a signal comes."""
    told = json.loads(sys.stdin.buffer.readline())
    set_up_logs()
    threading.Thread(target=_end_with_supervisor, daemon=True).start()
    settings = Settings.from_json(told["settings"])
    sock = socket.socket(fileno=told["socket"])
    run_process(settings, sock, Path(told["folder"]), told["line"], None)


def _end_with_supervisor() -> None:
    """Stop when the other end of standard input is gone, however that came about."""
    os.read(sys.stdin.fileno(), 1)
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
