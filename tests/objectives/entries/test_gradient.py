"""Gradients over cells, against dense formulas and differences."""

import numpy as np
import pytest

from entries_cases import EVERY, SHAPES, problem, sparse
from pygeco import Entries, LowRank, minimize
from pygeco.data import make_low_rank


@EVERY
@SHAPES
def test_gradient_is_the_dense_one(name, shape):
    entries, dense = problem(name, shape)
    A = make_low_rank(shape, 3, random_state=2)
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
    A, D = make_low_rank((9, 6), 2, random_state=2), make_low_rank((9, 6), 1, random_state=5)
    slope = float(D.s[0] * D.U[:, 0] @ entries.gradient(A).matvec(D.V[:, 0]))

    def along(t):
        both = LowRank(np.hstack([A.U, D.U]), np.append(A.s, t * D.s), np.hstack([A.V, D.V]))
        return entries.value(both)

    h = 1e-5
    np.testing.assert_allclose((along(h) - along(-h)) / (2 * h), slope, atol=2e-6, rtol=1e-5)


def some(seed: int = 1, rank: int = 3) -> LowRank:
    rng = np.random.default_rng(seed)
    return LowRank(rng.standard_normal((37, rank)), np.ones(rank), rng.standard_normal((23, rank)))


@pytest.mark.parametrize("weighted", [False, True])
def test_a_lean_gradient_is_the_gradient(weighted):
    X = sparse(2, np.float64).tocoo()
    weight = np.random.default_rng(3).random(X.nnz) if weighted else None
    fat, lean = (
        Entries(*X.coords, X.data, X.shape, sample_weight=weight, lean=lean)
        for lean in (False, True)
    )
    A, rng = some(), np.random.default_rng(4)
    row, col, P = rng.random(37), rng.random(23), rng.standard_normal((23, 4))
    pairs = [
        (fat.gradient(A), lean.gradient(A)),
        (fat.shift(row, col).gradient(A), lean.gradient_beyond(A, row, col)),
        (fat.shift(row, col).gradient(A), fat.gradient_beyond(A, row, col)),
    ]
    for G, H in pairs:
        assert H.value == pytest.approx(G.value, rel=1e-12)
        assert H.inner == pytest.approx(G.inner, rel=1e-9)
        for t in (0, slice(None)):
            x = P[:, t]
            y = np.random.default_rng(5).standard_normal((37, 4))[:, t]
            forward, back = ("matvec", "rmatvec") if t == 0 else ("matmat", "rmatmat")
            np.testing.assert_allclose(getattr(H, forward)(x), getattr(G, forward)(x), atol=1e-12)
            np.testing.assert_allclose(getattr(H, back)(y), getattr(G, back)(y), atol=1e-12)


def test_a_lean_path_is_the_path():
    X = sparse(6, np.float64).tocoo()
    fat, lean = (
        minimize(Entries(*X.coords, X.data, X.shape, lean=lean), 4, random_state=0)
        for lean in (False, True)
    )
    for a, b in zip(fat, lean, strict=True):
        assert b.objective == pytest.approx(a.objective, rel=1e-6)
