"""RobustPCA: exact recovery, the right cells, missing values, new rows, noise."""

import tracemalloc

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning

from pygeco import Dense, RobustPCA
from pygeco.engines.cpu.threads import set_num_threads
from pygeco.losses import Absolute, Huber, LogCosh, PseudoHuber, Quantile, prepare_loss


def corrupted(kind="gross", share=0.15, *, m=120, n=100, rank=5, condition=1.0, seed=0):
    """L of this rank, L with wild cells, and where these are."""
    rng = np.random.default_rng(seed)
    U = np.linalg.qr(rng.standard_normal((m, rank)))[0]
    V = np.linalg.qr(rng.standard_normal((n, rank)))[0]
    L = (U * np.geomspace(1, 1 / condition, rank)) @ V.T
    L /= L.std()
    sizes = {
        "gross": rng.uniform(-100, 100, L.shape),
        "own": rng.choice([-1.0, 1.0], L.shape),
        "one-sided": 1 + 4 * rng.random(L.shape),
    }
    wild = rng.random(L.shape) < share
    return L, L + wild * sizes[kind], wild


def error(model, L):
    return np.linalg.norm(model.low_rank_.to_dense() - L) / np.linalg.norm(L)


@pytest.mark.parametrize("kind", ["gross", "own", "one-sided"])
@pytest.mark.parametrize("center", [False, True])
def test_recovers_a_low_rank_matrix_and_its_outliers(kind, center):
    L, X, wild = corrupted(kind)
    model = RobustPCA(5, center=center, random_state=0).fit(X)
    assert error(model, L) < 1e-5
    assert np.array_equal(model.outlier_mask_, wild)
    np.testing.assert_allclose(model.outliers_.toarray(), np.where(wild, X - L, 0.0), atol=1e-3)


def test_recovers_weak_components_too():
    L, X, _ = corrupted("gross", 0.2, m=200, n=200, rank=10, condition=30)
    assert error(RobustPCA(10, center=False, random_state=0).fit(X), L) < 1e-5


def test_recovers_many_components():
    """More than solve their own systems: the scaled steps, and the rescue of lines that lag."""
    L, X, wild = corrupted("one-sided", 0.1, m=250, n=240, rank=20)
    model = RobustPCA(20, random_state=0).fit(X)
    assert error(model, L) < 1e-5
    assert np.array_equal(model.outlier_mask_, wild)


@pytest.mark.parametrize("kind", ["gross", "own"])
def test_missing_cells_and_outliers_are_one_problem(kind):
    L, X, wild = corrupted(kind)
    missing = np.random.default_rng(1).random(X.shape) < 0.1
    model = RobustPCA(5, random_state=0).fit(np.where(missing, np.nan, X))
    assert error(model, L) < 1e-4
    assert np.array_equal(model.outlier_mask_, wild & ~missing)


def test_lines_without_any_cell():
    L, X, _ = corrupted()
    X[7], X[:, 9] = np.nan, np.nan
    model = RobustPCA(5, center=False, random_state=0).fit(X)
    found = model.low_rank_.to_dense()
    np.testing.assert_allclose(found[7], 0, atol=1e-12)
    np.testing.assert_allclose(found[:, 9], 0, atol=1e-12)
    keep = np.ix_(np.delete(np.arange(120), 7), np.delete(np.arange(100), 9))
    assert np.abs(found - L)[keep].max() < 1e-4


def test_a_corrupted_line_does_not_spoil_the_others():
    L, X, _ = corrupted()
    X[4] = 50 * np.random.default_rng(2).standard_normal(100)
    found = RobustPCA(5, random_state=0).fit(X).low_rank_.to_dense()
    others = np.delete(np.arange(120), 4)
    assert np.abs(found - L)[others].max() < 1e-3


@pytest.mark.parametrize(
    ("shape", "dtype"),
    [((300, 1000), float), ((257, 513), np.float32), ((700, 400), np.uint8), ((40, 9000), float)],
    ids=str,
)
def test_data_are_low_rank_and_outliers_and_a_small_rest(shape, dtype):
    """Shapes whose rows and columns go on in the next tile."""
    rng = np.random.default_rng(9)
    L = 100 + 10 * rng.standard_normal((shape[0], 2)) @ rng.standard_normal((2, shape[1]))
    wild = rng.random(shape) < 0.05
    X = (L + rng.standard_normal(shape) + 90 * wild).clip(0, 255).astype(dtype)
    model = RobustPCA(2, tol=1e-3, random_state=0).fit(X)
    rest = X.astype(float) - model.low_rank_.to_dense()
    outliers = model.outliers_
    assert outliers.has_canonical_format
    far = np.abs(rest) > model.threshold_
    unsure = np.abs(np.abs(rest) - model.threshold_) < 1e-3  # a rounding away from the threshold
    assert np.all((model.outlier_mask_ == far) | unsure)
    found = np.where(model.outlier_mask_, rest, 0.0)
    np.testing.assert_allclose(outliers.toarray(), found, rtol=1e-4, atol=1e-3)
    assert np.all(np.abs(rest - outliers.toarray()) <= model.threshold_ + 1e-3)
    assert np.mean(model.outlier_mask_ == wild) > 0.99


