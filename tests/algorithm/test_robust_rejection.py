"""The last sweeps of a robust fit: outliers of one sign do not move it, noisy rows keep theirs."""

import numpy as np
import pytest

from pygeco import Dense
from pygeco.algorithm import robust_rejection
from pygeco.algorithm.robust import fit_robust
from pygeco.algorithm.threshold import Schedule
from pygeco.losses import Absolute, Huber, LogCosh, Squared


def table(seed, shape=(100, 80), rank=3, noise=0.5):
    rng = np.random.default_rng(seed)
    L = rng.standard_normal((shape[0], rank)) @ rng.standard_normal((rank, shape[1]))
    return L, L + noise * rng.standard_normal(shape), rng


def fit(X, rank=3, loss=None):
    return fit_robust(Dense(X), rank, Schedule(loss or Huber()))


@pytest.fixture
def wild(monkeypatch) -> list[np.ndarray]:
    """Which cells were outliers, each time that they were sought."""
    found, find = [], robust_rejection.find_wild
    monkeypatch.setattr(
        robust_rejection, "find_wild", lambda *given: found.append(find(*given)) or found[-1]
    )
    return found


def error(found, L) -> float:
    return float(np.sqrt(np.mean((found.whole().to_dense() - L) ** 2)))


@pytest.mark.parametrize("loss", [None, LogCosh()], ids=str)
@pytest.mark.parametrize(("share", "size"), [(0.1, 4.0), (0.2, 5.0), (0.2, 50.0)])
def test_outliers_of_one_sign_cost_no_more_than_the_cells_themselves(share, size, loss) -> None:
    """Beside the same fit without these cells; at first they move it by nearly the noise."""
    found = []
    for seed in range(3):
        L, X, rng = table(seed)
        wild = rng.random(X.shape) < share
        ours = error(fit(X + size * wild, loss=loss), L)
        oracle = error(fit(np.where(wild, np.nan, X), loss=loss), L)
        found.append(ours / oracle)
    assert np.mean(found) < 1.1


@pytest.mark.parametrize(("shape", "rank"), [((100, 80), 3), ((200, 10), 2), ((60, 12), 2)])
def test_without_outliers_next_to_nothing_is_left_out(wild, shape, rank) -> None:
    for seed in range(4):
        L, X, _ = table(seed, shape, rank)
        found = fit(X, rank)
        assert wild[-1].mean() < 0.005
        U, s, V = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
        plain = X.mean(axis=0) + (U[:, :rank] * s[:rank]) @ V[:rank]
        assert error(found, L) < 1.1 * np.sqrt(np.mean((plain - L) ** 2))


def test_rows_that_are_noisier_than_others_keep_their_cells(wild) -> None:
    """Those that a row fits worst would else be left out, and so on."""
    L, _, rng = table(0)
    scales = np.where(np.arange(100) % 4 == 0, 3.0, 0.3)[:, None]
    fit(L + scales * rng.standard_normal(L.shape))
    assert wild[-1][::4].mean() < 0.01


@pytest.mark.parametrize("loss", [Huber(2.0), Absolute(0.1), Squared()], ids=str)
def test_a_loss_that_is_given_is_minimized_over_all_cells(wild, loss) -> None:
    _, X, rng = table(1)
    fit(X + 50 * (rng.random(X.shape) < 0.1), loss=loss)
    assert not wild


def test_tables_of_few_columns_are_fitted_as_they_are(wild) -> None:
    """Cells that a row's parameters meet exactly would seem right, wild ones too."""
    _, X, rng = table(2, (500, 3), 1)
    fit(X + 50 * (rng.random(X.shape) < 0.1), 1)
    assert not wild
