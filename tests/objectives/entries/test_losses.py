"""Entries under every loss: passes, gradients and the small problem against dense formulas."""

import numba
import numpy as np
import pytest

from loss_cases import CASES, sample
from pygeco import Entries, LowRank
from pygeco.data import make_low_rank
from pygeco.engines.cpu import separable
from pygeco.objectives.spans import kronecker

EVERY = pytest.mark.parametrize("name", CASES)
SHAPES = pytest.mark.parametrize("shape", [(9, 6), (5, 8)])


def problem(name, shape=(9, 6), *, weights=True, offset=True, dtype=float, seed=0):
    """Entries with an empty row and column, and the same problem as dense arrays."""
    rng = np.random.default_rng(seed)
    seen = rng.random(shape) < 0.7
    seen[1], seen[:, 2] = False, False
    rows, cols = np.nonzero(seen)
    loss, _, y = sample(name, len(rows), seed)
    order = rng.permutation(len(rows))
    w = rng.uniform(0.5, 2, len(rows)) if weights else np.ones(len(rows))
    entries = Entries(
        rows[order],
        cols[order],
        y[order].astype(dtype),
        shape,
        loss=loss,
        sample_weight=w[order] if weights else None,
    )
    shift = np.zeros(shape)
    if offset:
        row, col = rng.standard_normal(shape[0]), rng.standard_normal(shape[1])
        shift = row[:, None] + col
        entries = entries.shifted(row, col)
    return entries, Dense(loss, rows, cols, y, w, shift)


class Dense:
    """R(A) = Σ w ℓ(A + shift, y) / Σ w on a dense A."""

    def __init__(self, loss, rows, cols, y, w, shift):
        self.loss, self.at, self.y, self.w, self.shift = loss, (rows, cols), y, w, shift

    def value(self, A):
        z = (A + self.shift)[self.at]
        return np.sum(self.w * self.loss.value(z, self.y)) / self.w.sum()

    def gradient(self, A):
        z = (A + self.shift)[self.at]
        G = np.zeros_like(A)
        G[self.at] = self.w * self.loss.slope(z, self.y) / self.w.sum()
        return G

    def curvature(self, A, U, V):
        """Σ w ℓ″ vec(u vᵀ) vec(u vᵀ)ᵀ / Σ w."""
        z = (A + self.shift)[self.at]
        h = self.w * self.loss.stiffness(z, self.y) / self.w.sum()
        pairs = np.einsum("ek,ep->ekp", U[self.at[0]], V[self.at[1]]).reshape(len(h), -1)
        return (pairs * h[:, None]).T @ pairs


@EVERY
@SHAPES
def test_gradient_is_the_dense_one(name, shape):
    entries, dense = problem(name, shape)
    A = make_low_rank(shape, 3, seed=2)
    G = entries.gradient(A)
    expected = dense.gradient(A.to_dense())
    np.testing.assert_allclose(G.matvec(np.eye(shape[1])[0]), expected[:, 0], atol=1e-14)
    for x in np.random.default_rng(3).standard_normal((3, shape[1])):
        np.testing.assert_allclose(G.matvec(x), expected @ x, atol=1e-13)
    for x in np.random.default_rng(4).standard_normal((3, shape[0])):
        np.testing.assert_allclose(G.rmatvec(x), expected.T @ x, atol=1e-13)
    np.testing.assert_allclose(G.value, dense.value(A.to_dense()), rtol=1e-13)
    np.testing.assert_allclose(G.value, entries.value(A), rtol=1e-13)
    np.testing.assert_allclose(G.inner, np.sum(expected * A.to_dense()), atol=1e-13)
    np.testing.assert_allclose(entries.value_at_zero, dense.value(np.zeros(shape)), rtol=1e-13)


@EVERY
def test_gradient_is_the_derivative(name):
    entries, _ = problem(name)
    A, D = make_low_rank((9, 6), 2, seed=2), make_low_rank((9, 6), 1, seed=5)
    slope = float(D.s[0] * D.U[:, 0] @ entries.gradient(A).matvec(D.V[:, 0]))

    def along(t):
        both = LowRank(np.hstack([A.U, D.U]), np.append(A.s, t * D.s), np.hstack([A.V, D.V]))
        return entries.value(both)

    h = 1e-5
    np.testing.assert_allclose((along(h) - along(-h)) / (2 * h), slope, atol=2e-6, rtol=1e-5)


