"""The matrix Σ_j G_j ⊗ y_j y_jᵀ on cores, against its definition."""

import numpy as np
import pytest

from pygeco.objectives.spans import kronecker


def problem(k=3, t=4, n=9, seed=0):
    rng = np.random.default_rng(seed)
    L, Y = rng.standard_normal((n, k, k)), rng.standard_normal((n, t))
    return L @ L.transpose(0, 2, 1), Y, rng.standard_normal((k, t))


@pytest.mark.parametrize("sizes", [(3, 4, 9), (1, 2, 5), (4, 1, 3), (2, 2, 1)])
def test_matrix_and_product_are_the_sum_of_kronecker_products(sizes, monkeypatch) -> None:
    monkeypatch.setattr(kronecker, "GROUPS_AT_ONCE", 4)  # several blocks of the sum
    G, Y, C = problem(*sizes)
    K = sum(np.kron(g, np.outer(y, y)) for g, y in zip(G, Y, strict=True))
    np.testing.assert_allclose(kronecker.form_curvature(G, Y), K, atol=1e-12)
    np.testing.assert_allclose(kronecker.apply_curvature(G, Y, C).reshape(-1), K @ C.reshape(-1))


def test_conjugate_gradients_solve_the_system() -> None:
    G, Y, force = problem()
    K = kronecker.form_curvature(G, Y)
    found = kronecker.conjugate_gradients(G, Y, force, 0.3)
    expected = np.linalg.solve(K + 0.3 * np.eye(len(K)), force.reshape(-1))
    np.testing.assert_allclose(found.reshape(-1), expected, rtol=1e-7)


def test_the_largest_gram_bounds_the_matrix() -> None:
    G, Y, _ = problem(n=30)
    Q = np.linalg.qr(Y)[0]
    assert np.linalg.norm(kronecker.form_curvature(G, Q), 2) <= kronecker.bound_curvature(G) * (
        1 + 1e-12
    )
    assert kronecker.bound_curvature(G[:0]) == 0.0


def test_a_model_is_the_parabola_of_its_slope_and_curvature() -> None:
    G, Y, force = problem()
    B = np.ones_like(force)
    model = kronecker.Model(B, 2.0, force, lambda D: kronecker.apply_curvature(G, Y, D), 1.0)
    assert model.value(B) == 2.0
    C, step = B + 0.1 * force, 1e-6
    for D in np.eye(force.size).reshape(-1, *force.shape):
        rise = (model.value(C + step * D) - model.value(C - step * D)) / (2 * step)
        assert rise == pytest.approx(np.sum(model.slope(C) * D), rel=1e-5, abs=1e-5)
