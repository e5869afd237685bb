"""The noise that the evidence finds, and intervals, from large noise down to the least."""

import numpy as np
import pytest

from noise_cases import make_noisy_cells
from pygeco import MatrixCompletion
from pygeco.bayes.posterior import LEAST_NOISE


@pytest.mark.parametrize("noise", [1e-1, 1e-2, 1e-3, 1e-4])
@pytest.mark.parametrize("shape", [(3000, 40), (40, 3000), (300, 200)], ids=str)
def test_noise_and_intervals_are_right_at_any_shape_and_noise(shape, noise) -> None:
    data = make_noisy_cells(shape, noise)
    model = MatrixCompletion(random_state=0).fit(data.fitted)
    rows, cols, values = data.others
    mean, deviation = model.predict(rows, cols, return_std=True)
    assert 0.88 < np.mean(np.abs(mean - values) < 1.645 * deviation) < 0.92
    assert model.posterior_.tau / model.posterior_.scale**2 == pytest.approx(
        data.precision, rel=0.03
    )


@pytest.mark.parametrize("shape", [(3000, 40), (40, 3000)], ids=str)
def test_intervals_below_the_least_noise_are_too_wide_and_never_too_narrow(shape) -> None:
    data = make_noisy_cells(shape, 1e-6)
    model = MatrixCompletion(random_state=0).fit(data.fitted)
    rows, cols, values = data.others
    mean, deviation = model.predict(rows, cols, return_std=True)
    assert np.mean(np.abs(mean - values) < 1.645 * deviation) > 0.9
    assert deviation.max() < 5 * model.posterior_.scale * LEAST_NOISE**0.5
