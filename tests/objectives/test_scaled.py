"""A change of variables for weighted norms: the same objective seen from A' = D_r^½ A D_c^½."""

import numpy as np
import pytest

from oracles import dense, problem, random_low_rank
from pygeco import Features, LowRank
from pygeco.objectives.scaled import Scaled, scale_matrix, scale_objective, unscale_matrix


@pytest.mark.parametrize("gamma", [0.5, 1.0])
def test_values_gradients_and_spans_are_those_of_the_matrix_itself(gamma) -> None:
    entries = problem().entries
    there = scale_objective(entries, gamma)
    A = random_low_rank((12, 9), 2).svd()
    moved = scale_matrix(there, A)
    np.testing.assert_allclose(unscale_matrix(there, moved).to_dense(), A.to_dense())
    rows, cols = there.rows, there.cols
    np.testing.assert_allclose(moved.to_dense(), A.to_dense() / np.outer(rows, cols))
    assert there.value(moved) == pytest.approx(entries.value(A))
    G, plain = there.gradient(moved), entries.gradient(A)
    np.testing.assert_allclose(dense(G), rows[:, None] * dense(plain) * cols, atol=1e-12)
    assert (G.value, G.inner) == pytest.approx((plain.value, plain.inner))
    span = there.span(moved)
    assert span.value(np.diag(moved.s)) == pytest.approx(entries.value(A))
    assert there.stretch == pytest.approx(1 / (rows.min() * cols.min()))


def test_weights_are_powers_of_counts_of_mean_one() -> None:
    entries = problem().entries
    there = scale_objective(entries, 0.5)
    assert isinstance(there, Scaled)
    for found, counts in zip((there.rows, there.cols), entries.counts(), strict=True):
        weights = np.maximum(counts, 1) ** 0.5
        np.testing.assert_allclose(found**-2, weights / weights.mean())
    assert scale_objective(entries, 0.0) is entries
    assert scale_matrix(entries, LowRank.zero((12, 9))).rank == 0


def test_a_half_sweep_pays_the_ridge_of_the_scaled_rows() -> None:
    rng = np.random.default_rng(0)
    entries = problem((6, 5), 0.9).entries
    there = scale_objective(entries, 1.0)
    fixed, start = rng.standard_normal((5, 2)), np.zeros((6, 2))
    W = there.half_sweep(fixed, start, side="row", ridge=0.1)

    def total(W):
        A = LowRank.product(W, fixed)
        return there.value(A) + 0.1 * np.sum(W**2)

    for _ in range(20):
        assert total(W) <= total(W + 1e-3 * rng.standard_normal(W.shape)) + 1e-12


def test_what_does_not_count_cells_has_no_weights() -> None:
    with pytest.raises(ValueError, match=r"^gamma: Features does not count cells by row and col"):
        scale_objective(Features(np.eye(3), np.arange(3.0), "squared"), 0.5)
