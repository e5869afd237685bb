"""Principal component pursuit: its optimum against CVXPY, its published exact recovery."""

import cvxpy as cp
import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from pygeco.rivals import principal_component_pursuit


@pytest.fixture(autouse=True)
def _one_thread():
    with threadpool_limits(1):
        yield


def corrupted(n, rank, share, seed=0, size=500.0):
    """The problem of Lin, Chen and Ma's section 4: uniform errors of any size in ±500."""
    rng = np.random.default_rng(seed)
    L = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, n))
    wild = rng.random((n, n)) < share
    return L, L + wild * rng.uniform(-size, size, (n, n)), wild


@pytest.mark.parametrize("share", [0.05, 0.1])
def test_recovers_as_published(share):
    L, Y, wild = corrupted(120, 6, share)
    found = principal_component_pursuit(Y)
    assert found.converged
    assert found.n_iter < 40
    assert found.rank == 6
    assert np.linalg.norm(found.low_rank - L) <= 1e-5 * np.linalg.norm(L)
    assert np.array_equal(np.abs(found.sparse) > 1e-3, wild)
    np.testing.assert_allclose(found.low_rank + found.sparse, Y, atol=1e-7 * np.linalg.norm(Y))


@pytest.mark.parametrize("shape", [(7, 7), (5, 9)])
def test_reaches_the_convex_optimum(shape):
    rng = np.random.default_rng(1)
    Y = rng.standard_normal(shape)
    lam = 1 / np.sqrt(max(shape))
    L = cp.Variable(shape)
    best = cp.Problem(cp.Minimize(cp.normNuc(L) + lam * cp.sum(cp.abs(Y - L)))).solve(
        solver=cp.CLARABEL
    )
    found = principal_component_pursuit(Y, growth=1.05)  # a slow penalty: nearly exact
    value = np.linalg.norm(found.low_rank, "nuc") + lam * np.abs(found.sparse).sum()
    assert value == pytest.approx(best, rel=2e-3)


def test_zero_is_its_own_decomposition():
    found = principal_component_pursuit(np.zeros((3, 4)))
    assert found.converged
    assert not found.low_rank.any()
    assert not found.sparse.any()


def test_stops_at_max_iter():
    _, Y, _ = corrupted(20, 2, 0.1)
    assert not principal_component_pursuit(Y, max_iter=2).converged


def test_missing_cells_are_refused():
    with pytest.raises(ValueError, match="Y: expected a matrix of finite numbers"):
        principal_component_pursuit(np.array([[np.nan, 1.0]]))


@pytest.mark.parametrize("unit", [1e-250, 1e-6, 1e90])
def test_units_do_not_matter(unit):
    _, Y, _ = corrupted(20, 1, 0.05)
    plain, found = principal_component_pursuit(Y), principal_component_pursuit(unit * Y)
    assert found.rank == plain.rank
    assert found.n_iter == plain.n_iter
    np.testing.assert_allclose(found.low_rank / unit, plain.low_rank, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(found.sparse / unit, plain.sparse, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"weight": 0}, "weight: must be a finite number > 0, not 0"),
        ({"weight": -1.0}, "weight: must be a finite number > 0"),
        ({"weight": "large"}, "weight: must be a finite number > 0, not 'large'"),
        ({"growth": 0.5}, "growth: must be at least 1, not 0.5"),
        ({"growth": np.inf}, "growth: must be a finite number > 0"),
    ],
)
def test_wrong_settings_are_told(settings, message):
    with pytest.raises(ValueError, match=message):
        principal_component_pursuit(np.eye(3), **settings)
    with pytest.raises(ValueError, match="Y: expected a matrix of finite numbers"):
        principal_component_pursuit(1j * np.eye(3))
