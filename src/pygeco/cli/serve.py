"""`geco serve`: a page and a JSON interface for a model file."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from pygeco.cli.console import report_errors
from pygeco.cli.options import Model, Title, TitleItem, Titles

TOKEN_NAME = "GECO_TOKEN"
EXTRA = {"starlette", "uvicorn", "msgspec", "httptools"}

Host = Annotated[
    str, typer.Option(help="Address to listen on; one that others reach needs a token.")
]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")]
Workers = Annotated[
    int, typer.Option(min=1, max=64, help="Processes; they share the model's memory.")
]
TokenFile = Annotated[
    Path | None,
    typer.Option(
        help=f"File whose first line is the token that clients must give; else {TOKEN_NAME} in "
        "the environment."
    ),
]
Cache = Annotated[bool, typer.Option("--cache/--no-cache", help="Keep lists that were just made.")]
AccessLog = Annotated[
    bool, typer.Option("--access-log", help="Log a line for each request, without its body.")
]


def serve(
    model: Model,
    titles: Titles = None,
    title: Title = None,
    title_item: TitleItem = None,
    host: Host = "127.0.0.1",
    port: Port = 8000,
    workers: Workers = 1,
    token_file: TokenFile = None,
    cache: Cache = True,
    access_log: AccessLog = False,
) -> None:
    """Serve a model: a page to try it, and a JSON interface.

    Open the address that it prints. /openapi.json describes the interface. A new model file put in
    the place of the old one is taken into service without a restart; SIGTERM or Ctrl-C ends it once
    what is under way is answered.
    """
    with report_errors("serve"):
        try:
            from pygeco.serve.logs import set_up_logs
            from pygeco.serve.running import serve as run
            from pygeco.serve.settings import Settings
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] not in EXTRA:
                raise
            raise ModuleNotFoundError(
                "the server needs an extra; run: pip install 'pygeco[serve]'", name=error.name
            ) from error
        if workers > 1 and sys.platform == "win32":
            raise ValueError("--workers: this system has no sockets that processes share; use 1.")
        settings = Settings(
            model=model,
            titles=titles,
            title=title,
            title_item=title_item,
            host=host,
            port=port,
            workers=workers,
            token=_read_token(token_file),
            caches=cache,
            access_log=access_log,
        )
        set_up_logs()
        run(settings, lambda address: print(f"serving {model} at {address}", flush=True))


def _read_token(path: Path | None) -> str | None:
    if path is None:
        return os.environ.get(TOKEN_NAME) or None
    from pygeco.serve.guard import find_token

    with path.open(encoding="utf-8") as file:
        token = find_token(file)
    if not token:
        raise ValueError(f"--token-file: the first line of {path} is empty; write the token there.")
    return token
