"""Components that the evidence may have missed: how strong they are, and what follows."""

import numpy as np
import pytest

from pygeco import Entries, MatrixCompletion
from pygeco.bayes.evidence import fit_evidence
from pygeco.bayes.hidden_components import HIDDEN_SHARE, add_hidden, measure_hidden
from pygeco.bayes.sweep import standardize_entries


def make_cells(shape, rank, count, noise, seed):
    """Noisy cells of a random matrix with offsets, and the matrix."""
    rng = np.random.default_rng(seed)
    m, n = shape
    U, V = rng.standard_normal((m, rank)), rng.standard_normal((n, rank))
    Z = U @ V.T / rank**0.5 + 0.5 * rng.standard_normal((m, 1)) + 0.5 * rng.standard_normal(n)
    rows, cols = np.divmod(rng.permutation(m * n)[:count], n)
    return (rows, cols, Z[rows, cols] + noise * rng.standard_normal(count), shape), Z


@pytest.mark.parametrize(
    ("shape", "rank", "count", "noise"), [((30, 20), 2, 400, 1.0), ((200, 50), 2, 1500, 1.0)]
)
def test_draws_err_no_more_than_the_evidence_where_data_are_weak(shape, rank, count, noise):
    """They erred 4 to 6 % more: chains began with components as strong as those that were found."""
    errors = []
    for seed in range(5):
        cells, Z = make_cells(shape, rank, count, noise, seed)
        for posterior in (0, 30):
            model = MatrixCompletion(posterior=posterior, random_state=seed).fit(cells)
            errors.append(np.sqrt(np.mean((model.to_dense() - Z) ** 2)))
    plain, drawn = errors[::2], errors[1::2]
    assert np.mean(drawn) < 1.02 * np.mean(plain)


@pytest.mark.parametrize("seed", range(4))
def test_hidden_components_are_weaker_than_what_cells_show(seed):
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(20, 80, 2))
    count = int(rng.integers(4, 10)) * max(shape)
    cells, _ = make_cells(shape, 2, count, rng.uniform(0.2, 1.5), seed)
    entries = Entries(*cells)
    start = fit_evidence(entries, rank=10).posterior
    data = standardize_entries(entries, center=True).data
    row, col = measure_hidden(data, start)
    per_row, per_column = (count / len(np.unique(x)) for x in cells[:2])
    shows = 1 / (start.tau * (per_row * per_column) ** 0.5)
    assert 0 < row * col <= HIDDEN_SHARE * shows * (1 + 1e-6)
    if start.rank:
        found = [
            np.diag(np.linalg.inv(p.precision))[:-1] for p in (start.row_prior, start.col_prior)
        ]
        assert row <= np.quantile(found[0], 0.1) * (1 + 1e-6)
        assert col <= np.quantile(found[1], 0.1) * (1 + 1e-6)
    wide = add_hidden(start, start.rank + 3, rng, (row, col))
    assert wide.rank == start.rank + 3
    np.testing.assert_array_equal(wide.rows.factor[:, : start.rank], start.rows.factor)
    for prior, variance in ((wide.row_prior, row), (wide.col_prior, col)):
        new = np.linalg.inv(prior.precision)[start.rank : -1, start.rank : -1]
        np.testing.assert_allclose(new, variance * np.eye(3), rtol=1e-6, atol=1e-12)


def test_without_room_nothing_is_added():
    cells, _ = make_cells((30, 20), 2, 400, 0.3, 0)
    start = fit_evidence(Entries(*cells), rank=10).posterior
    assert add_hidden(start, start.rank, np.random.default_rng(0), (1.0, 1.0)) is start
