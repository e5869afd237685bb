"""Models of clicks with attributes: what stays, what moves, and where new lines are."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from pygeco import Entries
from pygeco.bayes.attributes import AttributeValues
from pygeco.clicks.attributes import fit_map
from pygeco.clicks.fitting import Chosen, fit_chosen
from pygeco.clicks.informing import add_lines, inform
from pygeco.clicks.settings import AttributeSettings, SpectralSettings, SquaresSettings

CHOSEN = Chosen(
    SpectralSettings(9, 0.4, 0.3, 2.0, 0.1), SquaresSettings(5, 0.2, 0.01, 0.5, 0.25, 0.1), 0.4
)
PULLED = AttributeSettings(0.3, 3.0, "row"), AttributeSettings(0.3, 3.0, "column")


def describe(groups, count):
    matrix = sp.csr_array(np.eye(count, dtype=np.float32)[groups])
    return AttributeValues(matrix, np.ones(len(groups), bool), ("group",), (count,))


@pytest.fixture(scope="module")
def told():
    rng = np.random.default_rng(3)
    return describe(rng.integers(5, size=150), 5), describe(np.arange(50) % 5, 5)


@pytest.fixture(scope="module")
def plain(clicks):
    return fit_chosen(clicks, CHOSEN, 0)


@pytest.fixture(scope="module")
def moved(plain, told):
    return inform(plain, told, PULLED)


def test_all_zero_attributes_change_nothing(plain, told):
    silent = tuple(values._replace(matrix=sp.csr_array(values.matrix.shape)) for values in told)
    found = inform(plain, silent, PULLED)
    assert found.factors is plain.factors
    assert found.spectral is plain.spectral


def test_without_pull_lines_with_clicks_stay(plain, told):
    wishes = AttributeSettings(0.3), AttributeSettings(0.3)
    found = inform(plain, told, wishes)
    some = np.arange(150) != 17  # which has no click
    assert np.allclose(found.factors.to_dense()[some], plain.factors.to_dense()[some], atol=1e-4)
    assert np.abs(found.factors.to_dense()[17]).max() > 0.1


def test_the_matrix_is_that_of_moved_lines(plain, told, moved):
    sides = plain.factors.left, plain.factors.V
    lines = [
        fit_map(values, counts, X, wish).move(values, counts, X)
        for values, counts, X, wish in zip(told, plain.counts(), sides, PULLED, strict=True)
    ]
    assert np.allclose(moved.factors.to_dense(), lines[0] @ lines[1].T, atol=1e-4)


def test_fitted_rows_are_found_again_from_clicks_and_attributes(clicks, told, moved):
    found = moved.fold_rows(clicks, told[0]).coordinates
    left = moved.factors.left
    assert np.allclose(found, left, atol=2e-4 * np.abs(left).max())


def test_reasons_add_up_with_those_of_attributes(clicks, moved):
    known = set(clicks.by_row.indices[clicks.rows() == 3].tolist())
    column = next(j for j in range(50) if j not in known)
    for row in (3, 17):
        reasons = moved.explain(row, column, 100)
        score = moved.linear(np.array([row]), np.array([column]))[0]
        total = reasons.contributions.sum() + reasons.base + sum(reasons.attributes.values())
        assert total == pytest.approx(score, rel=1e-3, abs=1e-4)


def test_new_lines_score_as_lines_without_clicks_of_the_same_attributes(told, moved):
    wide = add_lines(moved, told[0].take([17, 3]), told[1].take([4]))
    assert wide.shape == (152, 51)
    dense = wide.factors.to_dense()
    assert np.allclose(dense[:150, :50], moved.factors.to_dense(), atol=1e-5)
    assert np.allclose(dense[150, :50], dense[17, :50], atol=1e-4)
    placed = moved.column_map.place(told[1])[4]
    assert np.allclose(dense[:150, 50], moved.factors.left @ placed, atol=1e-5)
    assert sorted(wide.best(np.array([150]), 51).columns[0]) == list(range(51))


def test_permuting_rows_permutes_their_attributes(clicks, told, moved):
    order = np.random.default_rng(5).permutation(150)
    place = np.argsort(order)
    turned = Entries(
        place[clicks.rows()], clicks.by_row.indices, clicks.by_row.values, clicks.shape
    )
    # From the same start, so that only the order differs.
    found = inform(fit_chosen(turned, CHOSEN, 0), (told[0].take(order), told[1]), PULLED)
    size = np.abs(moved.factors.to_dense()).max()
    assert np.allclose(found.factors.to_dense(), moved.factors.to_dense()[order], atol=2e-3 * size)


def test_new_clicks_keep_attributes_and_their_weight(clicks, told, moved):
    one = Entries(np.array([150]), np.array([3]), np.ones(1, np.float32), (151, 50))
    found = moved.update(one, (np.arange(150), np.arange(50)))
    assert found.row_attributes.known.tolist() == [True] * 150 + [False]
    assert found.row_map.settings == PULLED[0]
    assert found.column_map.settings == PULLED[1]
