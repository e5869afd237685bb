"""Products and searches of several columns at once."""

import numpy as np
import pytest

from oracles import Matrix
from pygeco.algorithm.directions import Lanczos, Power, Signs, leading_block
from pygeco.algorithm.krylov import (
    AtOnce,
    Basis,
    InTurn,
    SigmaBound,
    find_leading_triplet,
    find_leading_value,
    norm,
    unit,
)


@pytest.mark.parametrize("shape", [(9, 6), (6, 9), (25, 20)])
def test_both_products_at_once_give_the_same_bidiagonal_matrix(shape) -> None:
    rng = np.random.default_rng(0)
    M, x = Matrix(rng.standard_normal(shape)), rng.standard_normal(shape[1])
    sides = []
    for kind in (InTurn, AtOnce):
        V = Basis(21)
        V.append(x / np.linalg.norm(x))
        sides.append((kind(M, V, 20), V))
    (turn, V), (once, W) = sides
    for _ in range(5):
        np.testing.assert_allclose(once.next(), turn.next(), rtol=1e-9)
        np.testing.assert_allclose(W.last, V.last, atol=1e-8)
    assert once.passes == turn.passes == 10
    weights = rng.standard_normal(5)
    np.testing.assert_allclose(once.left(weights), turn.left(weights), atol=1e-8)
    assert (once.passes, turn.passes) == (11, 10)
    # Qᵀ Q = I and M V = U B, as Golub and Kahan have it.
    Q = V.memory[: V.size]
    np.testing.assert_allclose(Q @ Q.T, np.eye(6), atol=1e-12)


@pytest.mark.parametrize("steps", [1, 2, 3])
@pytest.mark.parametrize("c", [0.2, 0.01])
def test_the_bound_is_where_no_polynomial_is_smaller(steps, c) -> None:
    """σ with min ‖p(M)x‖ = c over the p of this degree with p(σ²) = 1, M = GᵀG, ‖x‖ = 1.

    The minimum is that of a small quadratic form over the coefficients of p, with the eigenvalues
    of M and the parts of x along its eigenvectors.
    """
    rng = np.random.default_rng(3)
    s = np.array([1.0, 0.9, 0.7, 0.4, 0.2])
    x = rng.standard_normal(5)
    x /= np.linalg.norm(x)
    V = Basis(9)
    V.append(x)
    search = InTurn(Matrix(np.diag(s)), V, 8)
    alphas, betas = zip(*(search.next() for _ in range(steps)), strict=True)
    theta = find_leading_triplet(list(alphas), list(betas))[1]
    bound = SigmaBound(list(alphas), list(betas), theta, np.log(c))
    found = bound.find()

    def smallest(sigma):
        powers = np.vander(s**2, steps + 1)
        at = np.vander([sigma**2], steps + 1)[0]
        form = powers.T @ (x[:, None] ** 2 * powers)
        return 1 / np.sqrt(at @ np.linalg.solve(form, at))

    assert found > theta
    np.testing.assert_allclose(smallest(found), c, rtol=1e-4)
    np.testing.assert_allclose(find_leading_value(list(alphas), list(betas)), theta, rtol=1e-12)
    reached = 1 - theta / found  # the τ that is proved
    assert bound.is_proved(1.001 * reached)
    assert not bound.is_proved(0.999 * reached)
    assert not bound.is_proved(0.0)


@pytest.mark.parametrize("scale", [1.0, 1e-9, 1e9])
@pytest.mark.parametrize("kind", [InTurn, AtOnce])
def test_nothing_is_left_beyond_the_rank(kind, scale) -> None:
    rng = np.random.default_rng(1)
    M = Matrix(scale * np.outer(rng.standard_normal(8), rng.standard_normal(7)))
    V = Basis(10)
    x = rng.standard_normal(7)
    V.append(x / np.linalg.norm(x))
    steps = kind(M, V, 9)
    alpha, beta = steps.next()
    np.testing.assert_allclose(np.hypot(alpha, beta), np.linalg.norm(M.M), rtol=1e-9)
    assert steps.next() == (0.0, 0.0)


def test_what_is_left_of_a_vector_near_the_span_is_orthogonal_to_it() -> None:
    """A second projection takes away what rounding left of the first."""
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((30, 6)))[0].T
    basis = Basis(6)
    for q in Q[:5]:
        basis.append(q)
    for near in (1e-3, 1e-8):
        unit, size = basis.residual(rng.standard_normal(5) @ Q[:5] + near * Q[5])
        assert np.abs(Q[:5] @ unit).max() < 1e-14
        assert np.linalg.norm(unit) == pytest.approx(1, rel=1e-6)
        assert size == pytest.approx(near, rel=1e-6)
    assert basis.residual(Q[2])[1] == 0.0  # what is left is rounding


def test_norms_of_any_vector() -> None:
    for x in ([3.0, 4.0], [3e200, 4e200], [3e-200, 4e-200], [3e-320, 4e-320]):
        size = norm(np.array(x))
        assert size == pytest.approx(5 / 3 * x[0], rel=1e-3)
        np.testing.assert_allclose(unit(np.array(x))[0], [0.6, 0.8], rtol=1e-3)
    assert norm(np.array([1.0, -np.inf])) == np.inf
    assert norm(np.zeros(3)) == norm(np.zeros(0)) == 0.0
    np.testing.assert_array_equal(unit(np.zeros(3))[0], 0.0)


class Kind:
    """Of a kind of its own: it counts the arrays that are made like it."""

    def __init__(self, distant=False):
        self.made, self.distant = 0, distant

    def __array_function__(self, function, types, args, kwargs):
        self.made += 1
        return function(*args, **kwargs)


class Elsewhere(Matrix):
    def __init__(self, M, distant=False):
        super().__init__(M)
        object.__setattr__(self, "own", Kind(distant))

    @property
    def kind(self):
        return self.own


def test_every_vector_that_is_made_is_of_the_operators_kind() -> None:
    M, rng = np.random.default_rng(0).standard_normal((9, 6)), np.random.default_rng(1)
    for search in (Lanczos(), Power(), Signs()):
        full, zero = Elsewhere(M), Elsewhere(0 * M)
        search(full, rng)
        assert full.kind.made == 1  # the start
        search(zero, rng)
        assert zero.kind.made == 3  # and two vectors of zeros
    G = Elsewhere(M)
    leading_block(G, 2, rng)
    assert G.kind.made == 1


def test_both_products_are_one_journey_where_the_data_are_distant() -> None:
    """The same pair, and one more product for its left side, which was not kept there."""
    M = np.random.default_rng(0).standard_normal((30, 20))
    near, far = (
        Lanczos()(Elsewhere(M, distant), np.random.default_rng(1)) for distant in (False, True)
    )
    assert far.passes == near.passes + 1
    np.testing.assert_allclose([far.sigma, far.upper], [near.sigma, near.upper], rtol=1e-9)
    np.testing.assert_allclose(far.u, near.u, atol=1e-7)
    np.testing.assert_allclose(far.v, near.v, atol=1e-7)
