"""Loops over parts, in turn or by what an engine offers."""

import pytest

from pygeco.arrays import loops
from pygeco.engines.cpu.threads import each


def run_backwards(job, count):
    for part in reversed(range(count)):
        job(part)


@pytest.mark.parametrize("loop", [None, run_backwards, each])
@pytest.mark.parametrize("count", [0, 1, 2, 37])
def test_each_part_is_done_once(loop, count, monkeypatch) -> None:
    monkeypatch.setattr(loops, "_LOOPS", [loops.run_in_turn])
    if loop is not None:
        loops.offer_loop(loop)
    done = []
    loops.run_parts(done.append, count)
    assert sorted(done) == list(range(count))
    if loop is run_backwards:
        assert done == list(range(count))[::-1]
