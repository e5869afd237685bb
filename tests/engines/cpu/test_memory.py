"""Memory of a kernel's own: each part has its own, as large as asked, at a line of the cache."""

import numpy as np
import pytest

from pygeco.engines.cpu.memory import ALIGNMENT, give_back, take_memory
from pygeco.engines.cpu.parallel import spread


@spread("out")
def sum_backwards(part, count, out):
    """Σ t of numbers that are written in one order and read in the other."""
    taken = take_memory(count, out.dtype)
    for t in range(count):
        taken[t] = t + part
    for t in range(count):
        out[part, 0] += taken[count - 1 - t]
    out[part, 1] = len(taken)
    out[part, 2] = taken.ctypes.data % ALIGNMENT
    give_back(taken)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.uint32])
@pytest.mark.parametrize("count", [0, 1, 7, 1000])
def test_each_part_has_memory_of_its_own(count, dtype) -> None:
    out = np.zeros((300, 3), dtype)
    sum_backwards(count, out)
    parts = np.arange(300)
    np.testing.assert_array_equal(out[:, 0], count * (count - 1) // 2 + count * parts)
    np.testing.assert_array_equal(out[:, 1], count)
    np.testing.assert_array_equal(out[:, 2], 0)


@spread("parts")
def take_much(part, parts, count):
    give_back(take_memory(count, np.float64))


def test_what_no_machine_has_is_an_error() -> None:
    with pytest.raises(MemoryError, match="no memory"):
        take_much(1, 1 << 56)
