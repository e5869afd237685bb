"""The `geco` command: arguments and printing, nothing else."""

from __future__ import annotations

import atexit
import gc
import sys
from pathlib import Path

from pygeco.cli.deferring import defer_imports
from pygeco.cli.helping import compile_ahead
from pygeco.cli.streams import prepare_streams, report_lost_output

INTERRUPTED = 130  # the code of a process that Ctrl-C ends
NEW_OBJECTS = 100_000  # from which on garbage is looked for: two thousand modules are not any


def main() -> None:
    """Run `geco`; where the extra is not installed, the demo, or what to install."""
    try:
        with report_lost_output():
            _run()
    except KeyboardInterrupt:  # while modules are imported; the commands say more
        sys.stderr.write("geco: interrupted.\n")
        sys.exit(INTERRUPTED)


def _run() -> None:
    atexit.register(gc.freeze)  # last of all: what a process leaves need not be taken apart
    prepare_streams()
    compile_ahead(sys.argv[1:])
    gc.set_threshold(NEW_OBJECTS)
    defer_imports(frames="dask" in " ".join(sys.argv))
    try:
        from pygeco.cli.app import app
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in ("typer", "rich"):
            raise
        _without_options(sys.argv[1:])
    else:
        app()


def _without_options(arguments: list[str]) -> None:
    if arguments != ["demo"]:
        sys.exit(
            "geco: the command line needs an extra; run: pip install 'pygeco[cli]' "
            "(only `geco demo` works without)."
        )
    from pygeco.cli.demo import run

    folder = Path("geco-demo")
    folder.mkdir(exist_ok=True)
    run(folder, 10, 0)
