"""The Gaussian of a table's rows: exact rows, the evidence of its strength, any block size."""

import numpy as np
import pytest
from scipy.stats import multivariate_t

from pygeco.bayes import row_gaps, table_gaussian
from pygeco.bayes.evidence import fit_evidence
from pygeco.bayes.strengths import STRENGTHS, choose_strength, list_blocks
from pygeco.bayes.table_gaussian import TableGaussian, fit_covariance, fit_table
from pygeco.objectives.entries.objective import Entries


def holes(m=60, n=5, *, rank=2, noise=0.5, missing=0.25, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, rank)) @ rng.standard_normal((rank, n))
    X += noise * rng.standard_normal(X.shape)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return np.where(rng.random(X.shape) < missing, np.nan, X), X


def covariance(found):
    V = found.components
    return (V.T * found.deviations**2) @ V + found.noise * np.eye(V.shape[1])


def test_the_filled_cells_are_conditional_means_and_covariances() -> None:
    Z, _ = holes()
    known = ~np.isnan(Z)
    rng = np.random.default_rng(1)
    root = rng.standard_normal((5, 7))
    S, m = root @ root.T, rng.standard_normal(5)
    X, spread = table_gaussian._fill(
        np.where(known, Z, 0), known, row_gaps.list_gaps(known), m, np.linalg.inv(S)
    )
    total = np.zeros((5, 5))
    for x, z, K in zip(X, Z, known, strict=True):
        M = ~K
        if not M.any():
            continue
        gain = S[np.ix_(M, K)] @ np.linalg.inv(S[np.ix_(K, K)]) if K.any() else np.zeros((5, 0))
        np.testing.assert_allclose(x[M], m[M] + gain @ (z[K] - m[K]), atol=1e-9)
        assert np.array_equal(x[K], z[K])
        total[np.ix_(M, M)] += S[np.ix_(M, M)] - gain @ S[np.ix_(K, M)]
    np.testing.assert_allclose(spread, total, atol=1e-8)


@pytest.mark.parametrize("room", [1, 40, 10**6])
def test_rows_are_solved_in_blocks_of_any_size(room, monkeypatch) -> None:
    Z, _ = holes()
    expected = fit_covariance(Z)
    monkeypatch.setattr(row_gaps, "ROOM", room)
    for found, other in zip(fit_covariance(Z), expected, strict=True):
        np.testing.assert_allclose(found, other, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("n", "d"), [(6, 1), (30, 3), (4, 8)])
def test_the_strength_has_the_greatest_evidence(n, d) -> None:
    """Against the product of each row's density given the rows before it, a multivariate t."""
    rng = np.random.default_rng(2)
    X = 0.8 * rng.standard_normal((n, d)) @ rng.standard_normal((d, d))

    def evidence(k):
        scale, dof, total = k * np.eye(d), k + d + 1, 0.0
        for x in X:
            free = dof - d + 1
            total += multivariate_t.logpdf(x, shape=scale / free, df=free)
            scale, dof = scale + np.outer(x, x), dof + 1
        return total

    best = STRENGTHS[int(np.argmax([evidence(k) for k in STRENGTHS]))]
    assert choose_strength(X.T @ X, n) == best


