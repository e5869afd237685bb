"""The loss whose predictions of a row meet."""

import numpy as np
import pytest
import scipy.special

from pygeco import Entries, losses
from pygeco.losses import Multinomial, find_loss


def sample(seed=0, scale=2.0):
    rng = np.random.default_rng(seed)
    return Multinomial(), scale * rng.standard_normal((30, 4)), rng.integers(0, 4, 30).astype(float)


def test_value_is_minus_the_log_probability():
    loss, z, y = sample()
    expected = -np.log(scipy.special.softmax(z, axis=1)[np.arange(30), y.astype(int)])
    np.testing.assert_allclose(loss.value(z, y), expected, rtol=1e-12)
    np.testing.assert_allclose(loss.probabilities(z), scipy.special.softmax(z, axis=1), rtol=1e-12)
    np.testing.assert_array_equal(loss.response(z), loss.probabilities(z))


def test_slope_and_curvature_against_finite_differences():
    loss, z, y = sample()
    t = 1e-6
    for k, e in enumerate(t * np.eye(4)):
        rise = (loss.value(z + e, y) - loss.value(z - e, y)) / (2 * t)
        np.testing.assert_allclose(loss.slope(z, y)[:, k], rise, atol=1e-8)
        bend = (loss.slope(z + e, y) - loss.slope(z - e, y)) / (2 * t)
        p = loss.curvature(z, y)
        np.testing.assert_allclose(np.eye(4)[k] * p - p * p[:, [k]], bend, atol=1e-8)


def test_smoothness_is_reached_and_never_passed():
    loss, z, y = sample()
    for p in loss.curvature(z, y):
        assert np.linalg.eigvalsh(np.diag(p) - np.outer(p, p))[-1] <= loss.smoothness + 1e-12
    p = loss.curvature(np.array([[50.0, 50.0, 0.0, 0.0]]), np.zeros(1))[0]
    top = np.linalg.eigvalsh(np.diag(p) - np.outer(p, p))[-1]
    assert top == pytest.approx(loss.smoothness, rel=1e-9)


def test_far_predictions_stay_finite():
    loss = Multinomial()
    low = [-1e4, -1e4, -1e4 - 800]  # each row by itself, however far below the others
    z, y = np.array([[1e4, -1e4, 0.0], [-1e4, 1e4, 0.0], low]), np.zeros(3)
    np.testing.assert_allclose(loss.value(z, y), [0.0, 2e4, np.log(2)])
    assert np.all(np.isfinite(loss.slope(z, y)))
    assert np.all(np.isfinite(loss.curvature(z, y)))


def test_conjugate_is_the_largest_gap():
    """ℓ*(a) = max_z ⟨a, z⟩ − ℓ(z): equality at a = slope(z), an upper bound elsewhere."""
    loss, z, y = sample(scale=1.0)
    a = loss.slope(z, y)
    np.testing.assert_allclose(
        loss.conjugate(a, y), np.sum(a * z, axis=1) - loss.value(z, y), atol=1e-12
    )
    _, other, _ = sample(seed=1)
    assert np.all(loss.conjugate(a, y) >= np.sum(a * other, axis=1) - loss.value(other, y) - 1e-12)
    assert np.all(np.isinf(loss.conjugate(a + 0.1, y)))


def test_targets_of_any_kind():
    loss = Multinomial().fitted(np.array(["b", "a", "c", "a"]))
    assert loss.classes == ("a", "b", "c")
    np.testing.assert_array_equal(loss.targets(["c", "a"]), [2, 0])
    np.testing.assert_array_equal(Multinomial((3, 1)).targets([1, 3, 3]), [1, 0, 0])
    np.testing.assert_array_equal(Multinomial().targets([7, 5, 7]), [1, 0, 1])
    with pytest.raises(ValueError, match=r"^Y: label 'd' is not one of"):
        loss.targets(["d"])