@EVERY
@SHAPES
def test_span_is_the_objective_on_cores(name, shape):
    entries, dense = problem(name, shape)
    A = make_low_rank(shape, 3, seed=2)
    span = entries.span(A)
    B = np.random.default_rng(6).standard_normal((3, 3))
    full = A.U @ B @ A.V.T
    np.testing.assert_allclose(span.value(B), dense.value(full), rtol=1e-12)
    slope = A.U.T @ dense.gradient(full) @ A.V
    np.testing.assert_allclose(span.slope(B), slope, atol=1e-13)
    K = dense.curvature(full, A.U, A.V)
    ridge = 0.3
    step = np.linalg.solve(K + ridge * np.eye(9), -(slope + ridge * B).reshape(-1)).reshape(3, 3)
    np.testing.assert_allclose(span.newton(B, ridge), step, rtol=1e-9)
    np.testing.assert_allclose(span.slope(B), slope, atol=1e-13)  # remembered, not recomputed
    np.testing.assert_allclose(span.value(B), dense.value(full), rtol=1e-12)
    b = np.array([1.0, -0.5, 0.2])
    diagonal = A.U @ np.diag(b) @ A.V.T
    slope_b, curvature_b = span.diagonal(b)
    np.testing.assert_allclose(slope_b, np.diag(A.U.T @ dense.gradient(diagonal) @ A.V), atol=1e-13)
    K = dense.curvature(diagonal, A.U, A.V)
    np.testing.assert_allclose(curvature_b, K[::4, ::4], atol=1e-13)


@EVERY
@SHAPES
def test_span_grows_and_turns(name, shape):
    entries, dense = problem(name, shape)
    A = make_low_rank(shape, 2, seed=2).append(np.ones(shape[0]), np.arange(shape[1]) - 1.0)
    span = entries.span(LowRank(A.U[:, :2], A.s[:2], A.V[:, :2]))
    span = span.append(A.U[:, 2], A.V[:, 2])
    rng = np.random.default_rng(7)
    P, Q = (
        np.linalg.qr(rng.standard_normal((3, 3)))[0],
        np.linalg.qr(rng.standard_normal((3, 2)))[0],
    )
    turned = span.rotate(P, Q)
    B = rng.standard_normal((3, 2))
    full = A.U @ P @ B @ Q.T @ A.V.T
    np.testing.assert_allclose(turned.value(B), dense.value(full), rtol=1e-11)
    slope = (A.U @ P).T @ dense.gradient(full) @ (A.V @ Q)
    np.testing.assert_allclose(turned.slope(B), slope, atol=1e-12)
    K = dense.curvature(full, A.U @ P, A.V @ Q)
    step = np.linalg.solve(K + np.eye(6), -(slope + B).reshape(-1)).reshape(3, 2)
    np.testing.assert_allclose(turned.newton(B, 1.0), step, rtol=1e-9)


@EVERY
def test_lipschitz_bounds_the_curvature_at_zero(name):
    entries, dense = problem(name)
    A = make_low_rank((9, 6), 3, seed=2)
    K = dense.curvature(np.zeros((9, 6)), A.U, A.V)
    assert entries.span(A).lipschitz() >= np.linalg.eigvalsh(K)[-1] * (1 - 1e-12)


@pytest.mark.parametrize("name", ["logistic", "poisson", "huber"])
def test_conjugate_gradients_give_the_same_step(name, monkeypatch):
    entries, _ = problem(name, (30, 20))
    A = make_low_rank((30, 20), 4, seed=2)
    B = np.random.default_rng(6).standard_normal((4, 4))
    direct = entries.span(A).newton(B, 0.01)
    monkeypatch.setattr(kronecker, "DIRECT", 0)
    np.testing.assert_allclose(entries.span(A).newton(B, 0.01), direct, rtol=1e-3, atol=1e-5)


