"""Numbers of few values as codes: the same bits, and NumPy sees the numbers."""

import pickle

import numpy as np
import pytest

from pygeco.arrays import coded
from pygeco.arrays.coded import Coded, encode_values
from pygeco.arrays.kinds import as_array, contiguous, host, ones, zeros
from pygeco.engines import limit_threads

STARS = np.random.default_rng(0).integers(1, 11, 500) / 2
FORMULAS = [
    lambda y: y - 2.5,
    lambda y: (y.astype(float) - 3) / 1.7,
    lambda y: -y,
    lambda y: y + np.arange(500),
    lambda y: np.arange(500) * y,
    lambda y: y == 4,
    lambda y: np.abs(y - 3).max(),
    lambda y: np.add.reduceat(y, [0, 10, 60]),
    lambda y: np.concatenate([y, y[:3]]),
    lambda y: np.unique(y, return_counts=True)[1],
    lambda y: y[y > 3],
    lambda y: y[::7],
    lambda y: y[3],
    lambda y: y.sum(dtype=float) + y.mean() + y.min() + y.max(),
    lambda y: zeros(4, y, np.float32),
    lambda y: ones(len(y), y),
    lambda y: np.ones_like(y),
    lambda y: host(contiguous(y)),
    lambda y: y.reshape(-1),
    lambda y: y.copy(),
    lambda y: float(y @ y),
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("formula", FORMULAS)
def test_every_formula_gives_what_it_gives_of_the_numbers(formula, dtype) -> None:
    plain = STARS.astype(dtype)
    found = formula(encode_values(plain))
    expected = formula(plain)
    np.testing.assert_array_equal(np.asarray(found), expected)
    assert np.asarray(found).dtype == np.asarray(expected).dtype


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("part", [7, 1 << 16])
def test_codes_bring_back_every_bit(monkeypatch, dtype, part) -> None:
    monkeypatch.setattr(coded, "PART", part)  # most levels come after the first look
    monkeypatch.setattr(coded, "RUN", 3 * part)
    values = np.random.default_rng(1).standard_normal(254).astype(dtype)
    values = np.concatenate([values, values[::-1], np.array([0.0, -0.0], dtype)])
    found = encode_values(values)
    assert len(found.table) == 256
    assert np.asarray(found).tobytes() == values.tobytes()
    assert np.asarray(pickle.loads(pickle.dumps(found))).tobytes() == values.tobytes()
    assert encode_values(np.append(values, dtype(7))) is None


def test_formulas_with_numbers_keep_the_codes() -> None:
    found = encode_values(STARS)
    moved = (found.astype(float) - 3) / 2
    assert isinstance(moved, Coded)
    assert moved.codes is found.codes
    assert as_array(moved) is moved
    assert (found.size, found.shape, found.ndim) == (500, (500,), 1)


@pytest.mark.parametrize("size", [1, 2, 500, 70_001])
def test_values_are_counted(size, monkeypatch) -> None:
    monkeypatch.setattr(coded, "PART", 1 << 10)
    values = np.random.default_rng(size).integers(0, 255, size) - 7.5
    found = encode_values(values)
    levels, counts = np.unique(values, return_counts=True)
    order = np.argsort(found.table)
    np.testing.assert_array_equal(found.table[order], levels)
    np.testing.assert_array_equal(found.counts[order], counts)


def test_codes_and_numbers_do_not_depend_on_threads() -> None:
    values = np.random.default_rng(0).integers(0, 9, 1_000_003) / 2
    values[900_001] = 77.0  # that no sample sees
    found = []
    for threads in (1, 2):
        with limit_threads(threads):
            one = encode_values(values)
            found.append(one)
            np.testing.assert_array_equal(np.asarray(one), values)
    np.testing.assert_array_equal(found[0].codes, found[1].codes)
    np.testing.assert_array_equal(found[0].table, found[1].table)
