"""Half-sweeps of a dense table, line by line."""

import numpy as np
import pytest

from pygeco import Dense
from pygeco.losses import Huber, PseudoHuber, Squared
from pygeco.objectives.dense import sweep as dense_sweep

WIDE = 20  # columns: more than have their systems formed in every case


ROOMS = [1, 3 * WIDE**2, 7 * WIDE**2, 1 << 25]


@pytest.fixture(params=ROOMS)
def room(request, monkeypatch):
    """Room for the systems of so many lines at once."""
    monkeypatch.setattr(dense_sweep, "MAX_SYSTEM_FLOATS", request.param)


@pytest.mark.parametrize("side", ["column", "row"])
@pytest.mark.parametrize("loss", [Squared(), Huber(2.0), PseudoHuber(2.0)], ids=lambda x: x.name)
@pytest.mark.usefixtures("room")
def test_half_sweep_is_the_argmin_of_each_line_alone(side, loss) -> None:
    rng = np.random.default_rng(3)
    fixed = rng.standard_normal((90, WIDE))
    fixed[::4] *= 30  # where such a cell is missing, a line's system is like no other's
    lines = rng.standard_normal((9, WIDE)) @ fixed.T + rng.standard_normal((9, 90))
    lines[rng.random(lines.shape) < 0.1] += 50
    lines[rng.random(lines.shape) < 0.3] = np.nan
    ridge = rng.uniform(0, 1e-4, 9)

    def solve(some):
        Y = lines[some].T if side == "column" else lines[some]
        objective = Dense(Y, loss)
        own = ridge[some] / objective.total_weight
        start = np.zeros((len(own), WIDE))
        W = objective.half_sweep(fixed, start, side=side, ridge=own)
        found = objective.lines(side == "column", W, fixed, fixed)
        slope = found.sides + 2 * ridge[some][:, None] * W
        assert np.abs(slope).max() < 1e-4 * np.abs(fixed).sum(axis=0).max()
        return W

    together = solve(np.arange(9))
    alone = np.concatenate([solve(np.array([i])) for i in range(9)])
    np.testing.assert_allclose(together, alone, rtol=1e-5, atol=1e-6)
