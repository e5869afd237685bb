"""Rows in whole vectors."""

import numpy as np
import pytest

from pygeco.engines.cpu.padding import PAD_ROWS, lay_partners, pad_rows
from pygeco.engines.cpu.vectors import BYTES


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, PAD_ROWS, 2 * PAD_ROWS + 1])
@pytest.mark.parametrize("s", [0, 1, 7, 8, 9, 16, 17, 32])
def test_rows_and_their_variances_take_turns(s, n, dtype):
    rng = np.random.default_rng(0)
    lanes = BYTES // np.dtype(dtype).itemsize
    X, W = rng.standard_normal((2, n, s)).astype(dtype)
    scale = rng.uniform(1, 2, n).astype(dtype)
    plain, width = pad_rows(X)
    assert width % lanes == 0
    assert 0 <= width - s < lanes or (s, width) == (0, lanes)
    wanted = np.zeros((2, n, width), dtype)
    wanted[:, :, :s] = X, W
    np.testing.assert_array_equal(plain.reshape(n, width), wanted[0])
    np.testing.assert_array_equal(
        pad_rows(X, scale)[0].reshape(n, width), scale[:, None] * wanted[0]
    )
    both = pad_rows(X, variance=W)[0].reshape(n, width // lanes, 2, lanes)
    np.testing.assert_array_equal(both[:, :, 0].reshape(n, width), wanted[0])
    np.testing.assert_array_equal(both[:, :, 1].reshape(n, width), wanted[1])


@pytest.mark.parametrize("itemsize", [4, 8])
def test_rows_begin_with_a_line_of_the_cache(itemsize):
    # Wherever the caller's own rows begin: a vector on two lines takes two reads.
    s, dtype = 2 * BYTES // itemsize, np.dtype(f"f{itemsize}")
    room = np.arange(20 * s, dtype=dtype)
    for skipped in range(3):
        X = room[skipped : skipped + 10 * s].reshape(10, s)
        for variance in (None, X):
            flat, width = pad_rows(X, variance=variance)
            assert flat.ctypes.data % BYTES == 0
            wide = flat.reshape(10, -1, width // 2)[:, :: 1 if variance is None else 2]
            np.testing.assert_array_equal(wide.reshape(10, s), X)


def test_strided_and_read_only_rows():
    whole = np.random.default_rng(0).standard_normal((30, 12)).astype(np.float32)
    whole.flags.writeable = False
    for X in (whole[::2], whole[:16].T, np.asfortranarray(whole), whole[:, ::3]):
        flat, width = pad_rows(X, variance=X)
        both = flat.reshape(len(X), 2, width)[:, :, : X.shape[1]]
        np.testing.assert_array_equal(both, np.stack([X, X], 1))


def test_what_is_not_known_of_offsets_is_zero():
    partner, bias = np.ones((3, 2), np.float32), np.arange(3.0)
    for known in (None, bias):
        _, vague, _, offsets = lay_partners(partner, known, None, None)
        assert vague == 0
        np.testing.assert_array_equal(
            offsets, np.stack([0 * bias if known is None else bias, 0 * bias], 1)
        )
    _, vague, _, offsets = lay_partners(partner, bias, partner, 2 * bias)
    assert vague == 1
    assert offsets.dtype == np.float32
    np.testing.assert_array_equal(offsets, np.stack([bias, 2 * bias], 1))
