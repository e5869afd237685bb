"""Objects of Python reach a kernel as what they are, and stay as they were."""

import sys

import numpy as np
import pytest

from pygeco.engines.cpu.parallel import spread


@spread("parts")
def read_numbers(part, parts, whole, real, narrow, small, truth, pair, out):
    first, second = pair
    out[part, 0], out[part, 1], out[part, 2] = whole, real, narrow
    out[part, 3], out[part, 4] = small, 1.0 if truth else 0.0
    out[part, 5], out[part, 6] = first[0], second[0, 1]
    out[part, 7], out[part, 8] = len(first), second.shape[0] * second.shape[1]


@pytest.mark.parametrize("parts", [1, 3])
def test_numbers_and_tuples_arrive(parts) -> None:
    second = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    out = np.zeros((parts, 9))
    pair = np.array([7], np.uint8), second
    read_numbers(parts, -(2**40), 1e300, np.float32(0.1), np.int32(-5), True, pair, out)
    expected = [-(2**40), 1e300, np.float32(0.1), -5, 1, 7, 1, 1, 6]
    np.testing.assert_array_equal(out, [expected] * parts)


@spread("out", ends=0)
def copy_rows(part, table, out):
    for k in range(table.shape[1]):
        out[part, k] = table[part, k]


@pytest.mark.parametrize("kind", ["C", "F", "strided", "reversed", "read-only", "no columns"])
def test_arrays_arrive_as_they_lie(kind) -> None:
    table = np.arange(24.0).reshape(4, 6)
    given = {
        "C": table,
        "F": np.asfortranarray(table),
        "strided": table[:, ::2],
        "reversed": table[::-1, ::-1],
        "read-only": np.frombuffer(table.tobytes()).reshape(4, 6),
        "no columns": table[:, :0],
    }[kind]
    out = np.zeros(given.shape)
    before = sys.getrefcount(given)
    for _ in range(5):
        copy_rows(given, out)
    np.testing.assert_array_equal(out, given)
    assert sys.getrefcount(given) == before
