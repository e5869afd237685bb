"""New rows by their cells, their pattern and their attributes, against dense algebra."""

import numpy as np
import scipy.sparse as sp

from pygeco.bayes.attributes import AttributeValues
from pygeco.bayes.evidence import fit_evidence
from pygeco.bayes.side_information import gather_known
from pygeco.bayes.sweep import new_rows
from pygeco.objectives import Entries


def make_fit(seed=0):
    rng = np.random.default_rng(seed)
    m, n = 120, 50
    X = rng.standard_normal((m, 2))
    U = X @ rng.standard_normal((2, 2)) + 0.3 * rng.standard_normal((m, 2))
    Z = U @ rng.standard_normal((2, n))
    rows, cols = np.nonzero(rng.random((m, n)) < 0.3 / (1 + np.exp(-Z)))
    values = (Z + 0.5 * rng.standard_normal((m, n)))[rows, cols]
    entries = Entries(rows, cols, values.astype(np.float32), (m, n))
    table = AttributeValues(
        sp.csr_array(X.astype(np.float32)), np.ones(m, bool), ("a", "b"), (1, 1)
    )
    known = gather_known(entries, (True, False), (table, None), stays=True)
    return fit_evidence(entries, rank=4, known=known).posterior, n


def test_a_new_row_is_the_posterior_about_its_own_center():
    p, n = make_fit()
    rng = np.random.default_rng(1)
    cols = np.array([3, 7, 20])
    y, x = rng.standard_normal(3), np.array([[0.5, -1.0]])
    new = Entries(np.array([0, 0, 0]), cols, y.astype(np.float32), (2, n))  # and one without cells
    both = AttributeValues(
        sp.csr_array(np.vstack([x, x]).astype(np.float32)), np.ones(2, bool), ("a", "b"), (1, 1)
    )
    found = new_rows(p, new, both)
    prior = p.row_prior
    center = prior.center.copy()
    moves = {e.name if e.source == "table" else "pattern": e for e in prior.effects}
    for t, name in enumerate("ab"):
        effect = moves[name]
        center += (x[0, t] - effect.mean[0]) * effect.coefficients[0]
    effect = moves["pattern"]
    indicator = np.zeros(n)
    indicator[cols] = 3**-0.5
    center += (indicator - effect.mean) @ effect.coefficients
    doubt = (indicator - effect.mean) @ effect.doubt
    doubt += sum(
        (x[0, t] - moves[name].mean[0]) * moves[name].doubt[0] for t, name in enumerate("ab")
    )
    precision = prior.precision / (1 + np.mean(doubt**2))
    Z = np.column_stack([p.cols.factor, np.ones(n)]).astype(float)
    spread = np.append(p.cols.variance[cols].sum(axis=0), 0.0)
    system = precision + p.tau * (Z[cols].T @ Z[cols] + np.diag(spread))
    rest = (y - p.mean) / p.scale - p.cols.bias[cols]
    expected = np.linalg.solve(system, precision @ center + p.tau * Z[cols].T @ rest)
    np.testing.assert_allclose(np.append(found.factor[0], found.bias[0]), expected, atol=2e-4)
    # Without cells it is where its attributes alone put it, with the doubt about their effects.
    cold = prior.cold
    moves = [(x[0, t] - e.mean[0]) * e.coefficients[0] for t, e in enumerate(cold.effects)]
    bare = cold.center + np.sum(moves, axis=0)
    np.testing.assert_allclose(np.append(found.factor[1], found.bias[1]), bare, atol=2e-4)
    own = np.diag(np.linalg.inv(cold.precision))
    ratio = np.append(found.variance[1], found.bias_variance[1]) / own
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-3)
    assert 1.0 < ratio[0] < 1.5


def test_what_is_not_known_is_at_the_mean():
    p, n = make_fit()
    empty = Entries(np.zeros(0, int), np.zeros(0, int), np.zeros(0), (1, n), allow_empty=True)
    found = new_rows(p, empty)
    np.testing.assert_allclose(found.factor[0], p.row_prior.cold.center[:-1], atol=1e-5)
