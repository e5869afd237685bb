"""The ridge from attributes to vectors, against dense algebra."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from pygeco.bayes.attributes import AttributeValues
from pygeco.clicks.attributes import fit_map
from pygeco.clicks.settings import AttributeSettings


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(0)
    X = sp.random_array((60, 7), density=0.4, rng=rng, format="csr", dtype=np.float32)
    known = rng.random(60) < 0.8
    X = sp.csr_array(sp.diags_array(known.astype(np.float32)) @ X)
    counts = rng.integers(0, 5, 60)
    return AttributeValues(X, known, ("a", "b"), (3, 4)), counts, rng.standard_normal((60, 5))


def solve_dense(values, counts, lines, ridge):
    own = (counts > 0) & values.known
    X, Y = values.matrix.toarray()[own].astype(float), lines[own]
    Z = X - X.mean(0)
    W = np.linalg.solve(Z.T @ Z + ridge * np.eye(X.shape[1]), Z.T @ (Y - Y.mean(0)))
    return lambda x: Y.mean(0) + (x - X.mean(0)) @ W


@pytest.mark.parametrize("weight", [0.003, 0.3, 30.0])
def test_lines_are_placed_by_the_ridge(case, weight):
    values, counts, lines = case
    found = fit_map(values, counts, lines, AttributeSettings(weight))
    place = solve_dense(values, counts, lines, 1 / weight)
    new = np.flatnonzero(values.known)
    expected = place(values.matrix.toarray()[new])
    assert np.allclose(found.place(values.take(new)), expected, atol=1e-4)


def test_no_weight_is_the_mean_line(case):
    values, counts, lines = case
    found = fit_map(values, counts, lines, AttributeSettings(0.0))
    own = (counts > 0) & values.known
    assert found.is_silent
    assert np.allclose(found.place(values), lines[own].mean(0))


def test_lines_are_moved_the_less_the_more_clicks_they_have(case):
    values, counts, lines = case
    found = fit_map(values, counts, lines, AttributeSettings(0.3, pull=2.0))
    moved = found.move(values, counts, lines)
    some = (counts > 0) & values.known
    away = found.deviate(values)
    share = (2.0 / (2.0 + counts))[:, None]
    assert np.allclose((moved - lines)[some], (share * away)[some])
    assert np.array_equal(moved[~values.known], lines[~values.known])
    empty = (counts == 0) & values.known
    assert np.allclose(moved[empty], found.place(values)[empty])


def test_a_turn_is_a_change_of_basis(case):
    values, counts, lines = case
    turn = np.random.default_rng(1).standard_normal((5, 5))
    found = fit_map(values, counts, lines, AttributeSettings(0.3))
    assert np.allclose(found.turn(turn).place(values), found.place(values) @ turn)


def test_without_a_line_to_learn_from_nothing_is_said(case):
    values, counts, lines = case
    found = fit_map(values, 0 * counts, lines, AttributeSettings(0.3))
    assert found.is_silent
    assert not found.place(values).any()