@pytest.mark.parametrize("width", [2, 4])
def test_what_a_column_of_several_coordinates_is_by_itself_says_nothing(width) -> None:
    """The evidence is that of the other coordinates given the block, by the densities of rows."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((20, width + 2))
    X[:, 0] += X[:, -1]
    X[:, :width] @= np.linalg.inv(np.linalg.cholesky(X[:, :width].T @ X[:, :width] / 20)).T

    def evidence(k, part):
        d = part.shape[1]
        scale, dof, total = k * np.eye(d), k + d + 1, 0.0
        for x in part:
            free = dof - d + 1
            total += multivariate_t.logpdf(x, shape=scale / free, df=free)
            scale, dof = scale + np.outer(x, x), dof + 1
        return total

    known = X[:, :width]
    gains = [evidence(k, X) - evidence(k, known) for k in STRENGTHS]
    blocks = list_blocks(np.array([7] * width + [8, 9]))
    assert [block.tolist() for block in blocks] == [list(range(width))]
    found = choose_strength(X.T @ X, 20, blocks)
    assert found == STRENGTHS[int(np.argmax(gains))] < choose_strength(X.T @ X, 20)
    assert list_blocks(None) == list_blocks(np.arange(3)) == []


def test_noise_gets_a_strong_prior_and_structure_a_weak_one() -> None:
    rng = np.random.default_rng(4)
    noise = rng.standard_normal((50, 20))
    assert choose_strength(noise.T @ noise, 50) > 200
    Z, _ = holes(50, 20, noise=0.01)
    found = fit_table(Z, 0)
    assert found.noise < 1e-2


@pytest.mark.parametrize("noise", [1e-3, 1e-2, 1e-1])
@pytest.mark.parametrize(("n", "d", "rank"), [(60, 12, 3), (200, 8, 2), (40, 10, 2)])
def test_deviations_are_as_small_as_the_errors(n, d, rank, noise) -> None:
    """Where columns follow from each other but for a little noise, too, which no prior may hide."""
    rng = np.random.default_rng(7)
    X = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d))
    X = (X + noise * rng.standard_normal(X.shape)) / X.std(axis=0)
    Z = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    found = fit_table(Z, 0)
    gaps = np.isnan(Z)
    error = np.sqrt(np.mean((found.fill(Z) - X)[gaps] ** 2))
    spread = []
    for row in gaps[gaps.any(axis=1)]:
        own = np.linalg.inv(found.precision()[np.ix_(row, row)])
        spread += np.diag(own).tolist()
    assert 0.5 < np.sqrt(np.mean(spread)) / error < 2


@pytest.mark.parametrize("shape", [(200, 8), (30, 60)], ids=["tall", "wide"])
def test_the_form_is_the_covariance(shape) -> None:
    Z, X = holes(*shape, noise=0.3)
    found = fit_table(Z, 0)
    np.testing.assert_allclose(
        found.components @ found.components.T, np.eye(len(found.components)), atol=1e-8
    )
    assert np.all(found.deviations > 0)
    if shape[0] > shape[1]:
        np.testing.assert_allclose(covariance(found), fit_covariance(Z)[1], atol=1e-10)
    else:
        assert len(found.components) <= 6  # of low rank
    error = np.abs(covariance(found) - np.cov(X.T)).mean()
    assert error < 0.15


def test_a_posterior_as_a_gaussian_has_the_moments_of_its_rows() -> None:
    """New rows drawn from the prior of the rows, about the columns as they were found."""
    Z, _ = holes(60, 40, noise=0.3)
    model = fit_evidence(Entries.from_dense(Z), rank=10, seed=0).posterior
    found = TableGaussian.of_posterior(model)
    prior, cols = model.row_prior, model.cols
    W = np.random.default_rng(5).multivariate_normal(
        prior.center, np.linalg.inv(prior.precision), size=40_000
    )
    rows = model.mean + model.scale * (W[:, :-1] @ cols.factor.T + W[:, -1:] + cols.bias)
    np.testing.assert_allclose(found.mean, rows.mean(axis=0), atol=0.02)
    spread = covariance(found) - found.noise * np.eye(40)
    np.testing.assert_allclose(spread, np.cov(rows.T), atol=0.04)
    assert found.noise >= model.scale**2 / model.tau


@pytest.mark.parametrize("shape", [(1, 4), (4, 1), (0, 3), (3, 0), (2, 2)])
def test_too_little_for_a_covariance(shape) -> None:
    found = fit_table(np.arange(float(np.prod(shape))).reshape(shape) - 1, 0)
    assert np.isfinite(covariance(found)).all()
    assert not fit_table(np.full((5, 3), np.nan), 0).components.size
