"""New rows beside offsets that they were not fitted to: those of a mean of draws."""

from dataclasses import replace

import numpy as np
import pytest

from pygeco import LowRank, MatrixCompletion
from pygeco.models.folding import match_offsets
from pygeco.objectives.entries.biases import Biases


def make_table(m=240, n=60, noise=1.0):
    rng = np.random.default_rng(0)
    Z = 3 + rng.standard_normal((m, 1)) / 2 + 0.7 * rng.standard_normal((1, n))
    Z += rng.standard_normal((m, 2)) @ rng.standard_normal((2, n))
    seen = Z + noise * rng.standard_normal((m, n))
    return Z, np.where(rng.random((m, n)) < 0.3, seen, np.nan)


@pytest.fixture(scope="module")
def model():
    return MatrixCompletion(random_state=0, pattern=False).fit(make_table()[1]).model_


@pytest.mark.parametrize("rank", [1, 3, 60])
@pytest.mark.parametrize("offset", [True, False])
def test_what_rows_can_take_on_is_taken_on(model, rank, offset) -> None:
    """α + V β of the offsets moves to the rows: their predictions stay, whatever α and β.

    Rows without an offset take on no α.
    """
    rng, n = np.random.default_rng(rank), model.shape[1]
    A = LowRank(np.eye(n, rank), np.ones(rank), np.linalg.qr(rng.standard_normal((n, rank)))[0])
    p = model.posterior
    p = replace(p, row_prior=p.row_prior._replace(offset=offset))
    own = p.biases()
    alpha, beta = 0.8 * offset, rng.standard_normal(rank)
    moved = Biases(own.mean - alpha, own.row, own.col - A.V @ beta)
    found = match_offsets(p, A, moved)
    rest = A.V @ found.coordinates + float(found.offsets) + moved.mean + moved.col
    np.testing.assert_allclose(rest, own.mean + own.col, atol=1e-6)


@pytest.mark.parametrize("draws", [4, 20])
def test_rows_of_the_fit_are_folded_as_well_beside_a_mean_of_draws(draws) -> None:
    Z, X = make_table()
    errors = []
    for posterior in (0, draws):
        found = MatrixCompletion(random_state=0, posterior=posterior, pattern=False).fit(X)
        errors.append(found.predict(X) - Z)
        across = found.transform_columns(X)
        assert np.isfinite(across).all()
    assert abs(np.mean(errors[1]) - np.mean(errors[0])) < 0.01
    assert np.sqrt(np.mean(errors[1] ** 2)) < 1.03 * np.sqrt(np.mean(errors[0] ** 2))
