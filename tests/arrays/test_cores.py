"""The cores of a process."""

import os
import subprocess
import sys

import pytest

from pygeco.arrays.cores import count_cores


def test_there_are_no_more_than_the_machine_has() -> None:
    assert 1 <= count_cores() <= os.cpu_count()


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system does not tell")
def test_a_process_that_is_given_one_core_has_one() -> None:
    code = "import os; from pygeco.arrays.cores import count_cores\n"
    code += "os.sched_setaffinity(0, list(os.sched_getaffinity(0))[:1]); assert count_cores() == 1"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_where_the_system_does_not_tell_all_count(monkeypatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert count_cores() == os.cpu_count()
