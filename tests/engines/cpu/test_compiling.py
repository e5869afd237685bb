"""While kernels compile: a word at the prompt, once, late enough, to a person; no collections."""

import gc
import io
import sys
import time
from types import SimpleNamespace

import numba
import numpy as np
import pytest

from pygeco import engines
from pygeco.engines.cpu import compiling
from pygeco.engines.cpu.compiling import WORDS, Notice, Pause


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def compilation(module: str = "pygeco.engines.cpu.products"):
    function = SimpleNamespace(__module__=module)
    return SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=function)})


def attended(monkeypatch) -> Terminal:
    """A terminal for standard error; set in the test itself, after pytest has set its own."""
    monkeypatch.setattr(compiling, "NOTICE_SECONDS", 0.02)
    monkeypatch.setitem(engines.NOTICES, "compiling", True)
    found = Terminal()
    monkeypatch.setattr(sys, "stderr", found)
    return found


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
    assert notice.timer is None


def test_a_long_compilation_is_told_once(monkeypatch) -> None:
    stderr = attended(monkeypatch)
    notice = Notice()
    compile_for(notice, 20.0)
    compile_for(notice, 20.0)
    assert stderr.getvalue() == WORDS


def test_a_short_one_a_strangers_and_a_hushed_one_are_not(monkeypatch) -> None:
    stderr = attended(monkeypatch)
    monkeypatch.setattr(compiling, "NOTICE_SECONDS", 5.0)
    compile_for(Notice(), 0.0)
    monkeypatch.setattr(compiling, "NOTICE_SECONDS", 0.02)
    compile_for(Notice(), 0.2, "somebody.else")
    monkeypatch.setitem(engines.NOTICES, "compiling", False)
    compile_for(Notice(), 0.2)
    assert stderr.getvalue() == ""


def test_a_pipe_is_told_nothing(monkeypatch) -> None:
    attended(monkeypatch)
    pipe = io.StringIO()
    monkeypatch.setattr(sys, "stderr", pipe)
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    compile_for(Notice(), 0.2)
    monkeypatch.setattr(sys, "stderr", None)
    compile_for(Notice(), 0.2)
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
