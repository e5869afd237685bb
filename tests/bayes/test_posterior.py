"""The noise that the evidence finds, and intervals, from large noise down to the least."""

import numpy as np
import pytest

from noise_cases import make_noisy_cells
from pygeco import MatrixCompletion
from pygeco.bayes.posterior import LEAST_NOISE, Posterior, drop_directions, measure_support
from pygeco.bayes.priors import Gaussian
from pygeco.objectives.entries.half_sweep import Side


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


def make_posterior(seed, m=70, n=40, s=4, deficient=False) -> Posterior:
    rng = np.random.default_rng(seed)
    sides, priors = [], []
    for size in (m, n):
        factor = (rng.standard_normal((size, s)) * [3, 1, 0.5, 0.2]).astype(np.float32)
        if deficient:
            factor[:, 3] = factor[:, 0] - 2 * factor[:, 1]
        variance = rng.uniform(0.1, 1, (size, s)).astype(np.float32)
        bias = rng.standard_normal(size).astype(np.float32)
        sides.append(Side(factor, bias, variance, np.abs(bias)))
        priors.append(Gaussian.of(sides[-1], rng.random(size) < 0.8, offset=True))
    return Posterior(*sides, *priors, tau=1.0, mean=0.0, scale=1.0)


@pytest.mark.parametrize("deficient", [False, True])
def test_support_is_that_of_the_sides_in_the_basis_of_singular_vectors(deficient) -> None:
    now = make_posterior(0, deficient=deficient)
    basis = measure_support(now)
    P, s, Qt = np.linalg.svd(now.rows.factor.astype(float) @ now.cols.factor.T.astype(float))
    wanted = np.ones(4)
    for side, prior, vectors, turn in (
        (now.rows, now.row_prior, P, basis.row_turn),
        (now.cols, now.col_prior, Qt.T, basis.col_turn),
    ):
        factor = vectors[:, :4] * np.sqrt(s[:4])
        got = side.factor.astype(float) @ turn
        live = 3 if deficient else 4
        signs = np.sign(np.sum(got * factor, axis=0))
        np.testing.assert_allclose(got[:, :live], (signs * factor)[:, :live], atol=1e-4)
        squares = np.sum(factor[prior.some] ** 2, axis=0)
        spread = np.sum(side.variance[prior.some] @ turn**2, axis=0)
        wanted *= squares / (squares + spread)
    wanted[3] = 0 if deficient else wanted[3]
    np.testing.assert_allclose(basis.support, wanted, atol=1e-5)


def test_directions_that_stay_keep_the_product_of_the_others() -> None:
    now = make_posterior(1)
    basis = measure_support(now)
    kept = drop_directions(now, basis, keep=np.array([True, True, True, False]))
    P, s, Qt = np.linalg.svd(now.rows.factor.astype(float) @ now.cols.factor.T.astype(float))
    wanted = (P[:, :3] * s[:3]) @ Qt[:3]
    np.testing.assert_allclose(kept.rows.factor @ kept.cols.factor.T, wanted, atol=1e-4)
    assert drop_directions(now, basis, keep=np.ones(4, bool)) is now
