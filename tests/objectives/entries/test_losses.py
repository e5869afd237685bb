"""Entries under every loss: passes, gradients and the small problem against dense formulas."""

import numba
import numpy as np
import pytest

from entries_cases import EVERY, problem
from loss_cases import sample
from pygeco import Entries
from pygeco.data import make_low_rank
from pygeco.engines.cpu import separable
from pygeco.engines.cpu.threads import get_num_threads, set_num_threads


@EVERY
def test_same_bits_for_any_number_of_threads(name, monkeypatch):
    if numba.config.NUMBA_NUM_THREADS < 2:
        pytest.skip("one core only")
    monkeypatch.setattr(separable, "CHUNK_CELLS", 64)
    rng = np.random.default_rng(0)
    rows, cols = np.nonzero(rng.random((60, 40)) < 0.6)
    loss, _, y = sample(name, len(rows))
    entries = Entries(rows, cols, y.astype(np.float32), (60, 40), loss=loss)
    A = make_low_rank((60, 40), 3, random_state=2)
    B = rng.standard_normal((3, 3))

    def everything():
        G, span = entries.gradient(A), entries.span(A)
        return (
            G.value, G.inner, G.matvec(np.ones(40)).tobytes(), G.rmatvec(np.ones(60)).tobytes(),
            span.newton(B, 0.1).tobytes(), span.value(B), entries.value(A),
        )  # fmt: skip

    before = get_num_threads()
    try:
        set_num_threads(1)
        alone = everything()
        set_num_threads(2)
        assert everything() == alone
    finally:
        set_num_threads(before)


@EVERY
def test_chunks_do_not_change_the_sums(name, monkeypatch):
    entries, _ = problem(name, (40, 30))
    A = make_low_rank((40, 30), 3, random_state=2)
    whole = entries.gradient(A)
    monkeypatch.setattr(separable, "CHUNK_CELLS", 10)
    cut = entries.gradient(A)
    np.testing.assert_allclose(cut.value, whole.value, rtol=1e-13)
    np.testing.assert_array_equal(cut.by_row, whole.by_row)


@EVERY
def test_float32_is_close_to_float64(name):
    wide, _ = problem(name, (30, 20))
    narrow, _ = problem(name, (30, 20), dtype=np.float32)
    assert narrow.dtype == np.float32
    A = make_low_rank((30, 20), 2, random_state=2)
    np.testing.assert_allclose(narrow.value(A), wide.value(A), rtol=1e-5)
    x = np.ones(20)
    np.testing.assert_allclose(narrow.gradient(A).matvec(x), wide.gradient(A).matvec(x), atol=1e-5)
