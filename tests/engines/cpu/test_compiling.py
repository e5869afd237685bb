"""While kernels compile: a line at the prompt, late enough, to a person; no collections."""

import gc
import io
import os
import pty
import sys
import time
from itertools import cycle
from types import SimpleNamespace

import numba
import numpy as np
import pytest

from pygeco import engines
from pygeco.engines.cpu import compiling
from pygeco.engines.cpu.compiling import LINE, SIGNS, WORDS, Notice, Pause


def compilation(module: str = "pygeco.engines.cpu.products"):
    function = SimpleNamespace(__module__=module)
    return SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=function)})


@pytest.fixture
def terminal(monkeypatch):
    """Standard error is a pseudo-terminal; a function gives what it has shown."""
    leader, follower = pty.openpty()
    monkeypatch.setattr(compiling, "NOTICE_SECONDS", 0.02)
    monkeypatch.setattr(compiling, "FRAME_SECONDS", 0.01)
    monkeypatch.setitem(engines.NOTICES, "compiling", True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")

    def read() -> str:
        os.set_blocking(leader, False)
        try:
            return os.read(leader, 1 << 16).decode()
        except BlockingIOError:
            return ""

    with os.fdopen(follower, "w") as stream, monkeypatch.context() as patch:
        yield read, lambda: patch.setattr(sys, "stderr", stream)
    os.close(leader)


def compile_for(
    notice: Notice, seconds: float, module: str = "pygeco.engines.cpu.products"
) -> None:
    notice.on_start(compilation(module))
    ends = time.monotonic() + seconds
    while time.monotonic() < ends and not notice.told:
        time.sleep(0.01)
    notice.on_end(compilation(module))


def test_a_function_without_a_module_is_another_s() -> None:
    notice = Notice()
    notice.on_start(compilation(None))  # as numba compiles one that was made from text
    assert notice.depth == 0


@pytest.mark.parametrize("columns", [100, 30])
def test_a_terminal_shows_a_turning_sign_which_is_wiped(terminal, columns, monkeypatch) -> None:
    read, attend = terminal
    monkeypatch.setenv("COLUMNS", str(columns))
    attend()
    notice = Notice()
    for _ in range(2):
        shown, ends = "", time.monotonic() + 20
        notice.on_start(compilation())
        while shown.count("\r") < 3 and time.monotonic() < ends:
            shown += read()
            time.sleep(0.01)
        notice.on_end(compilation())
        while not shown.endswith(" \r") and time.monotonic() < ends:  # a terminal takes its time
            shown += read()
        _, *frames, blank, rest = shown.split("\r")
        assert len(frames) >= 3
        for sign, frame in zip(cycle(SIGNS), frames, strict=False):
            assert frame == f"{sign} {LINE}, 0 s"[: columns - 1]
        assert blank == " " * len(frames[-1])
        assert rest == ""
    assert engines.COMPILING == []


def test_a_dumb_terminal_is_told_once(terminal, monkeypatch) -> None:
    read, attend = terminal
    monkeypatch.setenv("TERM", "dumb")
    attend()
    notice = Notice()
    compile_for(notice, 20.0)
    compile_for(notice, 0.1)
    assert read() == WORDS.replace("\n", "\r\n")


def test_a_notebook_is_told_once(monkeypatch) -> None:
    monkeypatch.setattr(compiling, "NOTICE_SECONDS", 0.02)
    monkeypatch.setattr(compiling, "FRAME_SECONDS", 0.01)
    monkeypatch.setitem(engines.NOTICES, "compiling", True)
    monkeypatch.setitem(sys.modules, "ipykernel", sys)
    page, notice = io.StringIO(), Notice()
    monkeypatch.setattr(sys, "stderr", page)
    compile_for(notice, 20.0)
    compile_for(notice, 0.1)
    assert page.getvalue() == WORDS


def test_a_short_one_a_strangers_and_a_hushed_one_are_not(terminal, monkeypatch) -> None:
    read, attend = terminal
    attend()
    monkeypatch.setattr(compiling, "NOTICE_SECONDS", 5.0)
    compile_for(Notice(), 0.0)
    monkeypatch.setattr(compiling, "NOTICE_SECONDS", 0.02)
    compile_for(Notice(), 0.2, "somebody.else")
    monkeypatch.setitem(engines.NOTICES, "compiling", False)
    compile_for(Notice(), 0.2)
    assert read() == ""


def test_a_program_sees_what_is_compiled_now(monkeypatch) -> None:
    monkeypatch.setitem(engines.NOTICES, "compiling", False)
    notice, own = Notice(), compilation()
    notice.on_start(own)
    notice.on_start(own)  # one that the first needs
    assert len(engines.COMPILING) == 1
    notice.on_end(own)
    assert len(engines.COMPILING) == 1
    notice.on_end(own)
    assert engines.COMPILING == []


def test_a_pipe_and_a_closed_stream_are_told_nothing(terminal, monkeypatch) -> None:
    closed, pipe = io.StringIO(), io.StringIO()
    closed.close()
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    for stream in (pipe, closed, None):
        monkeypatch.setattr(sys, "stderr", stream)
        compile_for(Notice(), 0.1)
    assert pipe.getvalue() == ""


def test_numba_tells_it() -> None:
    """The event is there, and names what is compiled."""
    from pygeco.engines.cpu.parallel import spread  # noqa: F401 - registers the listener

    seen = []

    class Probe(numba.core.event.Listener):
        def on_start(self, event):
            seen.append(event.data["dispatcher"].py_func.__module__)

        def on_end(self, event):
            pass

    probe = Probe()
    with numba.core.event.install_listener("numba:compile", probe):
        numba.njit(lambda x: x + 1)(1)
    assert seen == [__name__]


@pytest.mark.parametrize("collects", [True, False])
def test_garbage_waits_for_the_outermost_compilation_of_ours(collects) -> None:
    pause, own, foreign = Pause(), compilation(), compilation("somebody.else")
    before = gc.isenabled()
    try:
        (gc.enable if collects else gc.disable)()
        pause.on_start(foreign)
        assert gc.isenabled() == collects
        pause.on_start(own)
        pause.on_start(foreign)  # a function of numba's that ours calls
        pause.on_end(foreign)
        assert not gc.isenabled()
        pause.on_end(own)
        assert gc.isenabled() == collects
        pause.on_end(foreign)
        assert gc.isenabled() == collects
        assert pause.depth == 0
    finally:
        (gc.enable if before else gc.disable)()


def test_a_compilation_that_fails_does_not_stop_collections() -> None:
    from pygeco.engines.cpu.parallel import spread

    def add(part, parts, text):
        text[part] += object  # nothing that numba knows

    add.__module__ = "pygeco.engines.cpu.products"
    kernel = spread("parts")(add)
    with pytest.raises(numba.core.errors.TypingError):
        kernel(1, np.zeros(1))
    assert gc.isenabled()
