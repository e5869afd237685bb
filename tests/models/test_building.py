"""The model of a fit: its parts are those of the cells and of what was found."""

import numpy as np
import pytest

from pygeco import Entries, LowRank, Ridge, losses
from pygeco.models import CompletionModel
from pygeco.models.building import build_model, mean_levels
from pygeco.objectives.entries.biases import Biases


def test_bounds_cells_and_weights_are_those_of_the_entries() -> None:
    w = np.array([1.0, 2.0, 0.5])
    entries = Entries([0, 0, 1], [0, 2, 1], [1.0, 5.0, 3.0], (2, 3), sample_weight=w)
    A = LowRank.from_dense(np.arange(6.0).reshape(2, 3))
    biases = Biases(0.0, np.zeros(2), np.zeros(3))
    model = build_model(entries, A, biases, loss=losses.Squared(), offsets=(), penalty=None,
                        clips=True)  # fmt: skip
    assert isinstance(model, CompletionModel)
    assert model.bounds == (1.0, 5.0)
    assert model.total_weight == pytest.approx(3.5)
    assert model.seen.values.tolist() == [1, 5, 3]
    np.testing.assert_allclose(model.factors.to_dense(), A.to_dense(), atol=1e-6)
    assert model.to_dense().max() <= 5.0


def test_levels_are_means_of_powers_of_counts() -> None:
    rows, cols = np.array([0.0, 4.0, 9.0]), np.array([1.0, 16.0])
    assert mean_levels(None, rows, cols) == (1.0, 1.0)
    assert mean_levels("evidence", rows, cols) == (1.0, 1.0)
    # A row without any cell counts as one cell.
    assert mean_levels(Ridge(0.1, gamma=0.5), rows, cols) == pytest.approx((2.0, 2.5))