@EVERY
def test_same_bits_for_any_number_of_threads(name, monkeypatch):
    if numba.config.NUMBA_NUM_THREADS < 2:
        pytest.skip("one core only")
    monkeypatch.setattr(separable, "CHUNK_CELLS", 64)
    rng = np.random.default_rng(0)
    rows, cols = np.nonzero(rng.random((60, 40)) < 0.6)
    loss, _, y = sample(name, len(rows))
    entries = Entries(rows, cols, y.astype(np.float32), (60, 40), loss=loss)
    A = make_low_rank((60, 40), 3, seed=2)
    B = rng.standard_normal((3, 3))

    def everything():
        G, span = entries.gradient(A), entries.span(A)
        return (
            G.value, G.inner, G.matvec(np.ones(40)).tobytes(), G.rmatvec(np.ones(60)).tobytes(),
            span.newton(B, 0.1).tobytes(), span.value(B), entries.value(A),
        )  # fmt: skip

    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        alone = everything()
        numba.set_num_threads(2)
        assert everything() == alone
    finally:
        numba.set_num_threads(before)


@EVERY
def test_chunks_do_not_change_the_sums(name, monkeypatch):
    entries, _ = problem(name, (40, 30))
    A = make_low_rank((40, 30), 3, seed=2)
    whole = entries.gradient(A)
    monkeypatch.setattr(separable, "CHUNK_CELLS", 10)
    cut = entries.gradient(A)
    np.testing.assert_allclose(cut.value, whole.value, rtol=1e-13)
    np.testing.assert_array_equal(cut.by_row, whole.by_row)


@EVERY
def test_float32_is_close_to_float64(name):
    wide, _ = problem(name, (30, 20))
    narrow, _ = problem(name, (30, 20), dtype=np.float32)
    assert narrow.dtype == np.float32
    A = make_low_rank((30, 20), 2, seed=2)
    np.testing.assert_allclose(narrow.value(A), wide.value(A), rtol=1e-5)
    x = np.ones(20)
    np.testing.assert_allclose(narrow.gradient(A).matvec(x), wide.gradient(A).matvec(x), atol=1e-5)


@EVERY
def test_weight_zero_is_no_cell_and_weights_scale_out(name):
    rng = np.random.default_rng(0)
    rows, cols = np.nonzero(rng.random((9, 6)) < 0.8)
    loss, _, y = sample(name, len(rows))
    w = rng.integers(0, 3, len(rows)).astype(float)
    kept = w > 0
    A = make_low_rank((9, 6), 2, seed=2)
    some = Entries(rows, cols, y, (9, 6), loss=loss, sample_weight=w)
    few = Entries(rows[kept], cols[kept], y[kept], (9, 6), loss=loss, sample_weight=7 * w[kept])
    np.testing.assert_allclose(some.value(A), few.value(A), rtol=1e-12)
    x = rng.standard_normal(6)
    np.testing.assert_allclose(some.gradient(A).matvec(x), few.gradient(A).matvec(x), atol=1e-14)
    np.testing.assert_allclose(some.smoothness, few.smoothness)


def test_shifts_add_up():
    entries, _ = problem("logistic", offset=False)
    rng = np.random.default_rng(0)
    row, col = rng.standard_normal((2, 9)), rng.standard_normal((2, 6))
    A = make_low_rank((9, 6), 2, seed=2)
    twice = entries.shifted(row[0], col[0]).shifted(row[1], col[1])
    np.testing.assert_allclose(twice.value(A), entries.shifted(row.sum(0), col.sum(0)).value(A))


@pytest.mark.parametrize(
    ("loss", "values", "words"),
    [
        ("logistic", [0.0, 1.0, 2.0], "values: the logistic loss needs labels"),
        ("smoothed-hinge", [1.0, 2.0, 3.0], "values: the smoothed-hinge loss needs labels"),
        ("poisson", [0.0, -1.0, 2.0], "values: the poisson loss needs counts"),
        ("ordinal", [2.0, 2.0, 2.0], "values: the ordinal loss needs at least two"),
        ("hubber", [0.0, 1.0, 2.0], "loss: unknown name 'hubber'"),
    ],
)
def test_values_outside_the_domain(loss, values, words):
    with pytest.raises(ValueError, match=words):
        Entries([0, 1, 2], [0, 1, 0], values, (3, 2), loss=loss)


def test_repeated_cells_are_merged_before_they_become_targets():
    stars = Entries(
        [0, 0, 1, 2], [0, 0, 1, 1], [1.0, 3.0, 5.0, 2.0], loss="ordinal", duplicates="mean"
    )
    assert stars.loss.levels == (2.0, 5.0)
    np.testing.assert_array_equal(stars.by_row.values, [0, 1, 0])