def test_new_rows_are_projected_robustly_and_alone():
    L, X, _ = corrupted(m=180)
    model = RobustPCA(5, random_state=0).fit(X[:120])
    coordinates = model.transform(X[120:])
    rebuilt = model.inverse_transform(coordinates)
    assert np.abs(rebuilt - L[120:]).max() < 1e-3
    np.testing.assert_allclose(model.transform(X[150:151]), coordinates[30:31], atol=1e-6)
    gaps = X[120:].copy()
    gaps[np.random.default_rng(3).random(gaps.shape) < 0.1] = np.nan
    assert np.abs(model.inverse_transform(model.transform(gaps)) - L[120:]).max() < 1e-3


def test_coordinates_and_components_are_those_of_the_low_rank_part():
    _, X, _ = corrupted()
    model = RobustPCA(5, random_state=0).fit(X)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(5), atol=1e-12)
    assert np.all(np.diff(model.singular_values_) <= 0)
    scores = (model.low_rank_.to_dense() - model.location_) @ model.components_.T
    units = scores / np.linalg.norm(scores, axis=1, keepdims=True)
    np.testing.assert_allclose(units.sum(axis=0), 0, atol=1e-3)  # zero is the geometric median
    np.testing.assert_allclose(model.transform(X), scores, atol=1e-3)
    assert not model.transform(np.full((2, 100), np.nan)).any()


def test_a_large_location_is_found():
    L, X, wild = corrupted()
    shift = 1000 * np.random.default_rng(4).standard_normal(100)
    model = RobustPCA(5, random_state=0).fit(X + shift)
    assert np.abs(model.low_rank_.to_dense() - (L + shift)).max() < 1e-2
    assert np.array_equal(model.outlier_mask_, wild)


def test_noise_costs_little_more_than_for_clean_data():
    L, X, wild = corrupted("gross", 0.05)
    noise = 0.1 * np.random.default_rng(5).standard_normal(L.shape)
    model = RobustPCA(5, random_state=0).fit(X + noise)
    clean = PCA(5).fit(L + noise)
    bound = np.linalg.norm(clean.inverse_transform(clean.transform(L + noise)) - L)
    assert np.linalg.norm(model.low_rank_.to_dense() - L) < 1.25 * bound
    assert model.scale_ == pytest.approx(0.1, rel=0.1)
    big = wild & (np.abs(X - L) > 1)
    assert np.all(model.outlier_mask_[big])
    assert np.mean(model.outlier_mask_[~wild]) < 0.005


def with_noise(scales, share=0.05, *, m=150, seed=0, dtype=float):
    """Rank 2, Gaussian noise of these scales, and wild cells of 8 of their columns' deviations."""
    rng = np.random.default_rng(seed)
    n = len(scales)
    L = 3 * rng.standard_normal((m, 2)) @ rng.standard_normal((2, n))
    wild = rng.random(L.shape) < share
    far = wild * 8 * rng.choice([-1.0, 1.0], L.shape)
    return (L + scales * (rng.standard_normal(L.shape) + far)).astype(dtype), wild


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_each_column_has_a_threshold_of_its_own(dtype):
    """Quiet columns hide no outliers behind noisy ones, and noise is not taken for them."""
    scales = np.where(np.arange(90) % 3 == 0, 6.0, np.where(np.arange(90) % 3 == 1, 1.0, 0.3))
    X, wild = with_noise(scales, dtype=dtype)
    model = RobustPCA(2, random_state=0).fit(X)
    rest = np.abs(X - model.low_rank_.to_dense())
    free = 1 - (2 * (150 + 90 - 2) + 90) / X.size
    own = 1.4826 * np.median(rest, axis=0) / np.sqrt(free)
    np.testing.assert_allclose(model.threshold_, 3.5 * own, rtol=0.05)
    one = RobustPCA(2, threshold=3.5 * model.scale_, random_state=0).fit(X)
    assert one.threshold_ == 3.5 * model.scale_
    for kind in range(3):
        here = slice(kind, None, 3)
        assert np.mean(model.outlier_mask_[:, here][~wild[:, here]]) < 0.005
        assert np.mean(model.outlier_mask_[:, here][wild[:, here]]) > 0.97
    assert np.mean(one.outlier_mask_[:, ::3][~wild[:, ::3]]) > 0.1
    assert np.mean(one.outlier_mask_[:, 2::3][wild[:, 2::3]]) < 0.5


