"""The report is made once for a model, by a process of its own."""

import asyncio
from pathlib import Path

import pytest

from pygeco.serve import reporting
from pygeco.serve.reporting import Reporter
from pygeco.serve.settings import Settings
from pygeco.serve.typed import RequestError

PROGRAM = """
import sys
from pathlib import Path
output = Path(sys.argv[2])
count = output.with_suffix(".count")
count.write_text(count.read_text() + "x" if count.exists() else "x")
policy = "default-src &#39;none&#39;"
output.write_text(f'<meta http-equiv="Content-Security-Policy" content="{policy}">{sys.argv[3]}')
"""


def test_it_is_made_once_with_its_own_policy(ratings, clicks, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(reporting, "PROGRAM", PROGRAM)
    reporter = Reporter(Settings(model=Path("m"), titles=Path("titles")), tmp_path)
    reporter.copy = tmp_path / "copy"

    async def run():
        first = await asyncio.gather(reporter.get(ratings), reporter.get(ratings))
        assert len(next(tmp_path.glob("*.count")).read_text()) == 1
        await reporter.get(clicks)
        assert len(next(tmp_path.glob("*.count")).read_text()) == 2
        return first[0]

    page, policy = asyncio.run(run())
    assert policy == "default-src 'none'"
    assert page.endswith(b"titles")


def test_a_failure_is_an_error(ratings, tmp_path, monkeypatch) -> None:
    reporter = Reporter(Settings(model=Path("m")), tmp_path)
    with pytest.raises(RequestError, match="has no file"):
        asyncio.run(reporter.get(ratings))
    reporter.copy = tmp_path / "copy"
    monkeypatch.setattr(reporting, "PROGRAM", "raise SystemExit('why it failed')")
    with pytest.raises(RuntimeError, match="why it failed"):
        asyncio.run(reporter.get(ratings))


def test_one_that_takes_long_goes_on_being_made(ratings, clicks, tmp_path, monkeypatch) -> None:
    """Who asks meanwhile is told so, and gets it later; a model out of service is given up."""
    go, late = tmp_path / "go", tmp_path / "late"
    waits = f"""
import time
while not Path({str(go)!r}).exists(): time.sleep(0.01)
Path({str(late)!r}).open("a").write("x")
"""
    monkeypatch.setattr(reporting, "PROGRAM", "from pathlib import Path\n" + waits + PROGRAM)
    monkeypatch.setattr(reporting, "ANSWER_SECONDS", 0.05)
    reporter = Reporter(Settings(model=Path("m"), titles=Path("titles")), tmp_path)
    reporter.copy = tmp_path / "copy"

    async def run():
        for served in (ratings, clicks, clicks):
            with pytest.raises(RequestError, match="is being made") as told:
                await reporter.get(served)
            assert (told.value.status, told.value.code) == (503, "not_ready")
        go.touch()
        monkeypatch.setattr(reporting, "ANSWER_SECONDS", 20.0)
        return await reporter.get(clicks)

    assert asyncio.run(run())[0].endswith(b"titles")
    assert late.read_text() == "x"  # made once, and not of the first model


def test_one_that_never_ends_is_given_up(ratings, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(reporting, "PROGRAM", "import time; time.sleep(60)")
    monkeypatch.setattr(reporting, "REPORT_SECONDS", 0.1)
    reporter = Reporter(Settings(model=Path("m")), tmp_path)
    reporter.copy = tmp_path / "copy"
    with pytest.raises(RequestError, match="took more than") as told:
        asyncio.run(reporter.get(ratings))
    assert told.value.status == 504
