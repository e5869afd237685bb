"""The report of the model in service, made by a process of its own when it is first asked for."""

from __future__ import annotations

import asyncio
import html
import os
import re
import sys
from pathlib import Path

from pygeco.serve.served import Served
from pygeco.serve.settings import Settings
from pygeco.serve.typed import RequestError

ANSWER_SECONDS = 30.0  # that a question waits; a report that takes longer is asked for again
REPORT_SECONDS = 3600.0  # a report that takes longer is given up
POLICY = re.compile(r'http-equiv="Content-Security-Policy"\s+content="([^"]*)"', re.IGNORECASE)
PROGRAM = """
import os, sys
from pathlib import Path
os.nice(10)
import pygeco
from pygeco.io.titles import read_titles
copy, output, titles, item, title = (part or None for part in sys.argv[1:6])
model = pygeco.load(copy, mmap=True)
names = titles and read_titles(titles, model.column_ids_, item=item, title=title)
pygeco.report(model, output=Path(output), titles=names or None)
"""


class Reporter:
    """Reports by version of the model: each is made once."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        self.settings, self.folder = settings, folder
        self.copy: Path | None = None  # of the model in service
        self._making: tuple[str, asyncio.Task[tuple[bytes, str]]] | None = None

    async def get(self, served: Served) -> tuple[bytes, str]:
        """The page, and the policy that it sets itself; an error while it is being made."""
        if self.copy is None:
            raise RequestError(404, "no_report", "report: the model has no file.")
        if self._making is None or self._making[0] != served.version:
            if self._making is not None:
                self._making[1].cancel()
            self._making = served.version, asyncio.create_task(self._make(self.copy))
        task = self._making[1]
        await asyncio.wait({task}, timeout=ANSWER_SECONDS)
        if not task.done() or task.cancelled():
            sentence = "report: is being made, which takes long; ask again in a few seconds."
            raise RequestError(503, "not_ready", sentence)
        if task.exception() is not None and self._making[1] is task:
            self._making = None  # the next question tries again
        return task.result()

    async def _make(self, copy: Path) -> tuple[bytes, str]:
        output, given = self.folder / f"report-{os.getpid()}.html", self.settings
        told = [str(part or "") for part in (given.titles, given.title_item, given.title)]
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", PROGRAM, str(copy), str(output), *told),
            stdin=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            async with asyncio.timeout(REPORT_SECONDS):
                _, complaint = await process.communicate()
        except TimeoutError:
            sentence = f"report: took more than {REPORT_SECONDS:g} seconds; use geco report."
            raise RequestError(504, "no_report", sentence) from None
        finally:
            if process.returncode is None:  # late, or of a model that is out of service
                process.kill()
                await process.wait()
        if process.returncode:
            raise RuntimeError(complaint.decode(errors="replace")[-2000:])
        page = output.read_bytes()
        found = POLICY.search(page.decode())
        return page, html.unescape(found[1]) if found else "default-src 'none'"
