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

REPORT_SECONDS = 120.0  # a report that takes longer is given up
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
        self._lock = asyncio.Lock()
        self._made: tuple[str, bytes, str] | None = None

    async def get(self, served: Served) -> tuple[bytes, str]:
        """The page, and the policy that it sets itself."""
        async with self._lock:
            if self._made is None or self._made[0] != served.version:
                page = await self._make()
                found = POLICY.search(page.decode())
                policy = html.unescape(found[1]) if found else "default-src 'none'"
                self._made = served.version, page, policy
            return self._made[1], self._made[2]

    async def _make(self) -> bytes:
        if self.copy is None:
            raise RequestError(404, "no_report", "report: the model has no file.")
        output, given = self.folder / f"report-{os.getpid()}.html", self.settings
        told = [str(part or "") for part in (given.titles, given.title_item, given.title)]
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", PROGRAM, str(self.copy), str(output), *told),
            stdin=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            async with asyncio.timeout(REPORT_SECONDS):
                _, complaint = await process.communicate()
        except TimeoutError:
            process.kill()
            raise RequestError(404, "no_report", "report: took too long.") from None
        if process.returncode:
            raise RuntimeError(complaint.decode(errors="replace")[-2000:])
        return output.read_bytes()