def test_it_is_not_for_cells():
    for loss in ("multinomial", Multinomial()):
        with pytest.raises(ValueError, match=r"^loss: 'multinomial' needs one prediction a class"):
            find_loss(loss)
        with pytest.raises(ValueError, match=r"^loss: 'multinomial' needs"):
            Entries([0, 1], [0, 1], [0.0, 1.0], loss=loss)


def test_predictions_of_any_shape():
    """(…, K) predictions of (…) targets, as the rows of one table."""
    loss, z, y = sample()
    table, codes = z.reshape(2, 3, 5, 4), y.reshape(2, 3, 5)
    np.testing.assert_array_equal(loss.value(table, codes), loss.value(z, y).reshape(2, 3, 5))
    np.testing.assert_array_equal(loss.slope(table, codes), loss.slope(z, y).reshape(2, 3, 5, 4))
    a = loss.slope(z, y)
    np.testing.assert_array_equal(
        loss.conjugate(a.reshape(2, 3, 5, 4), codes), loss.conjugate(a, y).reshape(2, 3, 5)
    )


def test_single_precision_is_kept():
    loss, z, y = sample()
    small, codes = z.astype(np.float32), y.astype(np.float32)
    for formula in (loss.value, loss.slope, loss.curvature, loss.stiffness):
        assert formula(small, codes).dtype == np.float32
        np.testing.assert_allclose(formula(small, codes), formula(z, y), rtol=1e-5, atol=1e-6)


def test_conjugate_of_classes_ends_with_the_simplex():
    loss, y = losses.Multinomial(), np.array([0.0])
    corner = np.array([[-1.0, 1.0, 0.0]])
    np.testing.assert_allclose(loss.conjugate(corner, y), 0.0, atol=1e-12)
    assert np.isinf(loss.conjugate(np.array([[-1.0 - 1e-6, 1.0 + 1e-6, 0.0]]), y))
    assert np.isinf(loss.conjugate(np.array([[-1.0, 1.0 + 1e-6, 0.0]]), y))
    assert np.isinf(loss.conjugate(np.array([[-1.0, 1.0 - 1e-6, 0.0]]), y))
    rows = np.array([[-1.0, 1.0, 0.0], [-2.0, 2.0, 0.0], [-0.5, 0.25, 0.25]])  # each by itself
    np.testing.assert_array_equal(np.isinf(loss.conjugate(rows, np.zeros(3))), [0, 1, 0])


def test_classes_are_those_given_or_those_found():
    assert losses.Multinomial(("x", "y")).fitted(np.array(["x"])).classes == ("x", "y")
    with pytest.raises(ValueError, match=r"^Y: the multinomial loss needs .* not only \['a'\]\.$"):
        losses.Multinomial().fitted(np.array(["a", "a"]))
    assert losses.Multinomial().fitted(np.array([2, 1])).classes == (1, 2)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_class_that_is_all_but_sure_keeps_its_loss(dtype):
    """The loss log(1 + Σ e^−d), the slope −Σ π of the others: gaps d up to where e^−d ends."""
    d = np.linspace(0, 80 if dtype == np.float32 else 690, 100).astype(dtype)
    z = np.stack([1000 + 0 * d, 1000 - d, 999 - d], axis=-1)
    away = (z - 1000).astype(float)[:, 1:]
    loss, digits = Multinomial(), 20 * np.finfo(dtype).eps
    rest = np.exp(away).sum(axis=1)
    y = np.zeros(len(d), dtype)
    np.testing.assert_allclose(loss.value(z, y), np.log1p(rest), rtol=digits)
    expected = np.column_stack([-rest, np.exp(away)]) / (1 + rest)[:, None]
    np.testing.assert_allclose(loss.slope(z, y), expected, rtol=digits)
    last = np.full(len(d), 2.0, dtype)
    exact = np.log1p(rest) - away[:, 1]
    np.testing.assert_allclose(loss.value(z, last), exact, rtol=digits)
