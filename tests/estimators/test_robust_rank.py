"""RobustPCA's rank by itself: that of the data without their outliers."""

import numpy as np
import pytest

from pygeco import RobustPCA
from pygeco.estimators import _robust_rank
from pygeco.estimators._robust_rank import count_components
from pygeco.losses import Huber, Squared


def made(m, n, rank, noise, share, seed=0):
    rng = np.random.default_rng(seed)
    L = rng.standard_normal((m, rank)) @ rng.standard_normal((rank, n))
    X = L + 5 * rng.standard_normal(n) + noise * rng.standard_normal(L.shape)
    return np.where(rng.random(L.shape) < share, X + 20 * rng.standard_normal(L.shape), X)


def count(X, loss=None, center=True):
    return count_components(X, loss or Huber(), 0, center=center)


@pytest.mark.parametrize("shape", [(200, 50), (20, 900), (900, 20)])
@pytest.mark.parametrize("rank", [1, 4])
@pytest.mark.parametrize("noise", [0.0, 0.3])
@pytest.mark.parametrize("share", [0.0, 0.1])
def test_it_is_that_of_the_matrix_below_the_outliers(shape, rank, noise, share) -> None:
    X = made(*shape, rank, noise, share)
    # In narrow tables one fit of eight takes a faint component of the noise for one.
    allowed = (rank, rank + 1) if noise and min(shape) <= 20 else (rank,)
    assert count(X) in allowed
    assert count(1e-6 * X.astype(np.float32)) in allowed  # in whatever unit


@pytest.mark.parametrize("missing", [0.2, 0.5])
def test_missing_cells_say_nothing(missing) -> None:
    X = made(120, 80, 3, 0.1, 0.05)
    X[np.random.default_rng(1).random(X.shape) < missing] = np.nan
    assert count(X) == 3


@pytest.mark.parametrize("size", [10, 1e6])
def test_a_single_wild_cell_is_no_component(size) -> None:
    """It is a matrix of rank one as well, which a rank that is too high would take in."""
    X = made(40, 12, 1, 0.0, 0.0)
    X[3, 4] += size
    model = RobustPCA(random_state=0).fit(X)
    assert model.n_components_ == 1
    assert np.argwhere(model.outlier_mask_).tolist() == [[3, 4]]


def test_a_location_is_a_component_without_centering() -> None:
    X = made(100, 60, 2, 0.1, 0.05)
    assert [count(X, center=center) for center in (True, False)] == [2, 3]


@pytest.mark.parametrize("shape", [(700, 60), (60, 700), (150, 140)])
def test_of_a_large_table_a_part_is_looked_at(shape, monkeypatch) -> None:
    X = made(*shape, 3, 0.2, 0.1)
    monkeypatch.setattr(_robust_rank, "MAX_CELLS", 10_000)
    part = _robust_rank._draw_part(X, 0)
    assert part.size <= 10_000 < 1.1 * part.size
    rows = [np.flatnonzero((X[:, [k]] == part[0, 0]).any(axis=1)) for k in range(shape[1])]
    assert np.concatenate(rows).size  # cells of X, not a mixture of them
    assert count(X) == 3


@pytest.mark.parametrize("X", [np.zeros((6, 5)), np.ones((1, 4)), np.ones((5, 1)), np.eye(2)])
def test_at_least_one(X) -> None:
    assert count(X) == 1
    assert RobustPCA(random_state=0).fit(X).n_components_ == 1


def test_squares_count_outliers_too() -> None:
    X = made(60, 40, 1, 0.1, 0.0)
    X[5, 7] += 1e4
    assert (count(X), count(X, Squared())) == (1, 2)


def test_bytes_are_counted_as_they_are() -> None:
    X = np.clip(np.rint(40 * made(60, 50, 2, 0.1, 0.0) / 4 + 128), 0, 255)
    assert count(X.astype(np.uint8)) == count(X)


def test_other_words_are_refused() -> None:
    with pytest.raises(ValueError, match=r"n_components: expected .* or 'auto'"):
        RobustPCA("all").fit(np.eye(4))


@pytest.mark.parametrize("value", [0.0, 7.0])
@pytest.mark.parametrize("center", [False, True])
def test_columns_of_one_value_are_no_component(value, center) -> None:
    """However many they are; without a location, one that is not zero is a component."""
    X = made(80, 30, 3, 0.05, 0.04)
    flat = np.full((80, 36), value)
    assert count(np.hstack([X, flat]), center=center) == (3 if center else 4)
