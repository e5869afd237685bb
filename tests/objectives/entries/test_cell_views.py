"""Sets of cells made of others."""

import numpy as np
import pytest

from entries_cases import EVERY, problem
from loss_cases import sample
from pygeco import Entries, LowRank
from pygeco.data import make_low_rank


@EVERY
def test_weight_zero_is_no_cell_and_weights_scale_out(name):
    rng = np.random.default_rng(0)
    rows, cols = np.nonzero(rng.random((9, 6)) < 0.8)
    loss, _, y = sample(name, len(rows))
    w = rng.integers(0, 3, len(rows)).astype(float)
    kept = w > 0
    A = make_low_rank((9, 6), 2, random_state=2)
    some = Entries(rows, cols, y, (9, 6), loss=loss, sample_weight=w)
    few = Entries(rows[kept], cols[kept], y[kept], (9, 6), loss=loss, sample_weight=7 * w[kept])
    np.testing.assert_allclose(some.value(A), few.value(A), rtol=1e-12)
    x = rng.standard_normal(6)
    np.testing.assert_allclose(some.gradient(A).matvec(x), few.gradient(A).matvec(x), atol=1e-14)
    np.testing.assert_allclose(some.smoothness, few.smoothness)


def test_shifts_add_up():
    entries, _ = problem("logistic", offset=False)
    rng = np.random.default_rng(0)
    row, col = rng.standard_normal((2, 9)), rng.standard_normal((2, 6))
    A = make_low_rank((9, 6), 2, random_state=2)
    twice = entries.shift(row[0], col[0]).shift(row[1], col[1])
    np.testing.assert_allclose(twice.value(A), entries.shift(row.sum(0), col.sum(0)).value(A))


def test_offsets_of_another_length_and_a_smaller_shape_are_refused() -> None:
    """Kernels would read, or write, beyond memory."""
    for loss in ("squared", "huber"):
        entries = Entries([0, 1, 3], [0, 2, 1], [1.0, 2.0, 3.0], (4, 3), loss=loss)
        A = LowRank.zero((4, 3))
        for row, col in ((3, 3), (5, 3), (4, 2), (4, 4), (1, 3)):
            sentence = r"^(row|col): expected \d numbers in 1 dimension\(s\), not an array of shape"
            given = np.zeros(row), np.zeros(col)
            with pytest.raises(ValueError, match=sentence):
                entries.shift(*given)
            with pytest.raises(ValueError, match=sentence):
                entries.gradient_beyond(A, *given)
        for shape in ((3, 3), (4, 2)):
            with pytest.raises(ValueError, match=r"^shape: .* has no room for the cells of \(4, 3"):
                entries.within(shape)
