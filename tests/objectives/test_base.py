"""What an objective says of itself where it states nothing more than it must."""

import numpy as np
import pytest

from pygeco import LowRank, minimize
from pygeco.arrays.kinds import HOST
from pygeco.objectives import Objective
from pygeco.objectives.custom import CustomGradient, CustomSpan


class Distance(Objective):
    """‖A − Y‖²/2."""

    smoothness = 1.0

    def __init__(self, Y) -> None:
        self.Y, self.shape = Y, Y.shape

    def value(self, A):
        return 0.5 * float(np.sum((A.to_dense() - self.Y) ** 2))

    def slopes(self, A):
        return A.to_dense() - self.Y

    def gradient(self, A):
        G = self.slopes(A)
        return CustomGradient(G, self.value(A), float(np.sum(G * A.to_dense())))

    def span(self, A):
        return CustomSpan(self, A.U, A.V)


def test_every_ability_has_a_default() -> None:
    objective = Distance(np.eye(3))
    assert not any(
        (objective.symmetric, objective.can_sweep, objective.nonnegative, objective.squared)
    )
    assert objective.kind is HOST
    assert objective.slack(LowRank.zero((3, 3))) is None
    assert objective.counts() is None
    assert objective.default_correction(penalized=True, rank=2) == "core"
    with pytest.raises(ValueError, match=r"^correction: Distance cannot be swept; use correction="):
        objective.half_sweep(np.zeros((3, 1)), np.zeros((3, 1)), side="row")


def test_what_must_be_stated_is_missed() -> None:
    class Bare(Objective):
        """States nothing."""

    for ask in (Bare.value, Bare.gradient, Bare.span):
        with pytest.raises(NotImplementedError):
            ask(Bare(), LowRank.zero((2, 2)))


def test_without_a_sign_nothing_is_proved_and_the_minimum_is_found_all_the_same() -> None:
    Y = np.random.default_rng(0).standard_normal((6, 5))
    path = minimize(Distance(Y), 5, random_state=0)
    assert path[-1].objective == pytest.approx(0, abs=1e-8)
