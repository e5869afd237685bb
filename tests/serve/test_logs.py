"""The log cannot steer a terminal."""

import logging

from pygeco.serve.logs import set_up_logs


def test_lines_have_no_control_characters(capsys) -> None:
    names = ("pygeco.serve", "uvicorn")
    before = [(n, logging.getLogger(n).handlers, logging.getLogger(n).propagate) for n in names]
    try:
        set_up_logs()
        logging.getLogger("pygeco.serve").info("a \x1b[31m b")
        logging.getLogger("uvicorn").info("not this")
    finally:
        for name, handlers, propagate in before:
            log = logging.getLogger(name)
            log.handlers, log.propagate = handlers, propagate
            log.setLevel(logging.NOTSET)
    told = capsys.readouterr().err
    assert r"a \x1b[31m b" in told
    assert "not this" not in told
