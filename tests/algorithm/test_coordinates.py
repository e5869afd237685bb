"""Coordinates in which an objective bends alike, and what they save."""

import numpy as np
import pytest
import scipy.sparse as sp

from oracles import random_low_rank
from pygeco import Features, LowRank, Quadratic, Ridge, Trace
from pygeco.algorithm.coordinates import (
    ease_curvature,
    find_ease,
    find_linear_ease,
    split_evenly,
    weigh_components,
)
from pygeco.algorithm.refinements import refine
from pygeco.objectives import validation


def curved(rank=6, size=6, seed=0):
    rng = np.random.default_rng(seed)
    M = rng.standard_normal((size, rank)) * np.logspace(-4, 4, size)[:, None]
    return M @ M.T, rng


@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_any_curvature_becomes_even(ridge):
    bend, rng = curved()
    for given, whole in ((bend, bend), (np.diag(bend), np.diag(np.diag(bend)))):
        ease = ease_curvature(given, ridge)
        T = ease.apply(np.eye(6))
        np.testing.assert_allclose(T.T @ (whole + ridge * np.eye(6)) @ T, np.eye(6), atol=1e-6)
        x = rng.standard_normal((6, 2))
        np.testing.assert_allclose(ease.invert(ease.apply(x)), x, rtol=1e-6)
        np.testing.assert_allclose(ease.transpose(x), T.T @ x, rtol=1e-9)


def test_what_the_data_do_not_see_stays_in_reach():
    bend, rng = curved(rank=2)
    for given in (bend, np.zeros((6, 6)), np.zeros(6)):
        ease = ease_curvature(given, 0.0)
        x = rng.standard_normal((6, 2))
        assert np.isfinite(ease.apply(x)).all()
        np.testing.assert_allclose(ease.invert(ease.apply(x)), x, rtol=1e-6)


@pytest.mark.parametrize("limit", [0, 1000])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_linear_part_by_its_own_columns(monkeypatch, limit, form):
    monkeypatch.setattr(validation, "MAX_GRAM_SIZE", limit)
    rng = np.random.default_rng(0)
    F, h = rng.standard_normal((30, 4)), rng.uniform(0.1, 1, (30, 1))
    ridge = np.array([[0.1], [0.1], [0.1], [0.0]])
    ease = find_linear_ease(form(F), h, ridge)
    whole = F.T @ (h * F) + 2 * np.diag(ridge[:, 0])
    T = ease.apply(np.eye(4))
    even = T.T @ whole @ T
    np.testing.assert_allclose(even if limit else np.diag(np.diag(even)), np.eye(4), atol=1e-12)


def test_factors_in_them_are_those_of_the_matrix():
    rng = np.random.default_rng(1)
    X, A = rng.standard_normal((30, 5)) * [1, 10, 0.1, 1, 3], random_low_rank((4, 5), 3)
    ease = find_ease(Features(X, X @ rng.standard_normal((5, 4))), A, Ridge(0.1))
    L, x = split_evenly(A, ease, symmetric=False)
    np.testing.assert_allclose(L @ ease.apply(x).T, A.to_dense(), atol=1e-10)
    np.testing.assert_allclose(np.linalg.norm(L, axis=0), np.linalg.norm(x, axis=0))
    w, E = np.array([3.0, 0.5]), np.linalg.qr(rng.standard_normal((5, 2)))[0]
    ease = find_ease(Quadratic(X, X[:, 0] ** 2), LowRank(E, w, E), None)
    (x,) = split_evenly(LowRank(E, w, E), ease, symmetric=True)
    np.testing.assert_allclose(ease.apply(x) @ ease.apply(x).T, (E * w) @ E.T, atol=1e-10)
    np.testing.assert_allclose(weigh_components(np.diag([3.0, 0.9, 0.0]), None), [1, 0.3, 0.1])
    assert weigh_components(np.diag([3.0, 1.0]), Trace(0.1)).tolist() == [1, 1]
    assert weigh_components(np.zeros((3, 2)), None).tolist() == [1, 1]


def passes(objective, A, penalty=None):
    return refine(objective, A, penalty).passes


@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_small_components_cost_no_more_than_large_ones(loss):
    rng = np.random.default_rng(2)
    X, E = rng.standard_normal((200, 12)), rng.standard_normal((200, 8))
    U, V = (np.linalg.qr(rng.standard_normal((k, 4)))[0] for k in (8, 12))
    near, counts = V + 0.01 * rng.standard_normal(V.shape), []
    for s in (np.ones(4), np.array([1, 0.3, 0.1, 0.03])):
        objective = Features(X, X @ (V * s) @ U.T + 0.01 * E, loss)
        counts.append(passes(objective, LowRank.product(U * s, near).svd()))
    assert counts[1] <= 2 * counts[0]


def test_correlated_inputs_of_a_quadratic_function_cost_no_more_than_others():
    rng = np.random.default_rng(3)
    X, M = rng.standard_normal((300, 6)), np.linalg.qr(rng.standard_normal((6, 6)))[0]
    M = M * np.logspace(0, -2, 6) @ np.linalg.qr(rng.standard_normal((6, 6)))[0]
    y = (X @ rng.standard_normal((6, 2))) ** 2 @ [1.0, -1.0] + rng.standard_normal(300)
    U = rng.standard_normal((6, 2))
    counts = []
    for T in (np.eye(6), M):
        back = np.linalg.inv(T)
        A = LowRank.product(back @ U, back @ (U * [1, -1])).to_dense()
        values, E = np.linalg.eigh(A)
        order = np.argsort(-abs(values))[:2]
        E, values = E[:, order], values[order]
        counts.append(passes(Quadratic(X @ T, y), LowRank(E, abs(values), E * np.sign(values))))
    assert counts[1] <= 1.5 * counts[0]
