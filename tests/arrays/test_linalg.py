import numpy as np
import pytest

from pygeco.arrays.linalg import (
    LARGE,
    find_inverse_root,
    find_triangle,
    invert_gram,
    mirror_lower,
    qr,
    solve_triangle,
)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("condition", [1.0, 1e3, 1e5, 1e9, 1e14, np.inf])
def test_a_large_qr_is_as_orthonormal_as_householders(dtype, condition) -> None:
    """Well and badly conditioned columns, at very different scales, and dependent ones."""
    rng = np.random.default_rng(0)
    k = 6
    basis = np.linalg.qr(rng.standard_normal((LARGE // k + 1, k)))[0]
    spectrum = np.geomspace(1, 1 / condition, k) if condition < np.inf else np.r_[np.ones(5), 0.0]
    X = (basis * spectrum) @ np.linalg.qr(rng.standard_normal((k, k)))[0]
    X = (X * np.array([1e-8, 1, 1e6, 1, 1e-3, 1])).astype(dtype)
    Q, R = qr(X)
    eps = np.finfo(dtype).eps
    np.testing.assert_allclose(Q.T @ Q, np.eye(k), atol=50 * eps)
    sizes = np.linalg.norm(X, axis=0)
    assert np.abs((Q @ R - X) / sizes).max() < 50 * eps
    assert np.all(np.diag(R) >= 0)
    assert np.array_equal(R, np.triu(R))
    if condition <= 1e3:  # then it is unique: the method does not matter
        signs = np.sign(np.diag(np.linalg.qr(X.astype(float))[1]))
        other = np.linalg.qr(X.astype(float))[0] * signs
        assert np.abs(Q - other).max() < 1e4 * eps


def test_a_small_qr_and_one_without_columns() -> None:
    X = np.random.default_rng(0).standard_normal((5, 3))
    Q, R = qr(X)
    np.testing.assert_allclose(Q @ R, X)
    Q, R = qr(np.zeros((LARGE, 0)))
    assert Q.shape == (LARGE, 0)
    assert R.shape == (0, 0)


@pytest.mark.parametrize("size", [1, 2, 41])
def test_the_root_of_an_inverse(size) -> None:
    rng = np.random.default_rng(size)
    X = rng.standard_normal((3 * size, size)) * np.geomspace(1e-3, 1e3, size)
    M = X.T @ X
    given = M.copy()
    L = find_inverse_root(M)
    wanted = np.linalg.cholesky(np.linalg.inv(M))
    np.testing.assert_allclose(L, wanted, rtol=1e-7, atol=1e-9 * np.abs(wanted).max())
    np.testing.assert_array_equal(M, given)
    x = rng.standard_normal(size)
    np.testing.assert_allclose(solve_triangle(L, x), np.linalg.solve(L.T, x), rtol=1e-8)
    with pytest.raises(np.linalg.LinAlgError):
        find_inverse_root(-M)


@pytest.mark.parametrize("size", [0, 1, 5])
def test_a_lower_triangle_mirrored(size) -> None:
    M = np.random.default_rng(size).standard_normal((size, size))
    np.testing.assert_array_equal(mirror_lower(M), np.tril(M) + np.tril(M, -1).T)


@pytest.mark.parametrize("condition", [1, 1e3, 1e7, 1e20])
@pytest.mark.parametrize("rows", [30, 20_000])
def test_a_triangle_alone_is_that_of_qr(rows, condition) -> None:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((rows, 6)) @ np.diag(np.geomspace(1, condition, 6))
    mixed = X @ rng.standard_normal((6, 6)) if condition < 1e6 else X
    np.testing.assert_allclose(
        find_triangle(mixed), qr(mixed)[1], atol=1e-9 * np.linalg.norm(mixed)
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1, 5, 40])
def test_the_inverse_of_a_gram_whatever_the_lengths_of_its_columns(size, dtype) -> None:
    rng = np.random.default_rng(size)
    X = rng.standard_normal((200, size)) * 10.0 ** rng.integers(-4, 5, size)
    G = X.T @ X
    sizes = np.sqrt(np.diag(G))
    found = invert_gram(G.astype(dtype), 1e-5)
    wanted = np.linalg.inv(G / np.outer(sizes, sizes))
    np.testing.assert_allclose(found * np.outer(sizes, sizes), wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("rows", "columns"), [(3, 8), (40, 8), (0, 4)])
def test_the_inverse_of_a_gram_of_columns_that_vanish_or_depend_on_others(rows, columns) -> None:
    X = np.random.default_rng(rows).standard_normal((rows, columns))
    X[:, -1], X[:, -2] = 0, X[:, 0] - X[:, 1] if columns > 4 else 0
    G = X.T @ X
    found = invert_gram(G, 1e-9)
    assert np.isfinite(found).all()
    right = X.T @ np.random.default_rng(1).standard_normal((rows, 2))
    np.testing.assert_allclose(G @ found @ right, right, atol=1e-7)
    assert not found[-1].any()
