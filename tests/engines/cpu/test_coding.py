"""Codes on the cores: what NumPy finds, whatever the sizes of runs and the number of threads."""

import numpy as np
import pytest

from pygeco.arrays import coded
from pygeco.arrays.coded import CodeWork, encode_values
from pygeco.engines import limit_threads
from pygeco.engines.cpu.coding import CODE_WORK


@pytest.fixture(params=[(4, 12), (1 << 16, 1 << 18)], ids=str)
def sizes(request, monkeypatch) -> None:
    monkeypatch.setattr(coded, "PART", request.param[0])
    monkeypatch.setattr(coded, "RUN", request.param[1])


def make_values(count, levels, dtype):
    rng = np.random.default_rng(count)
    values = rng.standard_normal(levels).astype(dtype)[rng.integers(0, levels, count)]
    values[-1:] = dtype(77)  # that no sample sees
    return values


def find_with(work, values, monkeypatch):
    monkeypatch.setattr(coded, "_OFFERED", [work])
    found = encode_values(values)
    return found, None if found is None else (np.asarray(found), found.counts)


@pytest.mark.usefixtures("sizes")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("count", "levels"), [(1, 1), (11, 3), (12, 255), (13, 9), (1_000, 255), (300_001, 10)]
)
def test_the_cores_find_what_numpy_finds(count, levels, dtype, monkeypatch) -> None:
    if count > 1_000 and coded.RUN < 1_000:
        count = 4_001  # of tiny runs that are enough
    values = make_values(count, levels, dtype)
    one, plain = find_with(CodeWork(), values, monkeypatch)
    for threads in (1, 2):
        with limit_threads(threads):
            two, fast = find_with(CODE_WORK, values, monkeypatch)
        np.testing.assert_array_equal(two.codes, one.codes)
        assert two.table.tobytes() == one.table.tobytes()
        assert fast[0].tobytes() == values.tobytes()
        np.testing.assert_array_equal(fast[1], plain[1])
    assert plain[0].tobytes() == values.tobytes()
    np.testing.assert_array_equal(plain[1], np.bincount(one.codes, minlength=len(one.table)))


@pytest.mark.usefixtures("sizes")
@pytest.mark.parametrize("work", [CodeWork(), CODE_WORK], ids=["numpy", "cores"])
def test_more_than_256_values_have_no_codes(work, monkeypatch) -> None:
    values = np.append(np.arange(256.0), 300.5)
    assert find_with(work, values[:256], monkeypatch)[0] is not None
    assert find_with(work, values, monkeypatch)[0] is None


@pytest.mark.parametrize("kind", [np.float16, np.int64, complex])
def test_numbers_of_other_types(kind, monkeypatch) -> None:
    found, _ = find_with(CODE_WORK, np.array([1.0, 3.0, 1.0]), monkeypatch)
    np.testing.assert_array_equal(np.asarray(found, kind), np.array([1, 3, 1], kind))


@pytest.mark.parametrize("work", [CodeWork(), CODE_WORK], ids=["numpy", "cores"])
def test_no_numbers(work, monkeypatch) -> None:
    found, (values, counts) = find_with(work, np.zeros(0), monkeypatch)
    assert len(found) == len(values) == len(counts) == 0
