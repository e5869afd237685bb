"""Half-sweeps of the evidence where the noise is small beside the prior."""

import numpy as np
import pytest

from pygeco import Entries, MatrixCompletion
from pygeco.bayes.priors import Gaussian
from pygeco.bayes.sweep import sweep_side
from pygeco.objectives.entries.cell_views import multiply_weights
from pygeco.objectives.entries.half_sweep import Side


@pytest.mark.parametrize("weight", [None, 1e6])
@pytest.mark.parametrize("tau", [1.0, 1e4, 1e7, 1e9])
def test_rows_lie_by_the_prior_where_their_cells_do_not_tell_directions_apart(tau, weight):
    """Beside a dense solution in double precision; of little noise, rounding exceeded the prior."""
    rng = np.random.default_rng(0)
    m, n, s = 12, 30, 4
    cols = rng.standard_normal((n, s)).astype(np.float32)
    cols[:, 3] = cols[:, 0]
    spread = np.full((n, s), 1e-10, np.float32)
    partner = Side(cols, np.zeros(n, np.float32), spread, np.full(n, 1e-10, np.float32))
    Y = (rng.standard_normal((m, s)) @ cols.T).astype(np.float32)
    rows, columns = np.nonzero(rng.random((m, n)) < 0.7)
    cells = Entries(rows, columns, Y[rows, columns], (m, n)).by_row
    if weight is not None:  # of a cell of counts, which are as sure as they are large
        cells = multiply_weights(cells, np.full(len(rows), weight, np.float32))
    root = rng.standard_normal((s + 1, s + 1))
    prior = Gaussian(root @ root.T + np.eye(s + 1), np.zeros(s + 1), np.ones(m, bool), True)
    zero = np.zeros((m, s), np.float32), np.zeros(m, np.float32)
    side = sweep_side(cells, Side(*zero, *zero), partner, prior, tau / (weight or 1.0)).side
    for i in range(m):
        at = columns[rows == i]
        P = np.column_stack([cols[at], np.ones(len(at))]).astype(float)
        vague = np.append(spread[at].sum(axis=0), 0.0)
        exact = np.linalg.inv(prior.precision + tau * (P.T @ P + np.diag(vague)))
        mean = exact @ (tau * P.T @ Y[i, at].astype(float))
        found = np.append(side.factor[i], side.bias[i])
        np.testing.assert_allclose(found, mean, atol=2e-3)
        variance = np.append(side.variance[i], side.bias_variance[i])
        np.testing.assert_allclose(variance, np.diag(exact), rtol=2e-2)
    assert side.factor.dtype == side.variance.dtype == np.float32


def test_counts_of_any_size_have_numbers():
    """The largest said so much of a row that its variance was none, and then all was."""
    rng = np.random.default_rng(480)
    z = rng.standard_normal((59, 4)) @ rng.standard_normal((4, 16)) + 5
    z += 10 * rng.standard_normal(z.shape)
    Y = rng.poisson(np.exp(np.clip(z, -20, 22))).astype(float)
    Y[rng.random(Y.shape) < 0.6] = np.nan
    model = MatrixCompletion(loss="poisson", biases=False, posterior=2, random_state=0).fit(Y)
    assert np.isfinite(model.posterior_.rows.variance).all()
    assert np.isfinite(model.to_dense()).all()
    assert np.isfinite(model.posterior_.likelihood.shape)