@pytest.mark.parametrize("shape", [(30, 400), (200, 30)], ids=str)
def test_columns_that_are_alike_share_a_threshold(shape):
    X, wild = with_noise(np.ones(shape[1]), m=shape[0])
    model = RobustPCA(2, random_state=0).fit(X)
    np.testing.assert_allclose(model.threshold_, 3.5 * model.scale_, rtol=0.05)
    assert np.mean(model.outlier_mask_ == wild) > 0.995


def test_odd_columns_are_safe():
    X, wild = with_noise(np.ones(60))
    X[:, 0] = 7.0
    X[:, 1] = np.nan
    X[4:, 2] = np.nan
    wild[:, :3] = False
    most = np.random.default_rng(1).random(150) < 0.55
    X[:, 3] += np.where(most, 60 * np.random.default_rng(2).choice([-1, 1], 150), 0)
    model = RobustPCA(2, random_state=0).fit(X)
    assert np.all(np.isfinite(model.threshold_))
    assert not model.outlier_mask_[:, :3].any()
    assert np.all(model.outlier_mask_[most, 3])
    assert np.mean(model.outlier_mask_[:, 4:] == wild[:, 4:]) > 0.995


@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64])
def test_a_threshold_that_is_given_holds_for_all_cells(dtype):
    X = (100 + 10 * corrupted("own")[1]).clip(0, 255).astype(dtype)
    model = RobustPCA(2, threshold=12, random_state=0).fit(X)
    assert model.threshold_ == 12.0
    rest = X - model.low_rank_.to_dense()
    unsure = np.abs(np.abs(rest) - 12) < 1e-3
    assert np.all((model.outlier_mask_ == (np.abs(rest) > 12)) | unsure)


def test_the_threshold_falls_only_as_far_as_it_may():
    L, X, _ = corrupted()
    falling = RobustPCA(5, random_state=0).fit(X)
    given = RobustPCA(5, loss=Huber(0.01), random_state=0).fit(X)
    fixed = RobustPCA(5, decreasing=False, random_state=0).fit(X)
    assert given.loss_.delta == 0.01
    assert falling.loss_.delta < 1e-4 < given.loss_.delta < fixed.loss_.delta
    assert error(falling, L) < 1e-5 < error(given, L) < error(fixed, L) < 0.2


def test_the_squared_loss_is_ordinary_principal_components():
    rng = np.random.default_rng(6)
    X = rng.standard_normal((60, 4)) @ rng.standard_normal((4, 30))
    X += 0.1 * rng.standard_normal(X.shape)
    model = RobustPCA(3, loss="squared", tol=1e-9, max_iter=1000, random_state=0).fit(X)
    plain = PCA(3).fit(X)
    expected = plain.inverse_transform(plain.transform(X))
    assert np.linalg.norm(model.low_rank_.to_dense() - expected) < 0.02 * np.linalg.norm(expected)


OPEN = ("huber", "pseudo-huber", "log-cosh", "absolute", "quantile", Quantile(0.4))


@pytest.mark.parametrize("loss", OPEN, ids=str)
@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_any_loss_whose_scale_is_open_takes_it_from_the_residuals(loss, noise):
    """Rows are projected alone as in the fit, and units do not matter."""
    L, X, _ = corrupted("gross", 0.05, m=60, n=40, rank=2)
    X = X + noise * np.random.default_rng(6).standard_normal(L.shape)
    model = RobustPCA(2, loss=loss, random_state=0).fit(X)
    assert error(model, L) < 1e-4 + 0.6 * noise
    found = model.transform(X)
    alone = np.vstack([model.transform(row[None]) for row in X[::9]])
    np.testing.assert_allclose(found[::9], alone, atol=1e-9)
    rebuilt = model.inverse_transform(found)
    assert np.abs(rebuilt - model.low_rank_.to_dense()).max() < 1e-4 + noise
    assert prepare_loss(model.loss_, X[3])[0] == model.loss_
    small = RobustPCA(2, loss=loss, random_state=0).fit(2.0**-20 * X)
    np.testing.assert_array_equal(small.components_, model.components_)
    np.testing.assert_array_equal(2.0**20 * small.location_, model.location_)


@pytest.mark.parametrize("loss", [PseudoHuber(0.02), LogCosh(0.02), Absolute(0.01)], ids=str)
def test_a_scale_that_is_given_is_kept(loss):
    L, X, _ = corrupted("gross", 0.05, m=60, n=40, rank=2)
    X = X + 0.1 * np.random.default_rng(6).standard_normal(L.shape)
    model = RobustPCA(2, loss=loss, random_state=0).fit(X)
    assert model.loss_ is loss
    assert error(model, L) < 0.05
    rebuilt = model.inverse_transform(model.transform(X))
    assert np.abs(rebuilt - model.low_rank_.to_dense()).max() < 1e-2


