"""The gradient of clicks is a sum, and knows what the pass found."""

import numpy as np

from oracles import Matrix, dense
from pygeco.objectives.clicks.gradient import ClicksGradient


def test_it_is_the_sum_of_its_parts() -> None:
    one, other = np.random.default_rng(0).standard_normal((2, 4, 3))
    G = ClicksGradient(Matrix(one), Matrix(other), 2.0, 3.0)
    np.testing.assert_allclose(dense(G), one + other)
    assert (G.value, G.inner, G.shape) == (2.0, 3.0, (4, 3))
