"""One side of a sweep, row by row against the normal equations."""

import numpy as np
import pytest

from pygeco import Entries
from pygeco.objectives.entries.half_sweep import Side, half_sweep

M, N, S = 7, 9, 3


def problem(weights: bool):
    rng = np.random.default_rng(0)
    seen = rng.random((M, N)) < 0.7
    seen[2] = False  # a row that nothing is known of
    rows, cols = np.nonzero(seen)
    w = rng.uniform(0.5, 2, len(rows)) if weights else None
    entries = Entries(rows, cols, rng.standard_normal(len(rows)), (M, N), sample_weight=w)
    partner = Side(rng.standard_normal((N, S)), rng.standard_normal(N))
    L = rng.standard_normal((S + 1, S + 1))
    return entries, partner, L @ L.T + np.eye(S + 1), rng.standard_normal(S + 1)


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("offsets", [True, False])
def test_each_row_solves_its_own_ridge_regression(weights, offsets) -> None:
    entries, partner, P, center = problem(weights)
    size = S + 1 if offsets else S
    P, center = P[:size, :size], center[:size]
    start = Side(np.zeros((M, S)), np.zeros(M))
    tau = 1.7
    swept = half_sweep(
        entries.by_row, start, partner, prior=P, center=center, tau=tau, offsets=offsets
    )
    Z = np.column_stack([partner.factor, np.ones(N)])[:, :size]
    cells = entries.by_row
    for i in range(M):
        part = slice(cells.pointers[i], cells.pointers[i + 1])
        j, y = cells.indices[part], cells.values[part]
        w = cells.weights[part] if weights else np.ones(len(y))
        system = P + tau * (Z[j] * w[:, None]).T @ Z[j]
        rest = w * (y - partner.bias[j])
        x = np.linalg.solve(system, P @ center + tau * Z[j].T @ rest)
        found = np.append(swept.side.factor[i], swept.side.bias[i])[:size]
        np.testing.assert_allclose(found, x, rtol=1e-8)
    np.testing.assert_allclose(swept.side.factor[2], center[:S])  # the prior's alone