def test_bytes_are_read_as_they_are():
    rng = np.random.default_rng(7)
    pattern = rng.integers(20, 200, (1, 80)) * np.ones((60, 1))
    X = pattern + rng.integers(-2, 3, (60, 80))
    X[rng.random(X.shape) < 0.1] = 255
    small = RobustPCA(1, random_state=0).fit(X.astype(np.uint8))
    plain = RobustPCA(1, random_state=0).fit(X.astype(np.float64))
    assert np.array_equal(small.outlier_mask_, plain.outlier_mask_)
    np.testing.assert_allclose(
        small.low_rank_.to_dense(), plain.low_rank_.to_dense(), rtol=1e-2, atol=0.1
    )


def test_memory_over_the_input_is_bounded():
    X = np.random.default_rng(8).integers(0, 256, (3000, 2000), dtype=np.uint8)
    RobustPCA(2, max_iter=1, random_state=0, tol=1.0).fit(X[:50, :50])
    tracemalloc.start()
    RobustPCA(2, max_iter=2, random_state=0, tol=1.0, cutoff=1e6).fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2.5 * X.nbytes  # a float32 copy alone would be four times the input


def test_the_same_bits_for_any_number_of_threads():
    _, X, _ = corrupted(m=600, n=500)
    found = []
    for threads in (1, 2):
        set_num_threads(threads)
        found.append(RobustPCA(5, random_state=0).fit(X).components_.tobytes())
    assert found[0] == found[1]


def test_constant_and_tiny_data():
    model = RobustPCA(1, random_state=0).fit(np.full((6, 4), 3.0))
    np.testing.assert_allclose(model.low_rank_.to_dense(), 3.0)
    assert model.outliers_.nnz == 0
    assert RobustPCA(1, center=False).fit([[2.0]]).low_rank_.to_dense() == pytest.approx(2.0)


def test_too_few_sweeps_are_told():
    _, X, _ = corrupted()
    with pytest.warns(ConvergenceWarning, match="raise max_iter or tol"):
        RobustPCA(5, max_iter=2, random_state=0).fit(X)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_components": 0}, "n_components: must be between 1 and 3"),
        ({"n_components": 4}, "n_components: must be between 1 and 3"),
        ({"n_components": 1.5}, "n_components: expected an integer"),
        ({"cutoff": 0}, "cutoff: must be positive"),
        ({"threshold": 0.0}, "threshold: expected 'auto' or a positive number, not 0.0"),
        ({"threshold": np.inf}, "threshold: expected 'auto'"),
        ({"threshold": True}, "threshold: expected 'auto'"),
        ({"threshold": "table"}, "threshold: expected 'auto'"),
        ({"threshold": np.ones(3)}, "threshold: expected 'auto'"),
        ({"tol": -1.0}, "tol: must be positive"),
        ({"max_iter": 0}, "max_iter: must be positive"),
        ({"tol": "small"}, "tol: must be positive, not 'small'"),
        ({"loss": "hubris"}, "loss: unknown name"),
        ({"loss": "logistic"}, "loss: 'logistic' is of labels, levels or counts"),
        ({"loss": "poisson"}, "loss: 'poisson' is of labels, levels or counts"),
    ],
)
def test_bad_parameters_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        RobustPCA(**settings).fit(np.eye(5, 3))


def test_components_have_the_signs_of_principal_components():
    """Whatever the starts and the order in memory are: rounding does not turn coordinates."""
    rng = np.random.default_rng(0)
    V = np.linalg.qr(rng.standard_normal((8, 3)))[0]
    X = rng.standard_normal((60, 3)) * [9.0, 3.0, 1.0] @ V.T + 1e-3 * rng.standard_normal((60, 8))
    wanted = PCA(3).fit(X).components_
    for seed in range(3):
        for Y in (X, np.asfortranarray(X), -X):
            found = RobustPCA(3, random_state=seed).fit(Y).components_
            np.testing.assert_allclose(found, wanted, atol=0.01)


def test_only_missing_cells():
    with pytest.raises(ValueError, match="Y: no observed cell"):
        RobustPCA(1).fit(np.full((4, 3), np.nan))


def test_the_objective_is_dense():
    """What the estimator minimizes is the objective that a user can build."""
    L, X, _ = corrupted()
    model = RobustPCA(5, random_state=0).fit(X)
    objective = Dense(X, model.loss_)
    assert objective.value(model.low_rank_) == pytest.approx(
        np.mean(model.loss_.value(L, X)), rel=1e-2
    )


def test_a_constant_with_holes_comes_to_rest() -> None:
    X = np.full((8, 6), 3.5)
    X[np.random.default_rng(0).random(X.shape) < 0.4] = np.nan
    model = RobustPCA(2, random_state=0).fit(X)  # a warning would be an error
    np.testing.assert_allclose(model.low_rank_.to_dense(), 3.5)
