"""A word at the prompt while kernels compile: once, late enough, and only to a person."""

import io
import sys
import time
from types import SimpleNamespace

from pygeco import engines
from pygeco.engines.cpu import compiling
from pygeco.engines.cpu.compiling import WORDS, Notice


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
    import numba

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
