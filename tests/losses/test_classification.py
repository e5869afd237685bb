"""Losses of labels."""

import numpy as np
import pytest

from pygeco import losses


@pytest.mark.parametrize("label", [-1.0, 1.0])
def test_conjugates_of_labels_at_both_ends(label):
    """b = −a y is a probability: −H(b) for the logistic loss, −b + γb²/2 for the hinge."""
    y = np.full(4, label)
    b = np.array([0.0, 1e-9, 1 - 1e-9, 1.0])
    np.testing.assert_allclose(losses.Logistic().conjugate(-b * y, y), 0, atol=1e-7)
    hinge = losses.SmoothedHinge(0.6)
    np.testing.assert_allclose(hinge.conjugate(-b * y, y), [0, 0, -0.7, -0.7], atol=1e-8)
    for loss in (losses.Logistic(), hinge):
        for outside in (-1e-6, 1 + 1e-6):
            assert np.all(np.isinf(loss.conjugate(-outside * y, y)))
        for rounded in (-1e-16, 1 + 2e-16):
            assert np.all(np.isfinite(loss.conjugate(-rounded * y, y)))


@pytest.mark.parametrize("name", ["logistic", "smoothed-hinge"])
def test_labels(name):
    loss = losses.find_loss(name)
    for given in ([0, 1, 1], [-1, 1, 1], [False, True, True], np.float32([0, 1, 1])):
        np.testing.assert_array_equal(loss.targets(given), [-1, 1, 1])
    assert loss.targets(np.float32([0, 1])).dtype == np.float32
    with pytest.raises(ValueError, match=r"values: .*labels −1 and \+1.* hold −?-1, 0, 1\."):
        loss.targets([-1, 0, 1])
    with pytest.raises(ValueError, match=r"hold 1, 2, 3, 4, …"):
        loss.targets([1, 2, 3, 4, 5])


def test_labels_in_the_message_are_all_there_are_up_to_four():
    loss = losses.Logistic()
    with pytest.raises(ValueError, match=r"hold 1, 2, 3, 4\.$"):
        loss.targets([1, 2, 3, 4])
    assert loss.targets([1, 1]).dtype == loss.targets([0, 0]).dtype == np.float64
    np.testing.assert_array_equal(loss.targets([0, 0]), [-1, -1])


def test_logistic_probabilities():
    z = np.array([-800.0, -1.0, 0.0, 2.0, 800.0])
    chance = losses.Logistic().probabilities(z)
    np.testing.assert_allclose(chance.sum(axis=1), 1)
    np.testing.assert_allclose(chance[:, 1], [0, 1 / (1 + np.e), 0.5, 1 / (1 + np.exp(-2)), 1])
