import numpy as np
import pytest

from oracles import orthonormal, random_low_rank
from pygeco import LowRank
from pygeco.arrays import low_rank


@pytest.mark.parametrize("shape", [(7, 5), (5, 7), (3, 3), (1, 4), (4, 1)])
def test_every_view_agrees_with_the_dense_matrix(shape) -> None:
    A = random_low_rank(shape, 3)
    dense = A.U @ np.diag(A.s) @ A.V.T
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal(shape[1]), rng.standard_normal(shape[0])
    i, j = np.indices(shape)
    np.testing.assert_allclose(A.to_dense(), dense)
    np.testing.assert_allclose(A.matvec(x), dense @ x)
    np.testing.assert_allclose(A.rmatvec(y), dense.T @ y)
    np.testing.assert_allclose(A.entries(i, j), dense)
    np.testing.assert_allclose(A.T.to_dense(), dense.T)
    assert A.shape == shape
    assert A.rank == 3


def test_entries_in_blocks_and_by_broadcasting() -> None:
    A = random_low_rank((300, 400), 2)
    i = np.random.default_rng(0).integers(0, 300, 150_000)
    j = np.random.default_rng(1).integers(0, 400, 150_000)
    np.testing.assert_allclose(A.entries(i, j), A.to_dense()[i, j])
    np.testing.assert_allclose(A.entries(3, np.arange(400)), A.to_dense()[3])
    assert A.entries(np.zeros(0, int), np.zeros(0, int)).shape == (0,)


@pytest.mark.parametrize("shape", [(7, 5), (5, 7), (2, 6)])
def test_svd_is_the_singular_value_decomposition(shape) -> None:
    A = random_low_rank(shape, 4)
    S = A.svd()
    expected = np.zeros(S.rank)
    values = np.linalg.svd(A.to_dense(), compute_uv=False)[: S.rank]
    expected[: len(values)] = values
    np.testing.assert_allclose(S.s, expected, atol=1e-12)
    np.testing.assert_allclose(S.to_dense(), A.to_dense(), atol=1e-12)
    assert orthonormal(S.U)
    assert orthonormal(S.V)


@pytest.mark.parametrize("rank", [0, 1, 3])
def test_truncated_svd_is_the_best_approximation(rank) -> None:
    A = random_low_rank((8, 6), 5).svd()
    error = np.linalg.norm(A.to_dense() - A.truncate(rank).to_dense())
    np.testing.assert_allclose(error, np.linalg.norm(A.s[rank:]))  # Eckart and Young
    same = LowRank.from_dense(A.to_dense(), rank)
    np.testing.assert_allclose(same.to_dense(), A.truncate(rank).to_dense(), atol=1e-12)


def test_from_dense_finds_the_rank() -> None:
    A = random_low_rank((9, 8), 3)
    assert LowRank.from_dense(A.to_dense()).rank == 3
    assert LowRank.from_dense(np.zeros((4, 3))).rank == 0


def appended(A: LowRank, u, v) -> LowRank:
    grown = A.append(u, v)
    assert grown.rank == A.rank + 1
    assert orthonormal(grown.U)
    assert orthonormal(grown.V)
    np.testing.assert_allclose(grown.to_dense(), A.to_dense(), atol=1e-12)
    return grown


def test_append_keeps_the_matrix_and_adds_the_pair_to_the_spans() -> None:
    A = random_low_rank().svd()
    rng = np.random.default_rng(5)
    u, v = rng.standard_normal(7), rng.standard_normal(5)
    grown = appended(A, u, v)
    np.testing.assert_allclose(grown.U @ (grown.U.T @ u), u)
    np.testing.assert_allclose(grown.V @ (grown.V.T @ v), v)


@pytest.mark.parametrize("push", [0.0, 1e-14, 1e-9, 1e-6])
def test_append_of_a_vector_in_or_near_the_span(push) -> None:
    A = random_low_rank().svd()
    rng = np.random.default_rng(6)
    u = A.U @ rng.standard_normal(3) + push * rng.standard_normal(7)
    appended(A, u, A.V[:, 0] + push * rng.standard_normal(5))


def test_append_of_a_zero_vector_and_of_ones_already_there() -> None:
    A = appended(LowRank.zero((4, 3)), np.ones(4), np.ones(3))
    A = appended(A, np.zeros(4), np.zeros(3))
    appended(A, np.ones(4), np.ones(3))


def test_append_until_the_space_is_full() -> None:
    A = LowRank.zero((3, 6))
    for _ in range(3):
        A = appended(A, np.ones(3), np.ones(6))
    with pytest.raises(ValueError, match=r"^rank: 4 columns do not fit in dimension 3"):
        A.append(np.ones(3), np.ones(6))


def test_append_to_long_factors_needs_little_memory() -> None:
    import tracemalloc

    A = LowRank.zero((500_000, 4))
    for k in range(3):
        A = A.append(np.arange(500_000.0) ** k, np.arange(4.0) ** k)
    tracemalloc.start()
    A.append(np.zeros(500_000), np.zeros(4))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 16 * 500_000 * 8


def test_rotate_is_step_8_and_astype_keeps_the_matrix() -> None:
    A = random_low_rank().svd()
    P, s, Qt = np.linalg.svd(np.random.default_rng(2).standard_normal((3, 3)))
    expected = A.U @ (P * s) @ Qt @ A.V.T
    np.testing.assert_allclose(A.rotate(P, s, Qt.T).to_dense(), expected, atol=1e-12)
    small = A.astype(np.float32)
    assert small.U.dtype == small.s.dtype == small.V.dtype == np.float32
    np.testing.assert_allclose(small.to_dense(), A.to_dense(), atol=1e-5)


@pytest.mark.parametrize("rank", [0, 1, 4])
@pytest.mark.parametrize("width", [1, 5])
def test_a_product_with_an_orthonormal_side_has_the_same_svd(rank, width) -> None:
    rng = np.random.default_rng(0)
    U = np.linalg.qr(rng.standard_normal((9, rank)))[0]
    W = rng.standard_normal((width, rank))  # fewer rows than columns too
    found, A = LowRank.within(U, W), U @ W.T
    np.testing.assert_allclose(found.to_dense(), A, atol=1e-13)
    s = np.linalg.svd(A, compute_uv=False)[: len(found.s)]
    np.testing.assert_allclose(found.s, s, atol=1e-13)
    assert found.orthonormal


@pytest.mark.parametrize("count", [0, 1, low_rank.PAIRS, 2 * low_rank.PAIRS + 3])
def test_products_of_pairs_of_rows(count):
    rng = np.random.default_rng(count)
    P, Q = rng.standard_normal((30, 4)).astype(np.float32), rng.standard_normal((20, 4))
    i, j = rng.integers(-30, 30, count), rng.integers(0, 20, count)
    found = low_rank.multiply_pairs(P, Q, i, j)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, np.sum(P[i] * Q[j], axis=1), atol=1e-12)
