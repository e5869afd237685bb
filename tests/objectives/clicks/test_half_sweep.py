"""Every row's own system before a background, against dense solutions, at many sizes."""

import numpy as np
import pytest

from click_cases import clicks
from pygeco.engines import limit_threads
from pygeco.objectives.clicks.half_sweep import sweep_rows


def solve(case, s, ridge, seed=0, dtype=float):
    rng = np.random.default_rng(seed)
    m, n = case.W.shape
    objective = case.objective
    V = (rng.standard_normal((n, s)) / np.sqrt(s)).astype(dtype)
    lift = ridge * rng.uniform(0.5, 2.0, m)
    own, other = objective.side_weights(columns=False)
    found = sweep_rows(objective.cells(columns=False), V, background=own, weights=other, ridge=lift)
    return V, lift, found


# Rows of fewer cells than columns of V, and of more; lines of no cell at all.
@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize(
    ("shape", "share", "s"),
    [((9, 7), 0.5, 1), ((30, 40), 0.3, 3), ((24, 60), 0.5, 17), ((12, 300), 0.6, 33),
     ((20, 90), 0.2, 70), ((9, 420), 0.9, 130), ((7, 150), 0.5, 260)],
)  # fmt: skip
def test_rows_are_those_of_the_dense_systems(shape, share, s, plain) -> None:
    case = clicks(shape, share, alpha=0.7, powers=(0.3, 0.4), plain=plain)
    V, lift, found = solve(case, s, 0.3)
    expected = case.T.solve_columns(V, lift / case.W.sum())
    np.testing.assert_allclose(found.factor @ found.rotation.T, expected, atol=1e-9)
    np.testing.assert_allclose(found.partner @ found.rotation.T, V, atol=1e-10)
    U = found.factor
    left = case.value(U @ found.partner.T) * case.W.sum() + lift @ np.sum(U * U, axis=1)
    assert found.unexplained == pytest.approx(left, rel=1e-10)


@pytest.mark.parametrize("s", [5, 40, 100])
def test_single_precision_comes_near(s) -> None:
    case = clicks((40, 200), 0.3, alpha=0.5, dtype=np.float32)
    V, lift, found = solve(case, s, 0.3, dtype=np.float32)
    expected = case.T.solve_columns(V.astype(float), lift / case.W.sum())
    assert found.factor.dtype == np.float32
    np.testing.assert_allclose(found.factor @ found.rotation.T, expected, atol=3e-5)


def test_rows_that_do_not_come_to_rest_by_steps_are_solved_exactly() -> None:
    """A weak background: single precision takes too many steps there, and Cholesky is at hand."""
    case = clicks((20, 120), 0.7, alpha=1e-5, dtype=np.float32)
    V, lift, found = solve(case, 48, 1e-3, dtype=np.float32)
    expected = case.T.solve_columns(V.astype(float), lift / case.W.sum())
    np.testing.assert_allclose(found.factor @ found.rotation.T, expected, atol=1e-3)


def test_the_bits_do_not_depend_on_threads() -> None:
    case = clicks((300, 200), 0.2, dtype=np.float32)
    with limit_threads(1):
        one = solve(case, 40, 0.1, dtype=np.float32)[2]
    two = solve(case, 40, 0.1, dtype=np.float32)[2]
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_row_that_nothing_holds_stays_near_its_start() -> None:
    """Without a background and ridge, a row of one cell has many minima."""
    case = clicks((6, 5), 0.5, alpha=0.0)
    rng = np.random.default_rng(1)
    fixed, start = rng.standard_normal((6, 4)), rng.standard_normal((5, 4))
    W = case.objective.half_sweep(fixed, start, side="column")
    for w, y, row, begin in zip(case.W.T, case.Y.T, W, start, strict=True):
        F = fixed[w > 0]
        if not len(F):
            np.testing.assert_array_equal(row, 0)
            continue
        nearest = begin + np.linalg.lstsq(F, y[w > 0] - F @ begin)[0]
        if len(F) < 4:
            np.testing.assert_allclose(row, nearest, atol=1e-5)
